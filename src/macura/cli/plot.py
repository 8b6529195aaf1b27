"""`macura plot`: learning curves of any runs, and the course of a single model-based one."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from macura.analysis import curves
from macura.cli import arguments


@dataclass(frozen=True)
class Arguments:
    """What `macura plot` takes."""

    runs: tyro.conf.Positional[tuple[str, ...]] = ()
    """Run folders, or folders that contain some."""
    out: str | None = None
    """File of the figure, written as .png and .svg; without it curves.png, in the run's folder if it is one run."""
    metric: str | None = None
    """Draw another metric than the evaluation return, such as train/episode_return."""


def run(argv: Sequence[str]) -> int:
    """Draw, and print the files that were written."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "plot", "Draw the learning curves of runs.")
        return 0
    line = arguments.take_apart(argv)
    asked = arguments.parse(Arguments, line, "plot", "one or more run folders")
    paths = [Path(name) for name in asked.runs]
    out = Path(asked.out) if asked.out else _default_out(paths)
    with arguments.writing(out):
        drawn = curves.plot(paths, out, asked.metric)
    for note in drawn.notes:
        print(f"note: {note}", file=sys.stderr)
    for file in drawn.files:
        print(file)
    return 0


def _default_out(paths: Sequence[Path]) -> Path:
    only = paths[0] if len(paths) == 1 else None
    return only / "curves.png" if only is not None and (only / "config.json").exists() else Path("curves.png")
