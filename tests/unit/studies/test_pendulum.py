"""The pendulum study: misalignment by integration, claims by brute force, the bound by a loop and by breaking it."""

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from macura import dynamics
from macura.cli import toy
from macura.cli.main import main
from macura.core import Gaussians, UserError
from macura.dynamics import ModelConfig
from macura.envs import pendulum
from macura.studies.pendulum import ToyConfig, bound, claims, learned, maps, prepare, run, write
from macura.studies.pendulum.settings import NETWORKS, OUTPUTS
from macura.studies.pendulum.statements import judge
from tests.oracles import return_bound
from tests.oracles import total_variation as oracle

TINY = ToyConfig(
    seeds=2,
    grid=9,
    epochs=30,
    starts=64,
    horizon=3,
    networks=replace(NETWORKS, members=2, width=8, hidden_layers=1),
)
A, B, C = ((0.0, 1.0), (1.0, 0.5)), ((0.5, 0.0), (2.0, 0.5)), ((1.0, -1.0), (0.25, 4.0))
FAR = ((3.0, 4.0), (0.01, 0.2))


def gaussians(*pairs) -> Gaussians:
    """Members (mean, variance) at one state."""
    mean, variance = (np.asarray(part, np.float32)[:, None] for part in zip(*pairs, strict=True))
    return Gaussians(jnp.asarray(mean), jnp.log(jnp.asarray(variance)))


def misalignment(true, *members) -> float:
    mean, variance = (jnp.asarray(part)[None] for part in true)
    return float(maps.misalignment(mean, jnp.log(variance), gaussians(*members))[0])


# Data and model


def test_data_are_ten_noisy_spirals_from_the_start_of_the_paper():
    states = np.asarray(learned.trajectories(3))
    assert states.shape == (10, 171, 2)
    np.testing.assert_array_equal(states[:, 0], np.tile([3.0, 0.0], (10, 1)))
    np.testing.assert_array_equal(states, np.asarray(learned.trajectories(3)))
    before, after = states[:, :-1].reshape(-1, 2), states[:, 1:].reshape(-1, 2)
    noise = after - pendulum.mean_step(before.astype(np.float64), pendulum.controller(before))
    np.testing.assert_allclose(noise.std(0), np.sqrt(pendulum.NOISE_VARIANCE), rtol=0.05)
    rows = learned.transitions(learned.trajectories(3))
    np.testing.assert_array_equal(rows.obs[170], states[1, 0])
    np.testing.assert_array_equal(rows.next_obs[339], states[1, 170])
    assert not rows.terminated.any()


def test_the_floor_of_the_variances_is_below_the_noise_and_the_usual_one_would_not_be():
    rows = learned.transitions(learned.trajectories(0))
    spread = np.std(np.asarray(rows.next_obs - rows.obs), axis=0)
    floor = NETWORKS.min_logvar + 2 * np.log(spread)
    assert (floor < np.log(pendulum.NOISE_VARIANCE) - 4).all()
    usual = np.exp(ModelConfig().min_logvar)
    best_possible = misalignment(((0.0, 0.0), (1e-6, 1e-3)), ((0.0, 0.0), (usual, 1e-3)))
    assert best_possible > 0.95


def test_training_learns_what_the_data_say():
    rows = learned.transitions(learned.trajectories(0))
    fitted = learned.train(TINY.networks, TINY.epochs, rows, seed=0)
    fresh = fitted._replace(parameters=dynamics.init(TINY.networks, OUTPUTS, jax.random.key(0)).parameters)
    truth = maps.truth(rows.obs)[0]
    errors = [jnp.square(maps.members(m, rows.obs).mean - truth).mean() for m in (fresh, fitted)]
    assert errors[1] < 0.2 * errors[0]


# Misalignment


@pytest.mark.parametrize("one, other", [(A, B), (A, C), (B, C), (A, A), (A, FAR)])
def test_misalignment_with_one_member_is_hellinger_by_integration(one, other):
    assert misalignment(one, other) == pytest.approx(np.sqrt(2) * oracle.hellinger(one, other), abs=2e-5)


def test_misalignment_matches_the_reference_vector():
    assert misalignment(A, B) == pytest.approx(0.7202617679, rel=1e-6)


@pytest.mark.parametrize("true, members", [(A, [B, C]), (C, [A, B]), (B, [B, B, A]), (A, [FAR, C])])
def test_misalignment_is_at_least_the_total_variation_from_the_mixture(true, members):
    assert misalignment(true, *members) >= oracle.total_variation_from_mixture(true, members)


def test_misalignment_saturates_at_root_two_and_never_exceeds_it():
    saturated = misalignment(A, ((1e4, 0.0), (1.0, 1.0)))
    assert saturated == pytest.approx(np.sqrt(2), rel=1e-6)
    assert saturated >= np.float32(np.sqrt(2.0)) * (1 - 1e-6)


# Claims


def test_rank_correlation_and_roc_area_agree_with_brute_force_also_with_ties():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 8, 60).astype(float)
    target = score + rng.integers(-3, 4, 60)
    assert claims.spearman(score, target) == pytest.approx(
        stats.spearmanr(score, target).statistic, rel=1e-12
    )
    positive = target > 3
    wins = [np.sign(p - n) / 2 + 0.5 for p in score[positive] for n in score[~positive]]
    assert claims.roc_area(score, positive) == pytest.approx(np.mean(wins), rel=1e-12)
    assert claims.roc_area(score, np.zeros(60, bool)) is None


def test_roughness_is_small_for_a_slope_and_one_for_a_chequerboard():
    slope = np.add.outer(np.arange(11.0), np.arange(11.0))
    assert claims.roughness(slope) == pytest.approx(1 / 20)
    assert claims.roughness(np.indices((6, 6)).sum(0) % 2.0) == 1.0


def test_interval_is_students():
    values = [0.9, 0.95, 0.92, 0.97, 0.91]
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    found = claims.interval(values)
    assert (found["low"], found["high"]) == (pytest.approx(low), pytest.approx(high))
    assert (found["least"], found["most"]) == (0.9, 0.97)
    assert claims.interval([0.5])["low"] is None


def test_a_measure_that_is_the_misalignment_is_perfect_and_a_flipped_one_is_overconfident_in_the_core():
    angle, velocity = maps.axes(21)
    wrong = 1.4 * np.exp(-np.hypot(angle[:, None], velocity[None, :] / 5))  # high around the origin
    middle = claims.core(angle, velocity)
    at_data = np.full(10, 0.2)
    perfect = claims.describe_measure(wrong, wrong, at_data, 0.9, middle)
    assert perfect["spearman"] == pytest.approx(1.0)
    assert perfect["roc_area"] == 1.0
    assert perfect["core_overconfidence"] == 0.0
    assert perfect["vacuous_inside"] == 0.0
    assert perfect["worst_inside"] < 0.9
    assert perfect["pieces"] == 2.0
    flipped = claims.describe_measure(1.5 - wrong, wrong, at_data, 0.9, middle)
    assert flipped["spearman"] == pytest.approx(-1.0, abs=1e-4)  # 1.5 - x rounds some into ties
    assert flipped["core_overconfidence"] > 0.8
    assert flipped["vacuous_inside"] == 1.0


# The bound


def test_bound_agrees_with_the_loop():
    rng = np.random.default_rng(1)
    true, model = rng.uniform(size=(2, 6, 50))
    inside = rng.uniform(size=(7, 50)) < 0.8
    found = bound.evaluate(true, model, bound.going(inside), 0.3, 0.9)
    assert found is not None
    eta, eta_model, mean, certain = return_bound.both_sides(true, model, inside, 0.3, 0.9)
    assert (found.eta, found.eta_model) == (pytest.approx(eta), pytest.approx(eta_model))
    assert (found.bound, found.certain) == (pytest.approx(mean), pytest.approx(certain))
    assert found.pairs == inside[0].sum()


def test_no_bound_without_a_start_in_the_set():
    nothing = np.zeros((3, 4), bool)
    assert bound.evaluate(np.ones((3, 4)), np.ones((3, 4)), nothing, 0.3, 0.9) is None


def true_members(states: jax.Array, shift: float = 0.0) -> Gaussians:
    """Two members that know the dynamics, but for a shift of the velocity in standard deviations."""
    mean, logvar = maps.truth(states)
    mean = mean + shift * np.asarray([0.0, np.sqrt(pendulum.NOISE_VARIANCE[1])])
    return Gaussians(jnp.stack([mean, mean]), jnp.stack([logvar, logvar]))


def test_equal_dynamics_give_equal_returns():
    starts = bound.starts_in_box(4000, jax.random.key(0))
    pairs = jax.device_get(jax.jit(lambda key: bound.branch(true_members, starts, 4, key))(jax.random.key(1)))
    states = np.stack(pairs)
    np.testing.assert_array_equal(states[0, 0], states[1, 0])
    rewards = np.asarray(pendulum.reward(states))[:, 1:]
    counts = bound.going(bound.in_box(states).all(0))
    found = bound.evaluate(*rewards, counts, 0.0, 0.99)
    assert found is not None
    assert found.gap < 4 * found.error
    assert found.length < 4  # some have left the box


def test_the_bound_holds_and_fails_when_the_supremum_is_understated():
    # One step, a model whose velocity is off by a standard deviation, and a reward of 1 where the truth is likelier:
    # the gap is then the total variation itself, 0.383, and C twice its upper bound, 0.97.
    start = jnp.asarray([[1.0, 2.0]])
    starts = jnp.tile(start, (20_000, 1))
    off = lambda states: true_members(states, shift=1.0)  # noqa: E731
    pairs = jax.device_get(jax.jit(lambda key: bound.branch(off, starts, 1, key))(jax.random.key(2)))
    states = np.stack(pairs)
    expected = pendulum.mean_step(np.asarray(start[0]), pendulum.controller(np.asarray(start[0])))
    rewards = (states[:, 1:, :, 1] < expected[1] + 0.5 * np.sqrt(pendulum.NOISE_VARIANCE[1])).astype(float)
    counts = bound.going(np.ones((2, 20_000), bool))
    supremum = float(maps.misalignment(*maps.truth(start), off(start))[0])

    found = bound.evaluate(*rewards, counts, supremum, 0.99)
    assert found is not None
    assert found.gap == pytest.approx(2 * stats.norm.cdf(0.5) - 1, abs=4 * found.error)
    assert found.gap <= found.bound
    understated = bound.evaluate(*rewards, counts, supremum / 3, 0.99)
    assert understated is not None
    assert understated.gap - 4 * understated.error > understated.bound


# The whole study


@pytest.fixture(scope="module")
def results():
    return run(TINY, lambda line: None)


def test_the_numbers_are_the_same_to_the_last_digit_when_computed_again(results, tmp_path):
    again = run(TINY, lambda line: None)
    texts = []
    for number, content in enumerate((results, again)):
        prepare(tmp_path / str(number))
        files = write(content, tmp_path / str(number))
        texts.append([file.read_bytes() for file in files])
    assert texts[0] == texts[1]
    assert run(replace(TINY, seed=5, seeds=1), lambda line: None)["drawn"] != results["drawn"]


def test_the_numbers_are_finite_and_complete(results):
    text = json.dumps(results, allow_nan=False)
    assert json.loads(text)["settings"]["grid"] == 9
    assert [row["seed"] for row in results["seeds"]] == [0, 1]
    for row in results["seeds"]:
        assert set(row["measures"]) == set(maps.MEASURES)
        for found in row["bounds"]:
            assert found["gap"] <= found["bound"] <= found["certain"]
            assert found["supremum"] <= np.float32(np.sqrt(2.0))
        scales = [found["supremum"] for found in row["bounds"]]
        assert scales == sorted(scales)  # a larger set has no smaller supremum
    assert results["summary"]["measures"]["geometric_js"]["spearman"]["low"] is not None
    assert np.shape(results["drawn"]["trajectories"]) == (10, 171, 2)


def test_statements_can_fail(results):
    good = judge(results["seeds"])
    spoilt = json.loads(json.dumps(results["seeds"]))
    for row in spoilt:
        row["measures"]["geometric_js"].update(
            spearman=0.1, roughness=0.5, pieces=99.0, vacuous_inside=0.9, data_rank=0.9
        )
        row["bounds"] = [{**found, "gap": 2 * found["bound"]} for found in row["bounds"]]
    bad = {verdict["statement"]: verdict["holds_in"] for verdict in judge(spoilt)}
    assert len(good) == len(bad)
    for words in (
        "u_GJS is smooth",
        "u_GJS is low where the data are",
        "u_GJS aligns with the misalignment",
        "a kappa gives a clear set E with u_GJS",
        "that E avoids areas of high misalignment",
        "the return bound holds",
    ):
        assert bad[words] == 0


def test_the_command_leaves_both_figures_and_the_numbers(results, tmp_path, monkeypatch, capsys):
    tiny = {"networks": TINY.networks, "starts": TINY.starts, "horizon": TINY.horizon}
    monkeypatch.setattr(toy, "ToyConfig", lambda *values, **named: ToyConfig(*values, **named, **tiny))
    out = tmp_path / "new" / "toy"
    assert main(["toy", "--seeds", "2", "--grid", "9", "--epochs", "30", "--out", str(out)]) == 0
    assert json.loads((out / "toy.json").read_text()) == json.loads(json.dumps(results))
    assert {file.name for file in out.iterdir()} == {
        "toy.png", "toy.svg", "bound.png", "bound.svg", "toy.json", "summary.json"
    }  # fmt: skip
    told = capsys.readouterr().out
    assert told.count("holds in") == len(results["summary"]["statements"])
    assert str(out / "toy.png") in told


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid": 0},
        {"grid": 10_000},
        {"seeds": 0},
        {"seed": -1},
        {"seed": 2**32 - 4},
        {"epochs": 0},
        {"threshold_scale": 0.0},
        {"threshold_scale": float("nan")},
        {"threshold_scale": float("inf")},
        {"threshold_quantile": 1.0},
    ],
)
def test_bad_settings_are_refused_in_one_line_that_says_what_to_type(wrong):
    with pytest.raises(UserError, match=r"^--[a-z-]+ is .*; try ") as refused:
        ToyConfig(**wrong)
    assert "\n" not in str(refused.value)


def test_a_folder_that_cannot_be_made_or_written_is_refused_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match="cannot be written"):
            prepare(out)
    (tmp_path / "taken" / "toy.json").mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be written"):
        write({"settings": {}, "summary": {}, "seeds": []}, tmp_path / "taken")


def test_networks_predict_what_the_figure_needs():
    assert (OUTPUTS.inputs, OUTPUTS.gaussians) == (3, 2)
