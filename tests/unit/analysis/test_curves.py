import xml.etree.ElementTree as ElementTree

import matplotlib.image
import numpy as np
import pytest

from macura.analysis import curves, reference
from macura.analysis.loading import Series, group_by_settings, load
from macura.analysis.statistics import band
from macura.analysis.style import inline_svg, short_number, styled
from macura.core import UserError


def texts(file):
    """Everything that is written in an SVG."""
    return " ".join(
        "".join(node.itertext()) for node in ElementTree.parse(file).iter() if node.tag.endswith("text")
    )


def inside(figure):
    """Whether all that is drawn lies inside the figure, and no two axes overlap with their titles and numbers."""
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    drawn = figure.get_tightbbox()
    whole = min(drawn.x0, drawn.y0) >= -0.02 and drawn.x1 <= width + 0.02 and drawn.y1 <= height + 0.02
    boxes = [axes.get_tightbbox() for axes in figure.axes if axes.get_visible()]
    return whole and not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[k + 1 :])


def test_one_model_based_run_is_shown_with_what_its_model_did(run_folder, tmp_path):
    drawn = curves.plot([run_folder("one", env="InvertedPendulum-v5")], tmp_path / "new" / "course.png")
    assert [file.name for file in drawn.files] == ["course.png", "course.svg"]
    written = texts(drawn.files[1])
    for title in (
        "MACURA on InvertedPendulum-v5, seed 0",
        "Mean rollout length",
        "Uncertainty threshold",
        "Agent updates",
    ):
        assert title in written
    picture = matplotlib.image.imread(drawn.files[0])
    assert picture.shape[0] > 800 and picture.std() > 0.05


def test_sac_has_a_learning_curve_alone(run_folder, tmp_path):
    drawn = curves.plot([run_folder("one", algorithm="sac", env="Pendulum-v1")], tmp_path / "curve")
    assert "Mean rollout length" not in texts(drawn.files[1])


def test_seeds_share_a_line_and_unfinished_runs_say_so(run_folder, tmp_path):
    folders = [run_folder(f"s{seed}", seed=seed) for seed in range(3)]
    folders.append(run_folder("cut", algorithm="mbpo", until=6000))
    drawn = curves.plot(folders, tmp_path / "curves.svg")
    written = texts(drawn.files[1])
    assert "MACURA, 3 seeds" in written and "MBPO (unfinished)" in written
    assert drawn.notes == (f"unfinished {folders[-1]}: 6,000 of 10,000 steps",)


def test_another_metric(run_folder, tmp_path):
    drawn = curves.plot([run_folder("one")], tmp_path / "curves", "rollout/kappa")
    assert "rollout/kappa" in texts(drawn.files[1])
    with pytest.raises(
        UserError, match=r"no run has a number called 'rollout/kapa'. Did you mean 'rollout/kappa'\?"
    ):
        curves.plot([tmp_path / "one"], tmp_path / "curves", "rollout/kapa")


def test_a_single_evaluation_is_a_visible_dot(run_folder):
    with styled():
        figure = curves.learning_curves(group_by_settings([load(run_folder("one", until=1000))]))
    assert [line.get_marker() for line in figure.axes[0].lines if len(line.get_xdata()) == 1] == ["o"]


def test_nothing_to_plot_says_why(run_folder, tmp_path):
    folder = run_folder("one", until=1)
    with pytest.raises(UserError, match=r"no run has an evaluation yet \(unfinished"):
        curves.plot([folder], tmp_path / "curves.png")
    with pytest.raises(UserError, match="figures are PNG and SVG; try --out"):
        curves.plot([run_folder("two")], tmp_path / "curves.pdf")


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_nothing_is_cut_off_or_on_top_of_each_other(run_folder, tasks):
    runs = [
        load(
            run_folder(
                f"{task}-{algorithm}-{seed}", algorithm=algorithm, env=f"LongNamedTask{task}-v5", seed=seed
            )
        )
        for task in range(tasks)
        for algorithm in ("macura", "sac", "mbpo")
        for seed in (0, 1)
    ]
    with styled():
        assert inside(curves.learning_curves(group_by_settings(runs)))


@pytest.mark.parametrize("algorithm", ["macura", "mbpo", "m2ac"])
def test_the_course_of_a_run_is_not_cut_off(run_folder, algorithm):
    run = load(run_folder("one", algorithm=algorithm, env="InvertedDoublePendulum-v5", until=7000))
    with styled():
        assert inside(curves.course(run))


def test_a_threshold_over_orders_of_magnitude_is_logarithmic(run_folder):
    folder = run_folder("one")
    rows = "".join(
        f'{{"step": {k}000, "eval/return_mean": 1.0, "rollout/kappa": {10.0**-k}}}\n' for k in range(1, 6)
    )
    (folder / "metrics.jsonl").write_text(rows)
    with styled():
        figure = curves.course(load(folder))
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log"]


def test_published_curves_are_drawn_as_far_as_the_run_went(run_folder):
    curve = reference.published("macura", "Hopper", 20_000.0)
    assert curve.steps.max() <= 20_000 and curve.seeds == 8
    assert reference.published("macura", "Pendulum") is None
    with styled():
        figure = curves.course(load(run_folder("one", steps=20_000)))
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "MACURA published, 8 seeds" in labels


def test_the_band_is_students_confidence_interval():
    steps = np.array([1, 2, 3])
    found = band([Series(steps, np.array([1.0, 2.0, 3.0])), Series(steps[:2], np.array([3.0, 2.0]))])
    assert found.mean.tolist() == [2.0, 2.0, 3.0]
    assert found.seeds.tolist() == [2, 2, 1]
    half = 12.7062047364 * np.sqrt(2) / np.sqrt(2)
    assert np.allclose(found.high, [2 + half, 2.0, np.nan], equal_nan=True)
    assert np.allclose(found.low, [2 - half, 2.0, np.nan], equal_nan=True)


def test_drawing_leaves_the_readers_settings_alone(run_folder, tmp_path):
    before = dict(matplotlib.rcParams)
    curves.plot([run_folder("one")], tmp_path / "x")
    assert dict(matplotlib.rcParams) == before


def test_an_inline_figure_has_ids_of_its_own_and_follows_the_page(run_folder):
    with styled():
        svg = inline_svg(curves.course(load(run_folder("one"))), "fig1", "a curve")
    assert 'role="img" aria-label="a curve"' in svg and "var(--ink)" in svg
    assert all(name.startswith("fig1-") for name in ids(svg))


def ids(svg):
    return [node.get("id") for node in ElementTree.fromstring(svg).iter() if node.get("id")]


@pytest.mark.parametrize(("number", "said"), [(0.0, "0"), (250.0, "250"), (1250.0, "1.25k"), (3e6, "3M")])
def test_short_numbers(number, said):
    assert short_number(number) == said
