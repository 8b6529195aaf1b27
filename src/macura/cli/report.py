"""`macura report`: the studies of a folder as one web page."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from macura.analysis import report
from macura.cli import arguments


@dataclass(frozen=True)
class Arguments:
    """What `macura report` takes."""

    folder: tyro.conf.Positional[str]
    """The --out of `macura study`."""
    out: str | None = None
    """Folder of the report (or its .html file, with the tables and figures beside it); without it FOLDER/report."""


def run(argv: Sequence[str]) -> int:
    """Write the report, and print the files that were written."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "report", "Write the report of studies, finished or not.")
        return 0
    line = arguments.take_apart(argv)
    asked = arguments.parse(Arguments, line, "report", "the folder of a study")
    with arguments.writing(asked.out or asked.folder):
        written = report.report(Path(asked.folder), Path(asked.out) if asked.out else None)
    for note in written.notes:
        print(f"note: {note}", file=sys.stderr)
    for file in (written.page, *written.files):
        print(file)
    return 0
