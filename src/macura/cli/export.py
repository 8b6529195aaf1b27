"""`macura export`: a trained policy as a file that other programs run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from macura.cli import arguments
from macura.training import SavedPolicy

ABOUT = "Write the deterministic policy as an ONNX graph: flat observations in, actions in the environment's units out."


@dataclass(frozen=True)
class Arguments:
    """What `macura export` takes."""

    run: tyro.conf.Positional[str]
    """Folder of a run (its best policy), or a file that agent.save wrote."""
    out: str | None = None
    """File such as policy.onnx; without it policy.onnx in the run's folder, or beside the file under its name."""


def run(argv: Sequence[str]) -> int:
    """Write the graph, and print the file that was written."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "export", ABOUT)
        return 0
    line = arguments.take_apart(argv)
    asked = arguments.parse(Arguments, line, "export", "a run folder or policy file")
    path = Path(asked.run)
    out = Path(asked.out) if asked.out else _default_out(path)
    SavedPolicy.load(path).export(out)
    print(out)
    return 0


def _default_out(path: Path) -> Path:
    return path / "policy.onnx" if path.is_dir() else path.with_suffix(".onnx")
