"""A run on screen: a live display on a terminal, plain lines everywhere else. Both on standard error."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from macura.runs.files import JSON
from macura.runs.folder import RunFolder
from macura.runs.recorder import Row, Sink, read_metrics

QUIET_SECONDS = 30.0
"""Plain lines between evaluations appear at most this often."""
SPEED_WINDOW = 120.0
"""Seconds over which the speed of the live display is averaged: longer than a round takes."""


def console(folder: RunFolder, config: Mapping[str, JSON], step: int) -> Sink:
    """What a person watching a run sees; `step` is where it goes on from."""
    screen = Console(stderr=True)
    status = Status(folder, config, step)
    return LiveDisplay(status, screen) if screen.is_terminal else PlainLines(status, _print_line)


class Status:
    """The latest value of everything that is shown, and the best evaluation so far."""

    def __init__(self, folder: RunFolder, config: Mapping[str, JSON], step: int):
        self.step = step
        self.steps = int(config["steps"])
        env = cast(Mapping[str, JSON], config["env"])
        name = str(config["algorithm"]).upper()
        start = f", going on from step {step:,}" if step else ""
        self.title = f"{name} on {env['id']}, seed {config['seed']}, in {folder.path}{start}"
        self.latest: Row = {}
        self.best: float | None = None
        for row in read_metrics(folder.metrics_file) if step else []:
            if row["step"] <= step:
                self.update(row["step"], {k: v for k, v in row.items() if k != "step"})
        self.step = step

    def update(self, step: int, metrics: Row) -> None:
        """Take one row."""
        self.step = step
        self.latest |= metrics
        mean = metrics.get("eval/return_mean")
        if isinstance(mean, int | float):
            self.best = mean if self.best is None else max(self.best, mean)

    def groups(self) -> dict[str, list[str]]:
        """What there is to tell, in words, by subject; subjects without any news are left out."""
        told = {
            "evaluation": [self._said("return", "eval/return_mean"), self._best()],
            "training": [self._said("episode return", "train/episode_return")],
            "agent": [
                self._said("alpha", "sac/alpha"),
                self._said("critic loss", "sac/critic_loss"),
                self._said("actor loss", "sac/actor_loss"),
            ],
            "rollouts": [
                self._said("mean length", "rollout/mean_length"),
                self._said("kappa", "rollout/kappa"),
                self._said("G", "updates/count"),
            ],
            "model": [
                self._said("epochs", "model/epochs"),
                self._said("validation MSE", "model/validation_mse"),
            ],
        }
        present = {subject: [word for word in words if word] for subject, words in told.items()}
        return {subject: words for subject, words in present.items() if words}

    def _said(self, word: str, metric: str) -> str:
        value = self.latest.get(metric)
        return f"{word} {value:,.4g}" if isinstance(value, int | float) else ""

    def _best(self) -> str:
        return f"best {self.best:,.4g}" if self.best is not None else ""


class PlainLines:
    """One line for every evaluation, and for a round or an episode when nothing was said for a while."""

    def __init__(self, status: Status, say: Callable[[str], None]):
        self._status = status
        self._say = say
        self._said_at = time.monotonic()
        self._said_step = status.step
        self._say(f"{status.title}: {status.steps:,} steps")

    def write(self, step: int, metrics: Row) -> None:
        """Print the row if it is an evaluation, or if the last line is long ago."""
        self._status.update(step, metrics)
        seconds = time.monotonic() - self._said_at
        if "eval/return_mean" not in metrics and seconds < QUIET_SECONDS:
            return
        words = [word for group in self._words() for word in group]
        if step > self._said_step:
            speed = (step - self._said_step) / max(seconds, 1e-9)
            words.append(pace(speed, float(self._status.steps - step)))
        self._say(f"step {step:,} of {self._status.steps:,}: " + ", ".join(words))
        self._said_at, self._said_step = time.monotonic(), step

    def progress(self, step: int) -> None:
        """Lines are printed with rows alone."""

    def flush(self) -> None:
        """Lines are flushed one by one."""

    def close(self) -> None:
        """Nothing is left open."""

    def _words(self) -> list[list[str]]:
        groups = self._status.groups()
        if "evaluation" in groups:
            groups.pop("training", None)
        return list(groups.values())


class LiveDisplay:
    """A progress bar and the latest numbers, drawn twice a second by a thread that only reads."""

    def __init__(self, status: Status, screen: Console):
        self._status = status
        self._bar = Progress(
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} steps"),
            BarColumn(bar_width=None),
            _Speed(),
            TimeElapsedColumn(),
            console=screen,
            expand=True,
            speed_estimate_period=SPEED_WINDOW,
        )
        self._task = self._bar.add_task("", total=status.steps, completed=status.step)
        self._live = Live(get_renderable=self._draw, console=screen, refresh_per_second=2)
        self._live.start()

    def write(self, step: int, metrics: Row) -> None:
        """Remember the row for the next drawing."""
        self._status.update(step, metrics)

    def progress(self, step: int) -> None:
        """Remember the step for the next drawing."""
        self._status.step = step

    def flush(self) -> None:
        """Drawing does not wait."""

    def close(self) -> None:
        """Leave the last state on the screen."""
        self._live.stop()

    def _draw(self) -> RenderableType:
        self._bar.update(self._task, completed=self._status.step)
        table = Table.grid(padding=(0, 2))
        for subject, words in self._status.groups().items():
            table.add_row(Text(subject, style="dim"), Text("   ".join(words)))
        return Group(Text(self._status.title, style="bold"), self._bar.get_renderable(), table)


class _Speed(ProgressColumn):
    """Steps per second, and the time left at that speed."""

    def render(self, task: Task) -> Text:
        speed: Any = task.speed
        if not speed or task.remaining is None:
            return Text("compiling" if not task.finished else "", style="dim")
        return Text(pace(float(speed), float(task.remaining)))


def _print_line(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def pace(speed: float, remaining: float) -> str:
    """`35.2 steps/s, 12 min left`."""
    return f"{speed:,.{1 if speed < 100 else 0}f} steps/s, {duration(remaining / speed)} left"


def duration(seconds: float) -> str:
    """Seconds as `45 s`, `12 min` or `3 h 20 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
