"""`macura plot`: learning curves of any runs, and the course of one model-based run at a glance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macura.analysis.loading import Group, Loaded, Run, Series, group_by_settings, load_all
from macura.analysis.reference import published
from macura.analysis.statistics import band
from macura.analysis.style import (
    ALGORITHM_COLOURS,
    COLOURS,
    MUTED,
    legend_below,
    new_axes,
    save,
    short_number,
    styled,
)
from macura.core import UserError, did_you_mean

RETURN = "eval/return_mean"


class Drawn(NamedTuple):
    """The files written, and one line for every run that was skipped, torn or unfinished."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def plot(runs: Sequence[Path], out: Path, metric: str | None = None) -> Drawn:
    """Draw the learning curves of run folders (or of folders that contain some) to PNG and SVG.

    Runs that differ by their seed alone become one mean with a 95 % confidence band, others a line each. One
    model-based run by itself is shown with its rollout length, threshold kappa and number of updates G. `metric`
    draws another number than the evaluation return.
    """
    loaded = load_all(runs)
    usable = [run for run in loaded.runs if len(run.series(metric or RETURN).steps)]
    if not usable:
        raise UserError(_nothing(loaded, metric))
    with styled():
        if metric is None and len(usable) == 1 and usable[0].setting("imagination") is not None:
            figure = course(usable[0])
        else:
            figure = learning_curves(group_by_settings(usable), metric or RETURN)
        return Drawn(save(figure, out), loaded.notes())


def _nothing(loaded: Loaded, metric: str | None) -> str:
    """Why there is nothing to draw, and what to give instead."""
    if metric is not None and loaded.runs:
        known = sorted({name for run in loaded.runs for name in run.metrics})
        return f"no run has a number called {metric!r}.{did_you_mean(metric, known)} They have {', '.join(known)}."
    detail = "; ".join(loaded.notes()) or "no folder was given"
    return f"nothing to plot: no run has an evaluation yet ({detail}); give the folder of a run that has."


def learning_curves(groups: Sequence[Group], metric: str = RETURN) -> Figure:
    """Evaluation return (or another metric) over environment steps, one panel a task."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    columns = min(3, len(tasks))
    rows = -(-len(tasks) // columns)
    figure = Figure(figsize=(max(6.6, 4.1 * columns), 3.3 * rows + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    by_algorithm = len({(group.algorithm, group.task) for group in groups}) == len(groups)
    labels = list(dict.fromkeys(group.label for group in groups))
    for axes, task in zip(grid, tasks, strict=False):
        new_axes(axes, task, "Evaluation return" if metric == RETURN else metric)
        here = [group for group in groups if group.task == task]
        for group in here:
            colour = COLOURS[labels.index(group.label) % len(COLOURS)]
            draw_group(
                axes,
                group,
                ALGORITHM_COLOURS.get(group.algorithm, colour) if by_algorithm else colour,
                metric,
            )
        for algorithm in dict.fromkeys(group.algorithm for group in here if metric == RETURN):
            until = float(max(run.last_step for group in here for run in group.runs))
            draw_published(
                axes, algorithm, task, until, ALGORITHM_COLOURS[algorithm] if by_algorithm else MUTED
            )
    for axes in grid[len(tasks) :]:
        axes.set_visible(False)
    legend_below(figure, list(grid), columns=3 if columns > 1 else 2)
    return figure


def draw_group(axes: Axes, group: Group, colour: str, metric: str = RETURN) -> None:
    """One line: a single run, or the mean of several seeds with its 95 % confidence band."""
    curves = [run.series(metric) for run in group.runs if len(run.series(metric).steps)]
    if not curves:
        return
    label = group.label if len(group.runs) == 1 else f"{group.label}, {len(group.runs)} seeds"
    if len(group.runs) == 1 and not group.runs[0].finished:
        label += " (unfinished)"
    spread = band(curves)
    marker = "o" if len(spread.steps) == 1 else None
    axes.plot(spread.steps, spread.mean, color=colour, label=label, marker=marker, markersize=4)
    if len(curves) > 1:
        axes.fill_between(spread.steps, spread.low, spread.high, color=colour, alpha=0.18, linewidth=0)


def draw_published(axes: Axes, algorithm: str, task: str, until: float, colour: str) -> None:
    """The published curve of the same algorithm and task, dashed, if there is one."""
    curve = published(algorithm, task, until)
    if curve is not None:
        seeds = f"{curve.seeds} seed{'s' * (curve.seeds > 1)}"
        label = f"{algorithm.upper()} published, {seeds}"
        axes.plot(curve.steps, curve.mean, color=colour, linestyle=(0, (4, 2.5)), linewidth=1.3, label=label)


def course(run: Run) -> Figure:
    """One model-based run: return above; mean rollout length, kappa and G below."""
    panels = [
        ("Mean rollout length", "steps in the model", run.series("rollout/mean_length")),
        ("Uncertainty threshold κ", "", run.series("rollout/kappa")),
        ("Agent updates G", "per environment step", run.series("updates/count")),
    ]
    panels = [panel for panel in panels if len(panel[2].steps)]
    figure = Figure(figsize=(10, 6.4 if panels else 3.9), layout="constrained")
    mosaic = [["return"] * max(1, len(panels))] + ([[title for title, _, _ in panels]] if panels else [])
    axes: dict[str, Axes] = figure.subplot_mosaic(
        cast(Any, mosaic), height_ratios=[1.55, 1] if panels else [1]
    )
    colour = ALGORITHM_COLOURS.get(run.algorithm, COLOURS[0])
    _draw_return(axes["return"], run, colour)
    legend_below(figure, [axes["return"]])
    for title, unit, series in panels:
        panel = new_axes(axes[title], title, unit)
        panel.plot(series.steps, series.values, color=colour, linewidth=1.6)
        _fit_limits(panel, series)
    for panel in axes.values():
        panel.set_xlim(0, 1.02 * max(run.last_step, 1))  # room for the last marker
    return figure


def _draw_return(axes: Axes, run: Run, colour: str) -> None:
    """Evaluations as a line and single episodes as dots, training episodes as a pale line, published runs dashed."""
    group = group_by_settings([run])[0]
    stopped = (
        f", unfinished at {short_number(float(run.last_step))} of {short_number(float(run.steps))} steps"
    )
    reached = "" if run.finished else stopped
    new_axes(axes, f"{group.label} on {run.env}, seed {run.seed}{reached}", "Return")
    training = run.series("train/episode_return")
    if len(training.steps):
        axes.plot(
            training.steps, training.values, color=MUTED, alpha=0.45, linewidth=0.9, label="training episodes"
        )
    episodes = _episodes(run)
    dots: dict[str, Any] = {"color": colour, "alpha": 0.35, "markersize": 6, "markeredgewidth": 0}
    axes.plot(episodes.steps, episodes.values, ".", label="evaluation episodes", **dots)
    evaluation = run.series(RETURN)
    axes.plot(evaluation.steps, evaluation.values, color=colour, marker="o", markersize=4, label="evaluation")
    draw_published(axes, run.algorithm, run.task, float(run.last_step), colour)


def _episodes(run: Run) -> Series:
    """Every evaluation episode on its own."""
    pairs: list[tuple[int, float]] = []
    for row in run.rows:
        returns, step = row.get("eval/returns"), row.get("step")
        if isinstance(returns, list) and isinstance(step, int):
            pairs += [(step, float(value)) for value in returns if isinstance(value, int | float)]
    steps, values = zip(*pairs, strict=True) if pairs else ((), ())
    return Series(np.array(steps, np.int64), np.array(values, float))


def _fit_limits(axes: Axes, series: Series) -> None:
    """Start at zero, so that heights can be compared; what falls by orders of magnitude is shown in logarithms."""
    positive = series.values[series.values > 0]
    if len(positive) == len(series.values) and positive.max() > 300 * positive.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0, top=max(1.08 * float(series.values.max()), 1e-9))
