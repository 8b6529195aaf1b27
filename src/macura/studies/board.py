"""All runs of a study on one screen: a live table on a terminal, a line per event everywhere else."""

import json
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from macura.studies.pool import Event
from macura.studies.record import Job

LOOK_AGAIN = 1.0
"""Seconds between two looks into the metrics of a running run."""
TAIL = 65536
"""Bytes at the end of metrics.jsonl in which the newest values are looked for."""


class Standing(NamedTuple):
    """How far a run has come: its newest step and evaluation."""

    step: int = 0
    value: float | None = None


class Board:
    """Shows what happens to the runs of a study; use it as a context, and call it with every event."""

    def __init__(self, waiting: int, skipped: int, failed: int, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._total = waiting
        self._skipped = skipped
        self._failed = failed
        self._done = 0
        self._ended = 0
        self._running: dict[str, tuple[Job, float]] = {}
        self._standings: dict[str, Standing] = {}
        self._looked = 0.0
        self._began = time.monotonic()
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> "Board":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def __call__(self, event: Event | None) -> None:
        """Take an event, or the time to look again."""
        if event is not None:
            self._book(event)
        now = time.monotonic()
        if now - self._looked > LOOK_AGAIN:
            self._looked = now
            if self._console.is_terminal:
                self._standings = {name: look(job.folder) for name, (job, _) in self._running.items()}
                self._live.update(self.table(), refresh=True)

    def _book(self, event: Event) -> None:
        job = event.job
        if event.kind == "started":
            self._running[job.name] = job, time.monotonic()
            return
        _, began = self._running.pop(job.name, (job, time.monotonic()))
        if event.outcome is None:
            self._say(
                f"lost      {job.label}: its process died; it goes on from its last checkpoint", "yellow"
            )
            return
        took = duration(time.monotonic() - began)
        self._ended += 1
        if event.outcome.ending == "finished":
            self._done += 1
            self._say(f"finished  {job.label} in {took} ({self._done} of {self._total})", "green")
        else:
            self._failed += event.outcome.ending == "failed"
            self._say(f"{event.outcome.ending:<9} {job.label} after {took}: {event.outcome.message}", "red")

    def _say(self, line: str, colour: str) -> None:
        self._console.print(Text(line, style=colour if self._console.is_terminal else ""), soft_wrap=True)

    def table(self) -> Table:
        """The running runs, and a line about all others."""
        waiting = max(0, self._total - self._ended - len(self._running))
        counts = (
            f"{self._done} done, {len(self._running)} running, {waiting} waiting, {self._skipped} skipped"
        )
        title = f"{counts}, {self._failed} failed · {duration(time.monotonic() - self._began)}"
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for column in ("run", "step", "", "return", "time"):
            table.add_column(column, justify="left" if column in ("run", "") else "right")
        for name, (job, began) in self._running.items():
            standing = self._standings.get(name, Standing())
            share = min(1.0, standing.step / max(job.steps, 1))
            bar = "━" * round(24 * share) + "╌" * (24 - round(24 * share))
            value = "" if standing.value is None else f"{standing.value:,.1f}"
            elapsed = duration(time.monotonic() - began)
            table.add_row(job.label, f"{standing.step:,} / {job.steps:,}", bar, value, elapsed)
        return table


def look(folder: Path) -> Standing:
    """The newest step and evaluation in the metrics of a run; whatever is unreadable is passed over."""
    try:
        with (folder / "metrics.jsonl").open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            lines = file.read().splitlines()
    except OSError:
        return Standing()
    step, value = 0, None
    for line in reversed(lines):
        try:
            row = json.loads(line)
            step = max(step, int(row["step"]))
            value = row.get("eval/return_mean")
        except (ValueError, KeyError, TypeError):
            continue
        if value is not None:
            break
    return Standing(step, value)


def duration(seconds: float) -> str:
    """42 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
