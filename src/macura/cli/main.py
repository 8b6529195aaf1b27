"""The program `macura`: finds the subcommand, and tells failures in one line with the right exit code."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence

COMMANDS: Mapping[str, str] = {
    "train": "train MACURA, MBPO, M2AC or SAC on an environment",
    "evaluate": "run whole episodes of a trained policy",
    "export": "write a trained policy as an ONNX graph, for other programs",
    "plot": "draw the learning curves of runs",
    "study": "run experiments of the paper, here or on a Ray cluster",
    "report": "write the results of studies as one web page",
    "check": "find out whether an environment can be trained on",
    "doctor": "show versions, devices, threads, memory and rendering",
    "toy": "show where a model can be trusted, on a pendulum",
    "bench": "measure how fast it is here, against the machine's own limit",
}
"""What there is: name of the module in this room (and of the command), and what it does."""

INTERRUPTED = 130
"""128 + SIGINT."""
BROKEN_PIPE = 141
"""128 + SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0, 1 (the run failed), 2 (bad input), or 128 + signal."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("macura: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `macura ... | head`: whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        told = _exit_code(error)
        if told is None:
            raise
        print(f"macura: {' '.join(str(error).split())}", file=sys.stderr)
        return told
    return code


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    name, *rest = arguments
    if name in ("-V", "--version"):
        from macura import __version__

        print(f"macura {__version__}")
        return 0
    if name not in COMMANDS:
        from macura.core import UserError, did_you_mean

        near = did_you_mean(name, COMMANDS)
        raise UserError(f"There is no command {name!r}.{near} Choose from {', '.join(COMMANDS)}.")
    if os.getcwd() not in sys.path:  # so that --env my_file:make finds what lies here
        sys.path.append(os.getcwd())
    return importlib.import_module(f"macura.cli.{name}").run(rest)


def _exit_code(error: Exception) -> int | None:
    """2 for bad input, 1 for a run that failed; None for what should never have happened."""
    from macura.core import RunError, UserError

    return 2 if isinstance(error, UserError) else 1 if isinstance(error, RunError) else None


def _help() -> str:
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:{width}}{summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: macura COMMAND [OPTIONS]",
            "",
            "Data-efficient reinforcement learning with models that know where to trust themselves.",
            "",
            *lines,
            "",
            "`macura train` trains MACURA on a small default task; `macura COMMAND --help` lists all options.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
