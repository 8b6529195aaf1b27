"""The figures of the toy: every panel there, nothing cut, nothing overlapping."""

import itertools
import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from macura.analysis import pendulum
from macura.analysis.style import styled
from macura.core import UserError


def content(scale: float = 1.0, grid: int = 15, seeds: int = 3) -> dict:
    """Numbers shaped like those of the study; `scale` stretches the ranges of the measures."""
    rng = np.random.default_rng(0)
    angle, velocity = np.linspace(-3, 3, grid), np.linspace(-16, 16, grid)
    radius = np.hypot(angle[:, None], velocity[None, :] / 5)
    time = np.linspace(0, 8, 171)
    spiral = np.stack([np.exp(-time / 8) * 3 * np.cos(time), -12 * np.exp(-time / 8) * np.sin(time)], -1)
    kappas = 0.03 * scale * 3.0 ** np.arange(6)
    bounds = [
        {
            "kappa": k,
            "gap": 1e-3,
            "error": 3e-4,
            "bound": 20 + 10 * i,
            "trivial": 9.0,
            "supremum": 0.2 + 0.2 * i,
        }
        for i, k in enumerate(kappas)
    ]
    return {
        "axes": {"angle": angle.tolist(), "velocity": velocity.tolist()},
        "drawn": {
            "trajectories": np.tile(spiral, (10, 1, 1)).tolist(),
            "misalignment": np.minimum(0.1 + radius / 3, 1.4).tolist(),
            "measures": {
                "geometric_js": (scale * np.exp(2 * radius)).tolist(),
                "one_vs_rest": (scale * np.exp(radius + rng.standard_normal(radius.shape))).tolist(),
            },
            "kappa": {"geometric_js": 20 * scale, "one_vs_rest": 6 * scale},
        },
        "seeds": [{"bounds": bounds} for _ in range(seeds)],
    }


def texts_and_axes(figure: Figure):
    figure.draw_without_rendering()
    words = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    ticks = {tick for axes in figure.axes for tick in _hidden_ticks(axes)}
    return [t for t in words if t not in ticks], figure.axes


def _hidden_ticks(axes):
    """Labels of ticks beyond the limits, or switched off because an axis is shared: they are not drawn."""
    for axis, span in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        low, high = sorted(span)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            for label, on in (
                (tick.label1, tick.label1.get_visible()),
                (tick.label2, tick.label2.get_visible()),
            ):
                if not on or not low <= tick.get_loc() <= high:
                    yield label


def assert_tidy(figure: Figure) -> None:
    """Every word inside the figure, no word upon another."""
    words, _ = texts_and_axes(figure)
    assert len(words) > 20
    boxes = [(word.get_text(), word.get_window_extent()) for word in words]
    page = figure.bbox
    for text, box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        apart = a.x1 <= b.x0 + 0.5 or b.x1 <= a.x0 + 0.5 or a.y1 <= b.y0 + 0.5 or b.y1 <= a.y0 + 0.5
        assert apart, (one, other)


@pytest.mark.parametrize(("scale", "grid"), [(1e-4, 15), (1.0, 15), (1e4, 15), (1.0, 2)])
def test_eight_panels_with_their_colour_bars_axes_and_units_and_nothing_overlaps(scale, grid):
    with styled():
        figure = pendulum.maps(content(scale, grid))
        assert_tidy(figure)
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left")[:3] for axes in panels] == [f"({letter})" for letter in "abcdefgh"]
    assert len(figure.axes) == 16
    labels = {text.get_text() for axes in figure.axes for text in (axes.xaxis.label, axes.yaxis.label)}
    assert sum("[rad]" in label for label in labels) == 1
    assert any("[rad/s]" in label for label in labels)
    assert any("[s]" in label for label in labels)
    assert sum("[nat]" in label for label in labels) == 2


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_the_bound_is_tidy(scale):
    with styled():
        assert_tidy(pendulum.bounds(content(scale)))


def test_the_check_itself_sees_a_collision():
    figure = Figure()
    for number in range(25):
        figure.text(0.5, 0.5, f"word {number}")
    with pytest.raises(AssertionError):
        assert_tidy(figure)


def test_drawing_reads_the_file_and_writes_png_and_svg_of_bounded_size(tmp_path):
    numbers = tmp_path / "toy.json"
    numbers.write_text(json.dumps(content(grid=61)))
    drawn = pendulum.draw(numbers, tmp_path)
    assert [file.name for file in (*drawn.maps, *drawn.bound)] == [
        "toy.png",
        "toy.svg",
        "bound.png",
        "bound.svg",
    ]
    assert all(0 < file.stat().st_size < 600_000 for file in (*drawn.maps, *drawn.bound))


def test_a_missing_or_broken_file_is_named(tmp_path):
    for text in (None, "{"):
        if text is not None:
            (tmp_path / "toy.json").write_text(text)
        with pytest.raises(UserError, match=r"toy\.json is not readable JSON; write it with macura toy"):
            pendulum.draw(tmp_path / "toy.json", tmp_path)


def test_a_figure_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    (tmp_path / "toy.json").write_text(json.dumps(content()))
    (tmp_path / "toy.png").mkdir()
    with pytest.raises(UserError, match=r"^--out .* cannot be written \(Is a directory\)"):
        pendulum.draw(tmp_path / "toy.json", tmp_path)
