"""`macura bench`: how fast is it on this machine, against the machine's own limit."""

import json as json_
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macura import bench
from macura.bench import report
from macura.cli import arguments
from macura.core import UserError
from macura.runs.files import write_atomically

TORCH_SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "torch_sac.py"


@dataclass(frozen=True)
class Arguments:
    """What `macura bench` takes."""

    quick: bool = False
    """A fifth of the rollouts and less of everything else: a minute or two, and not comparable to published figures."""
    json: str | None = None
    """File for all numbers; the tables go beside it as .md."""
    parts: str = ",".join(bench.PARTS)
    """What to measure, separated by commas."""
    torch: bool = False
    """Also time an eager PyTorch agent of the same shape (from a checkout of the source only)."""
    torch_python: str | None = None
    """Python that has PyTorch; without it, the one that runs this. Implies --torch."""
    size: str | None = None
    """full, quick or tiny; --quick is short for --size quick."""


def run(argv: Sequence[str]) -> int:
    """Measure, and print the tables."""
    if arguments.wants_help(argv):
        arguments.print_help(
            Arguments, "bench", "Speed, memory and compile time, side by side with what bounds them."
        )
        return 0
    line = arguments.take_apart(argv, arguments.switches(Arguments))
    asked = arguments.parse(Arguments, line, "bench")
    size = asked.size or ("quick" if asked.quick else "full")
    if size not in bench.SIZES:
        raise UserError(
            f"--size is {size!r}, but must be one of {', '.join(bench.SIZES)}; leave it out for full."
        )
    out = Path(asked.json) if asked.json else None
    if out is not None and not out.parent.is_dir():
        raise UserError(f"There is no folder {out.parent} for --json {out}; make it first.")
    parts = [part.strip() for part in asked.parts.split(",")]
    found = bench.measure(size, parts, lambda said: print(said, file=sys.stderr, flush=True))
    if asked.torch or asked.torch_python:
        found["torch"] = beside_torch(asked.torch_python or sys.executable, size)
    print(bench.table(found))
    if out is not None:
        with arguments.writing(out):
            write_atomically(out, report.to_json(found).encode())
            write_atomically(out.with_suffix(".md"), f"{bench.table(found)}\n".encode())
    return 0


def beside_torch(python: str, size: str) -> dict[str, Any]:
    """What `benchmarks/torch_sac.py` says."""
    if not TORCH_SCRIPT.exists():
        raise UserError(
            f"--torch needs {TORCH_SCRIPT.name}, which is only in the source; run this from a checkout."
        )
    command = [sys.executable, str(TORCH_SCRIPT), "--json", "--torch-python", python, "--size", size]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"PyTorch could not be timed: {last}")
    return json_.loads(done.stdout.splitlines()[-1])
