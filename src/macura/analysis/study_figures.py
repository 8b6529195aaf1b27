"""The figures of a study: one panel for every task and group, our mean and band solid, published curves dashed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macura.analysis.curves import draw_group, draw_published
from macura.analysis.loading import Group
from macura.analysis.study import RETURN, StudyData
from macura.analysis.style import (
    ALGORITHM_COLOURS,
    COLOURS,
    MUTED,
    inline_svg,
    legend_below,
    new_axes,
    save,
    styled,
)

NAMES = {
    RETURN: "Evaluation return",
    "rollout/mean_length": "Mean rollout length",
    "rollout/kappa": "Threshold κ",
    "rollout/mean_variance": "Variance of stored data",
    "updates/count": "Updates G per step",
}
PUBLISHED_KAPPAS = 150.0, 300.0
"""The fixed levels of the paper's ablation on Humanoid."""


class Panel(NamedTuple):
    """One metric of the variants of one group on one task."""

    metric: str
    task: str
    group: str

    def title(self, one_task: bool) -> str:
        """What sets the panel apart from its neighbours."""
        parts = [
            NAMES.get(self.metric, self.metric),
            self.group,
            "" if one_task and self.group else self.task,
        ]
        return ", ".join(part for part in parts if part)


def panels(study: StudyData) -> Iterator[Panel]:
    """The panels in which something can be seen."""
    for metric in study.metrics:
        for task in study.tasks:
            for group in study.groups:
                panel = Panel(metric, task, group)
                if any(len(run.series(metric).steps) for g in _groups(study, panel) for run in g.runs):
                    yield panel


def draw_panel(axes: Axes, study: StudyData, panel: Panel) -> None:
    """Draw one panel."""
    new_axes(axes, panel.title(len(study.tasks) == 1))
    here = _groups(study, panel)
    for group in here:
        draw_group(axes, group, colour_of(study, group.label), panel.metric)
    until = float(max((run.last_step for group in here for run in group.runs), default=0))
    if panel.metric == RETURN and not _noisy(here):
        for algorithm in dict.fromkeys(group.algorithm for group in here):
            draw_published(axes, algorithm, panel.task, until, _published_colour(study, algorithm))
    if panel.metric == "rollout/kappa" and panel.task == "Humanoid":
        for level in PUBLISHED_KAPPAS:
            axes.axhline(level, color=MUTED, linewidth=1, linestyle=":")
    axes.set_xlim(left=0)
    _fit(axes, [run.series(panel.metric).values for group in here for run in group.runs])


def as_svgs(study: StudyData) -> Iterator[str]:
    """Every panel as an `<svg>` element of its own, small enough to be read on a phone."""
    with styled():
        for number, panel in enumerate(panels(study)):
            figure = Figure(figsize=(4.7, 3.1), layout="constrained")
            axes = figure.subplots()
            draw_panel(axes, study, panel)
            handles, labels = axes.get_legend_handles_labels()
            if len(labels) <= 4:
                axes.legend(handles, labels, fontsize=8.5)
            else:
                figure.set_figheight(3.1 + 0.21 * -(-len(labels) // 2))
                figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8.5)
            yield inline_svg(figure, f"{study.name}-{study.scale}-{number}", panel.title(False))


def write_figure(study: StudyData, folder: Path) -> tuple[Path, ...]:
    """All panels of a study as one figure, PNG and SVG; nothing if there is nothing to see."""
    drawn = list(panels(study))
    if not drawn:
        return ()
    with styled():
        columns = min(3, len(drawn))
        rows = -(-len(drawn) // columns)
        figure = Figure(figsize=(max(6.6, 4.3 * columns), 3.3 * rows + 0.8), layout="constrained")
        grid: Sequence[Axes] = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
        for axes, panel in zip(grid, drawn, strict=False):
            draw_panel(axes, study, panel)
        for axes in grid[len(drawn) :]:
            axes.set_visible(False)
        legend_below(figure, grid, columns=3 if columns > 1 else 2)
        return save(figure, folder / f"{study.name}-{study.scale}.png")


def colour_of(study: StudyData, variant: str) -> str:
    """Algorithms have their own colours; variants take theirs in the order of the panel they share."""
    by_algorithm = {member.variant: str(member.record["algorithm"]) for member in study.members}
    if len(set(by_algorithm.values())) == len(by_algorithm) > 1:
        return ALGORITHM_COLOURS.get(by_algorithm[variant], COLOURS[0])
    group = next(member.group for member in study.members if member.variant == variant)
    shared = list(dict.fromkeys(member.variant for member in study.members if member.group == group))
    return COLOURS[shared.index(variant) % len(COLOURS)]


def _groups(study: StudyData, panel: Panel) -> list[Group]:
    """The runs of a panel by variant."""
    labels = dict.fromkeys(m.variant for m in study.of(task=panel.task) if m.group == panel.group)
    groups: list[Group] = []
    for label in labels:
        runs = tuple(study.runs(label, panel.task))
        if runs:
            groups.append(Group(label, runs[0].algorithm, panel.task, runs))
    return groups


def _noisy(groups: Sequence[Group]) -> bool:
    """Whether the task is one that nobody else has published: with noise on its actions."""
    return all(bool(run.setting("env.action_noise")) for group in groups for run in group.runs)


def _fit(axes: Axes, values: Sequence[Float[np.ndarray, "_"]]) -> None:
    """Limits that hold every seed and every curve; the bands of two or three seeds may be far wider, and are cut."""
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.get_lines()]
    known = np.concatenate([*values, *drawn])
    known = known[np.isfinite(known)]
    if len(known) and np.ptp(known) > 0:
        margin = 0.06 * float(np.ptp(known))
        axes.set_ylim(float(known.min()) - margin, float(known.max()) + margin)


def _published_colour(study: StudyData, algorithm: str) -> str:
    variants = {member.variant for member in study.members if member.record["algorithm"] == algorithm}
    return colour_of(study, variants.pop()) if len(variants) == 1 else MUTED
