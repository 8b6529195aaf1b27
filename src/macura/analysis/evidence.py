"""What runs say about a claim: comparisons with their uncertainty, and a verdict that admits too little data."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from macura.analysis import statistics
from macura.analysis.loading import Run
from macura.analysis.study import Score, StudyData, final_return

Verdict = Literal["supported", "contradicted", "undecided", "not enough data"]
FEWEST_SEEDS = 3
"""Complete seeds of every variant on a task below which nothing is concluded from it."""


class Evidence(NamedTuple):
    """A verdict, and the numbers that it rests on."""

    verdict: Verdict
    lines: tuple[str, ...]


Judge = Callable[[StudyData], Evidence]


def higher(
    study: StudyData, better: str, worse: str, score: Score = final_return, what: str = "final return"
) -> Evidence:
    """P(better > worse) with its bootstrap interval: supported if all of it lies above one half."""
    tasks = [task for task in study.tasks if _comparable(study, better, worse, task, score)]
    x = [study.scores_on(better, task, score) for task in tasks]
    y = [study.scores_on(worse, task, score) for task in tasks]
    names = f"{better} > {worse} in {what}"
    if not tasks:
        have = ", ".join(
            f"{task}: {_seeds(study, better, task)} and {_seeds(study, worse, task)}" for task in study.tasks
        )
        return Evidence(
            "not enough data",
            (f"{names}: fewer than {FEWEST_SEEDS} complete seeds of each ({have or 'none'})",),
        )
    chance = statistics.improvement(x, y)
    line = f"P({names}) = {_interval(chance)}"
    if len(tasks) > 1:
        each = (f"{task} {statistics.chance(a, b):.2f}" for task, a, b in zip(tasks, x, y, strict=True))
        line += "; by task: " + ", ".join(each)
    else:
        line += f" on {tasks[0]}; means {np.mean(x[0]):,.4g} and {np.mean(y[0]):,.4g}"
    return Evidence(_side(chance), (line + f"; {min(map(len, [*x, *y]))} seeds or more",))


def stability(study: StudyData, variant: str, stable: bool) -> Evidence:
    """Whether seeds collapse: stable if none of them does, unstable if at least half of them do on some task."""
    counts = {task: (study.collapsed(variant, task), _seeds(study, variant, task)) for task in study.tasks}
    counts = {task: both for task, both in counts.items() if both[1]}
    line = f"{variant}: " + (
        ", ".join(f"{lost} of {n} seeds collapse on {task}" for task, (lost, n) in counts.items()) or "no run"
    )
    known = {task: both for task, both in counts.items() if both[1] >= FEWEST_SEEDS}
    if not known:
        return Evidence("not enough data", (line,))
    worst = max(lost / n for lost, n in known.values())
    if worst == 0:
        return Evidence("supported" if stable else "contradicted", (line,))
    if worst >= 0.5:
        return Evidence("contradicted" if stable else "supported", (line,))
    return Evidence("undecided", (line,))


def within(study: StudyData, variant: str, score: Score, limits: tuple[float, float], what: str) -> Evidence:
    """Whether a number of every seed lies, in the mean over seeds of every task, between two limits."""
    low, high = limits
    means: dict[str, float] = {}
    for task in study.tasks:
        values = study.scores_on(variant, task, score)
        if len(values) >= FEWEST_SEEDS:
            means[task] = float(np.mean(values))
    said = ", ".join(f"{task} {value:.3g}" for task, value in means.items())
    line = f"{variant}, {what}: {said or f'fewer than {FEWEST_SEEDS} complete seeds'} (claimed: {low:g} to {high:g})"
    if not means:
        return Evidence("not enough data", (line,))
    inside = [low <= value <= high for value in means.values()]
    return Evidence("supported" if all(inside) else "undecided" if any(inside) else "contradicted", (line,))


def smaller(study: StudyData, variant: str, first: Score, second: Score, what: str) -> Evidence:
    """Whether one number of a run is below another of the same run, in every seed."""
    pairs = [(first(member), second(member)) for member in study.of(variant) if member.complete]
    pairs = [(a, b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    if len(pairs) < FEWEST_SEEDS:
        return Evidence("not enough data", (f"{variant}, {what}: {len(pairs)} complete runs with both",))
    hits = sum(a < b for a, b in pairs)
    means = f"means {np.mean([a for a, _ in pairs]):.4g} and {np.mean([b for _, b in pairs]):.4g}"
    verdict: Verdict = "supported" if hits == len(pairs) else "contradicted" if hits == 0 else "undecided"
    return Evidence(verdict, (f"{variant}, {what}: in {hits} of {len(pairs)} runs; {means}",))


def settings_hold(runs: Sequence[Run], wanted: dict[str, object]) -> Evidence:
    """Whether all runs were made with these settings."""
    if not runs:
        return Evidence("not enough data", ("no run",))
    lines: list[str] = []
    for key, value in wanted.items():
        found = {str(run.setting(key)) for run in runs}
        lines.append(
            f"{key.rsplit('.', 1)[-1]} = {', '.join(sorted(found))} in {len(runs)} runs (claimed: {value})"
        )
    agree = all(run.setting(key) == value for run in runs for key, value in wanted.items())
    return Evidence("supported" if agree else "contradicted", tuple(lines))


def every(*parts: Evidence) -> Evidence:
    """The claim says all of this."""
    verdicts = {part.verdict for part in parts}
    lines = tuple(line for part in parts for line in part.lines)
    for verdict in ("contradicted", "not enough data", "undecided"):
        if verdict in verdicts:
            return Evidence(verdict, lines)
    return Evidence("supported" if parts else "not enough data", lines)


def some(*parts: Evidence) -> Evidence:
    """The claim says at least one of this."""
    verdicts = {part.verdict for part in parts}
    lines = tuple(line for part in parts for line in part.lines)
    for verdict in ("supported", "not enough data", "undecided"):
        if verdict in verdicts:
            return Evidence(verdict, lines)
    return Evidence("contradicted" if parts else "not enough data", lines)


def _comparable(study: StudyData, x: str, y: str, task: str, score: Score) -> bool:
    return all(len(study.scores_on(variant, task, score)) >= FEWEST_SEEDS for variant in (x, y))


def _seeds(study: StudyData, variant: str, task: str) -> int:
    return sum(member.complete for member in study.of(variant, task))


def _side(chance: statistics.Interval) -> Verdict:
    return "supported" if chance.low > 0.5 else "contradicted" if chance.high < 0.5 else "undecided"


def _interval(value: statistics.Interval) -> str:
    return f"{value.point:.2f} [{value.low:.2f}, {value.high:.2f}]"
