"""A study as it lies on disk: which runs were declared, which are there, and one number per run for every question."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from jaxtyping import Float

from macura.analysis import statistics
from macura.analysis.loading import Damaged, Run, Series, load
from macura.core import UserError

RETURN = "eval/return_mean"


class Member(NamedTuple):
    """One declared run: its place in the study, and the run, or why there is none."""

    variant: str
    group: str
    env: str
    seed: int
    steps: int
    folder: str
    record: Mapping[str, Any]
    run: Run | None
    reason: str

    @property
    def task(self) -> str:
        """The environment without its version."""
        return self.env.rsplit("-v", 1)[0]

    @property
    def complete(self) -> bool:
        """Whether the run went to its end, or diverged, which is an end too."""
        return self.run is not None and (self.run.finished or diverged(self.run))


Score = Callable[[Member], float]


@dataclass(frozen=True)
class StudyData:
    """A study and its runs."""

    name: str
    scale: str
    command: str
    """What was typed for it."""
    title: str
    figure: str
    question: str
    claims: tuple[str, ...]
    metrics: tuple[str, ...]
    place: int
    """Where among its neighbours it is shown."""
    members: tuple[Member, ...]

    @property
    def variants(self) -> tuple[str, ...]:
        """Labels, in the order of their declaration."""
        return tuple(dict.fromkeys(member.variant for member in self.members))

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of groups of variants; one empty name if there are none."""
        return tuple(dict.fromkeys(member.group for member in self.members))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks, in the order of their declaration."""
        return tuple(dict.fromkeys(member.task for member in self.members))

    def of(self, variant: str | None = None, task: str | None = None) -> list[Member]:
        """The declared runs of a variant, on a task."""
        return self._cells.get((variant, task), [])

    def runs(self, variant: str, task: str) -> list[Run]:
        """The runs that are there, finished or not."""
        return [member.run for member in self.of(variant, task) if member.run is not None]

    def scores(self, variant: str, score: Score) -> list[Float[np.ndarray, "_"]]:
        """One array per task with the finite-or-infinite score of every complete run."""
        return [self.scores_on(variant, task, score) for task in self.tasks]

    def scores_on(self, variant: str, task: str, score: Score) -> Float[np.ndarray, "seeds"]:
        """The score of every complete run of a variant on a task, NaN left out."""
        values = np.array([score(member) for member in self.of(variant, task) if member.complete], float)
        return values[~np.isnan(values)]

    def collapsed(self, variant: str, task: str) -> int:
        """Seeds that diverged, or ended far below what they had reached."""
        gain = self.typical_gain(task)
        runs = [member.run for member in self.of(variant, task) if member.complete]
        return sum(run is not None and _has_collapsed(run, gain) for run in runs)

    def typical_gain(self, task: str) -> float:
        """What the best variant typically gains on a task: the largest median, over seeds, of the gain."""
        return self._gains.get(task, math.nan)

    def halfway(self, task: str) -> float:
        """The return halfway from where all runs begin to what the best variant typically reaches."""
        return self._halfway.get(task, math.nan)

    @cached_property
    def _halfway(self) -> dict[str, float]:
        middle: dict[str, float] = {}
        for task in self.tasks:
            curves = [m.run.series(RETURN) for m in self.of(task=task) if m.run is not None]
            starts = [curve.values[0] for curve in curves if len(curve.steps)]
            if starts:
                middle[task] = float(np.median(starts)) + 0.5 * self.typical_gain(task)
        return middle

    @cached_property
    def _cells(self) -> dict[tuple[str | None, str | None], list[Member]]:
        cells: dict[tuple[str | None, str | None], list[Member]] = {}
        for member in self.members:
            for key in (
                (member.variant, member.task),
                (member.variant, None),
                (None, member.task),
                (None, None),
            ):
                cells.setdefault(key, []).append(member)
        return cells

    @cached_property
    def _gains(self) -> dict[str, float]:
        gains: dict[str, float] = {}
        for task in self.tasks:
            per_variant = [
                [statistics.gain(run.series(RETURN)) for run in self.runs(v, task)] for v in self.variants
            ]
            medians = [float(np.nanmedian(values)) for values in per_variant if not np.all(np.isnan(values))]
            gains[task] = max(medians, default=math.nan)
        return gains


class Folder(NamedTuple):
    """The studies of a folder, and what of it could not be read."""

    studies: tuple[StudyData, ...]
    damaged: tuple[Damaged, ...]


def load_folder(folder: Path) -> Folder:
    """Read every study that was run in a folder; whatever cannot be used is named."""
    declared = sorted((folder / "studies").glob("*.json"))
    if not declared:
        raise UserError(
            f"There is no study in {folder}; make one with: macura study benchmark --scale smoke --out {folder}"
        )
    damaged: list[Damaged] = []
    known: dict[str, Run | Damaged | None] = {}
    studies: list[StudyData] = []
    for path in declared:
        try:
            studies.append(_read(path, folder, known))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            damaged.append(Damaged(path, f"no declaration of a study ({type(error).__name__}: {error})"))
    damaged += [item for item in known.values() if isinstance(item, Damaged)]
    return Folder(tuple(sorted(studies, key=lambda study: study.place)), tuple(damaged))


def diverged(run: Run) -> bool:
    """Whether the run ended because its agent diverged."""
    return run.manifest.get("status") == "failed" and "diverged" in str(run.manifest.get("message", ""))


def returns(member: Member) -> Series:
    """The evaluations of a run. One that diverged stays at its own lowest from there to its last step."""
    if member.run is None:
        return Series(np.zeros(0, np.int64), np.zeros(0))
    curve = member.run.series(RETURN)
    if not (diverged(member.run) and len(curve.steps)):
        return curve
    gap = int(np.median(np.diff(curve.steps, prepend=0)))
    missing = np.arange(curve.steps[-1] + gap, member.steps + 1, max(gap, 1))
    lost = np.full(len(missing), curve.values.min())
    return Series(np.concatenate([curve.steps, missing]), np.concatenate([curve.values, lost]))


def final_return(member: Member) -> float:
    """Mean return over the last tenth of the run."""
    return statistics.final(returns(member))


def mean_return(member: Member) -> float:
    """Area under the learning curve divided by its length: who learns faster has the larger."""
    return statistics.area(returns(member))


def early_return(member: Member) -> float:
    """The same over the first third of the run."""
    curve = returns(member)
    early = curve.steps <= max(member.steps / 3, curve.steps[0] if len(curve.steps) else 0)
    return statistics.area(Series(curve.steps[early], curve.values[early]))


def mean_of(metric: str) -> Score:
    """The mean of a metric over a run."""

    def score(member: Member) -> float:
        series = _EMPTY if member.run is None else member.run.series(metric)
        return float(series.values.mean()) if len(series.values) else math.nan

    return score


def part_of(metric: str, begin: float, end: float) -> Score:
    """The mean of a metric over a part of the run, as shares of its steps."""

    def score(member: Member) -> float:
        series = _EMPTY if member.run is None else member.run.series(metric)
        inside = (series.steps >= begin * member.steps) & (series.steps <= end * member.steps)
        return float(series.values[inside].mean()) if inside.any() else math.nan

    return score


_EMPTY = Series(np.zeros(0, np.int64), np.zeros(0))


def _has_collapsed(run: Run, gain: float) -> bool:
    return diverged(run) or (
        math.isfinite(gain) and gain > 0 and statistics.collapsed(run.series(RETURN), gain)
    )


def _read(path: Path, folder: Path, known: dict[str, Run | Damaged | None]) -> StudyData:
    declared = cast(dict[str, Any], json.loads(path.read_text(encoding="utf-8")))
    members = [_member(entry, folder, known) for entry in cast(Sequence[dict[str, Any]], declared["runs"])]
    return StudyData(
        name=str(declared["study"]),
        scale=str(declared["scale"]),
        command=str(declared["command"]),
        title=str(declared["title"]),
        figure=str(declared["figure"]),
        question=str(declared["question"]),
        claims=tuple(declared["claims"]),
        metrics=tuple(declared["metrics"]),
        place=int(declared.get("place", 0)),
        members=tuple(members),
    )


def _member(entry: Mapping[str, Any], folder: Path, known: dict[str, Run | Damaged | None]) -> Member:
    name = str(entry["folder"])
    if name not in known:  # studies share runs
        known[name] = load(folder / name) if (folder / name).exists() else None
    found = known[name]
    if found is None:
        run, reason = None, "not started"
    elif isinstance(found, Damaged):
        run, reason = None, found.reason
    else:
        run, reason = found, _why_incomplete(found)
    return Member(
        variant=str(entry["variant"]),
        group=str(entry["group"]),
        env=str(entry["task"]),
        seed=int(entry["seed"]),
        steps=int(entry["steps"]),
        folder=name,
        record=entry["record"],
        run=run,
        reason=reason,
    )


def _why_incomplete(run: Run) -> str:
    if run.finished:
        return ""
    message = str(run.manifest.get("message", ""))
    failed = run.manifest.get("status") == "failed"
    progress = f"{run.last_step:,} of {run.steps:,} steps"
    return f"failed after {progress}: {message}" if failed else f"unfinished: {progress}"
