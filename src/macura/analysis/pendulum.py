"""The two figures of `macura toy`, from the numbers it left: where the model is trusted, and the return bound."""

import json
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from macura.analysis.style import COLOURS, MUTED, save, styled
from macura.core import UserError

TIME_STEP = 0.01
DPI = 150
HEAT = "viridis_r"
"""Yellow is low and blue is high, as in the paper."""
TRUSTED, OUTSIDE, OUTLINE = "#fde725", "#3b528b", "#d1442f"
NAMES = {"geometric_js": "u_\\mathrm{GJS}", "one_vs_rest": "u_\\mathrm{OvR}"}


class Drawn(NamedTuple):
    """The files written."""

    maps: tuple[Path, ...]
    bound: tuple[Path, ...]


class Map(NamedTuple):
    """The box and a number for each of its states."""

    angle: Float[np.ndarray, "angle"]
    velocity: Float[np.ndarray, "velocity"]
    values: Float[np.ndarray, "angle velocity"]


def draw(numbers: Path, out: Path) -> Drawn:
    """Draw `toy` and `bound` as PNG and SVG into the folder `out` from the JSON of `macura toy`."""
    try:
        content: dict[str, Any] = json.loads(numbers.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UserError(
            f"{numbers} is not readable JSON; write it with macura toy --out {numbers.parent}."
        ) from None
    with styled():
        figures = maps(content), bounds(content)
        try:
            return Drawn(save(figures[0], out / "toy.png", DPI), save(figures[1], out / "bound.png", DPI))
        except OSError as error:
            raise UserError(
                f"--out {out} cannot be written ({error.strerror}); name another folder."
            ) from None


def maps(content: dict[str, Any]) -> Figure:
    """Eight panels: data and misalignment on the left; either measure, its set E, and E over the misalignment."""
    axes, drawn = content["axes"], content["drawn"]
    angle, velocity = np.asarray(axes["angle"]), np.asarray(axes["velocity"])
    wrong = Map(angle, velocity, np.asarray(drawn["misalignment"]))
    figure = Figure(figsize=(11.6, 5.8), layout="constrained")
    panels = cast("np.ndarray", figure.subplots(2, 4, sharex=True, sharey=True))
    _data(figure, panels[0, 0], np.asarray(drawn["trajectories"]))
    _misalignment(figure, panels[1, 0], wrong, r"Misalignment $d$")
    for row, name in zip(panels[:, 1:], NAMES, strict=True):
        kappa = drawn["kappa"][name]
        unsure = Map(angle, velocity, np.asarray(drawn["measures"][name]))
        _uncertainty(figure, row[0], unsure, name)
        _trusted(figure, row[1], unsure, kappa, name)
        _misalignment(figure, row[2], wrong, r"$\mathcal{E}$ over misalignment")
        _outline(row[2], unsure, kappa)
    for letter, panel in zip("abcdefgh", panels.flat, strict=True):
        panel.set_title(f"({letter}) {panel.get_title(loc='left')}", loc="left")
        panel.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
        panel.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    for panel in panels[1]:
        panel.set_xlabel(r"angle $\varphi$ [rad]")
    for panel in panels[:, 0]:
        panel.set_ylabel(r"velocity $\dot{\varphi}$ [rad/s]")
    return figure


def bounds(content: dict[str, Any]) -> Figure:
    """The gap between true and model return against kappa, what Theorem 4.1 promises, and what is certain anyway."""
    figure = Figure(figsize=(9.4, 4.2), layout="constrained")
    left, right = cast("np.ndarray", figure.subplots(1, 2, width_ratios=(1.25, 1)))
    for index, seed in enumerate(content["seeds"]):
        rows = {name: np.asarray([row[name] for row in seed["bounds"]]) for name in seed["bounds"][0]}
        alone = {"alpha": 1.0 if index == 0 else 0.3, "linewidth": 1.9 if index == 0 else 1.0}
        left.plot(rows["kappa"], rows["bound"], color=COLOURS[0], marker="o", markersize=3, **alone)
        left.plot(rows["kappa"], rows["trivial"], color=MUTED, linestyle="--", **alone)
        left.plot(rows["kappa"], rows["gap"], color=COLOURS[1], marker="o", markersize=3, **alone)
        if index == 0:
            low, high = np.maximum(rows["gap"] - 2 * rows["error"], 1e-9), rows["gap"] + 2 * rows["error"]
            left.fill_between(rows["kappa"], low, high, color=COLOURS[1], alpha=0.2, linewidth=0)
        right.plot(rows["kappa"], rows["supremum"], color=COLOURS[2], marker="o", markersize=3, **alone)
    for panel in (left, right):
        panel.set_xscale("log")
        panel.set_xlabel(r"threshold $\kappa$ of $u_\mathrm{GJS}$")
        panel.grid(axis="y")
        panel.set_axisbelow(True)
    left.set_yscale("log")
    left.set_ylim(bottom=1e-5)
    left.set_title(r"Return bound: $|\eta - \tilde{\eta}|\leq C$", loc="left")
    left.set_ylabel("return (reward of at most 1 a step)")
    left.legend(
        handles=[
            Line2D([], [], color=COLOURS[0], marker="o", markersize=3, label=r"bound $C$ of Theorem 4.1"),
            Line2D(
                [], [], color=MUTED, linestyle="--", label=r"trivial limit $r_{\max}\,\Sigma_t\,\gamma^t$"
            ),
            Line2D(
                [],
                [],
                color=COLOURS[1],
                marker="o",
                markersize=3,
                label=r"true gap, band $\pm 2$ standard errors",
            ),
        ],
        loc="center left",
        bbox_to_anchor=(0.02, 0.58),
    )
    right.set_ylim(0, np.sqrt(2))
    right.axhline(1.0, color=MUTED, linestyle="--")
    right.annotate(
        "above 1 it says nothing", (0.02, 1.02), xycoords=("axes fraction", "data"), color=MUTED, fontsize=9
    )
    right.set_title(r"Supremum of the misalignment on $\mathcal{E}$", loc="left")
    right.set_ylabel(r"$\Delta p_{\mathcal{E}}$")
    return figure


def _data(figure: Figure, axes: Axes, trajectories: Float[np.ndarray, "trajectory time 2"]) -> None:
    time = np.broadcast_to(np.arange(trajectories.shape[1]) * TIME_STEP, trajectories.shape[:2])
    points = axes.scatter(
        trajectories[..., 0].ravel(),
        trajectories[..., 1].ravel(),
        c=time.ravel(),
        s=2,
        cmap="plasma",
        linewidths=0,
    )
    axes.set_facecolor("white")
    axes.set_title(r"Data $\mathcal{D}_\mathrm{env}$", loc="left")
    figure.colorbar(points, ax=axes, label="time [s]")


def _misalignment(figure: Figure, axes: Axes, wrong: Map, title: str) -> None:
    image = _image(axes, wrong, Normalize(0, float(np.sqrt(2))))
    axes.set_title(title, loc="left")
    figure.colorbar(image, ax=axes, label=r"$d \geq D_\mathrm{TV}$")


def _uncertainty(figure: Figure, axes: Axes, unsure: Map, name: str) -> None:
    low, high = np.quantile(unsure.values, (0.001, 0.999))
    image = _image(axes, unsure, LogNorm(low, high))
    axes.set_title(f"Uncertainty ${NAMES[name]}$", loc="left")
    figure.colorbar(image, ax=axes, label=f"${NAMES[name]}$ [nat]", extend="both")


def _trusted(figure: Figure, axes: Axes, unsure: Map, kappa: float, name: str) -> None:
    inside = unsure._replace(values=(unsure.values < kappa).astype(float))
    image = _image(axes, inside, Normalize(0, 1), ListedColormap([OUTSIDE, TRUSTED]))
    axes.set_title(rf"$\mathcal{{E}}$: ${NAMES[name]} < \kappa = {kappa:.2g}$", loc="left")
    bar = figure.colorbar(image, ax=axes, ticks=[0.25, 0.75])
    bar.ax.set_yticklabels(["outside", r"in $\mathcal{E}$"], rotation=90, va="center")
    bar.ax.tick_params(length=0)


def _outline(axes: Axes, unsure: Map, kappa: float) -> None:
    """The boundary of E; a measure that jumps from state to state has one around every jump."""
    inside = (unsure.values < kappa).T.astype(float)
    axes.contour(unsure.angle, unsure.velocity, inside, levels=[0.5], colors=OUTLINE, linewidths=1.1)


def _image(axes: Axes, shown: Map, norm: Normalize, colours: str | ListedColormap = HEAT) -> AxesImage:
    """Every state as a cell around it."""
    halves = [(line[1] - line[0]) / 2 for line in (shown.angle, shown.velocity)]
    extent = (
        shown.angle[0] - halves[0],
        shown.angle[-1] + halves[0],
        shown.velocity[0] - halves[1],
        shown.velocity[-1] + halves[1],
    )
    return axes.imshow(
        shown.values.T,
        origin="lower",
        extent=extent,
        aspect="auto",
        norm=norm,
        cmap=colours,
        interpolation="nearest",
    )
