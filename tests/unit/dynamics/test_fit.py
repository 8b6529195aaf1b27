"""The compiled refit against its loop-written twin, and its edges."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import dynamics
from macura.core import Transition
from macura.dynamics.fit import draw_split, prepare, shuffle
from tests.oracles import fit as oracle

CONFIG = dynamics.ModelConfig(
    members=3, width=8, hidden_layers=2, batch_size=16, patience=2, learning_rate=1e-2
)
OUTPUTS = dynamics.Outputs(obs=2, act=1)
CAPACITY = 120


def data(seed: int, scale: float = 1.0) -> Transition:
    rng = np.random.default_rng(seed)
    obs, action = rng.standard_normal((CAPACITY, 2)), rng.uniform(-1, 1, (CAPACITY, 1))
    next_obs = obs + np.tanh(obs[:, ::-1] + action) * scale
    columns = obs, action, np.sin(obs[:, 0]), next_obs
    floats = [jnp.asarray(column, jnp.float32) for column in columns]
    return Transition(*floats, terminated=jnp.asarray(obs[:, 0] > 1))


@partial(jax.jit, static_argnums=(0, 1))
def fit(config: Any, outputs: Any, model: Any, everything: Any, count: Any, key: Any) -> Any:
    return dynamics.fit(config, outputs, model, everything, count, key)


def refit(
    model: Any, count: int, key: int, config: Any = CONFIG, outputs: Any = OUTPUTS, seed: int = 0
) -> Any:
    return fit(config, outputs, model, data(seed), jnp.int32(count), jax.random.key(key))


@pytest.mark.parametrize("count", [30, 77, 120])
def test_two_refits_agree_with_the_loop_written_twin(count: int) -> None:
    config = replace(CONFIG, learning_rate=1e-3)  # small steps: single and double precision stay together
    model = dynamics.init(config, OUTPUTS, jax.random.key(count))
    networks = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), model.parameters.networks)
    members = [
        oracle.Member([w[e].copy() for w in networks.weights], [b[e].copy() for b in networks.biases])
        for e in range(3)
    ]
    adams = [
        oracle.Adam(
            config.learning_rate,
            CONFIG.weight_decay,
            *[[np.zeros_like(a) for a in m.arrays()] for _ in range(2)],
        )
        for m in members
    ]
    for seed in (1, 2):
        split_key, epoch_key = jax.random.split(jax.random.key(seed))
        _, _, seen = prepare(CONFIG, OUTPUTS, data(0), jnp.int32(count))
        split = draw_split(CONFIG, jnp.int32(count), CAPACITY, split_key)
        train, validate = int(split.train), int(split.validate)

        def order_of(epoch: int, key: Any = epoch_key, train: int = train) -> Any:
            return np.asarray(shuffle(jax.random.fold_in(key, epoch), jnp.int32(train), CAPACITY))[:train]

        members, epochs = oracle.refit(
            members,
            adams,
            np.asarray(seen.x, np.float64),
            np.asarray(seen.y, np.float64),
            np.asarray(split.bootstrap),
            np.asarray(split.validation)[:validate],
            order_of,
            CONFIG.batch_size,
            CONFIG.patience,
            CONFIG.improvement,
            (CONFIG.min_logvar, CONFIG.max_logvar),
        )
        model, info = refit(model, count, seed, config)
        assert int(info["model/epochs"]) == epochs
        for e, member in enumerate(members):
            for slow, fast in zip(member.weights, model.parameters.networks.weights, strict=True):
                np.testing.assert_allclose(np.asarray(fast[e]), slow, rtol=2e-3, atol=2e-4)


def test_split_leaves_out_a_fifth_and_draws_with_replacement() -> None:
    split = draw_split(CONFIG, jnp.int32(77), CAPACITY, jax.random.key(0))
    validation = set(np.asarray(split.validation)[: int(split.validate)].tolist())
    assert (int(split.train), int(split.validate)) == (62, 15) and len(validation) == 15
    drawn = np.asarray(split.bootstrap)
    assert set(drawn.ravel().tolist()) == set(range(77)) - validation
    assert all(len(set(row[:62].tolist())) < 50 for row in drawn)  # 62 draws of 62 hit about 39 of them
    assert not np.array_equal(drawn[0], drawn[1])


def test_shuffle_is_a_permutation_of_what_exists() -> None:
    order = np.asarray(shuffle(jax.random.key(3), jnp.int32(50), CAPACITY))
    assert sorted(order[:50]) == list(range(50)) and list(order[50:]) == list(range(50, CAPACITY))
    places = [
        int(np.argmax(np.asarray(shuffle(jax.random.key(k), jnp.int32(4), 6)) == 0)) for k in range(200)
    ]
    assert np.bincount(places, minlength=4).min() > 25


def test_rows_beyond_count_change_nothing() -> None:
    model = dynamics.init(CONFIG, OUTPUTS, jax.random.key(0))
    dirty = jax.tree.map(lambda column: column.at[40:].set(jnp.ones((), column.dtype)), data(0))
    clean = jax.tree.map(lambda column: column.at[40:].set(jnp.zeros((), column.dtype)), data(0))
    one, _ = fit(CONFIG, OUTPUTS, model, dirty, jnp.int32(40), jax.random.key(0))
    other, _ = fit(CONFIG, OUTPUTS, model, clean, jnp.int32(40), jax.random.key(0))
    jax.tree.map(np.testing.assert_array_equal, one, other)


def test_a_budget_of_gradient_steps_is_kept() -> None:
    config = replace(CONFIG, gradient_steps=9, patience=100)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    _, info = refit(model, 100, 0, config)
    assert int(info["model/gradient_steps"]) == 9 and int(info["model/epochs"]) == 2  # of 5 steps and of 4


def test_patience_can_be_counted_in_steps_too() -> None:
    config = replace(CONFIG, patience=1, improvement=0.99, fewest_steps=11)  # nothing improves that much
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    _, info = refit(model, 20, 0, config)
    assert (int(info["model/epochs"]), int(info["model/gradient_steps"])) == (11, 11)
    _, info = refit(model, 100, 0, config)
    assert (int(info["model/epochs"]), int(info["model/gradient_steps"])) == (3, 15)  # whole epochs


def test_one_trace_for_every_amount_of_data() -> None:
    traces = 0

    def program(model: Any, everything: Any, count: Any, key: Any) -> Any:
        nonlocal traces
        traces += 1
        return dynamics.fit(CONFIG, OUTPUTS, model, everything, count, key)

    compiled = jax.jit(program)
    model = dynamics.init(CONFIG, OUTPUTS, jax.random.key(0))
    for count in (2, 3, 60, 120):
        model, info = compiled(model, data(0), jnp.int32(count), jax.random.key(count))
        assert np.isfinite(info["model/validation_mse"])
    assert traces == 1


def test_learns_what_the_data_say_and_how_noisy_they_are() -> None:
    config = dynamics.ModelConfig(members=2, width=16, hidden_layers=2, learning_rate=1e-2, patience=10)
    everything = data(0)
    noise = 0.1 * jax.random.normal(jax.random.key(5), everything.reward.shape)
    everything = everything._replace(reward=noise)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    for k in range(3):
        model, info = fit(config, OUTPUTS, model, everything, jnp.int32(CAPACITY), jax.random.key(k))
    prediction = dynamics.predict(OUTPUTS, model, everything.obs, everything.action)
    change = np.asarray(everything.next_obs - everything.obs)
    assert np.mean((np.asarray(prediction.gaussians.mean)[..., :2] - change) ** 2) < 0.02 * np.var(change)
    std = np.exp(0.5 * np.asarray(prediction.gaussians.logvar)[..., 2]).mean()
    assert 0.04 < std < 0.2
    assert info["model/validation_per_output"].shape == (3,)


@pytest.mark.parametrize("targets", ["delta", "next"])
def test_normalised_targets_predict_in_the_units_of_the_environment(targets: Any) -> None:
    config = dynamics.ModelConfig(
        members=2,
        width=16,
        hidden_layers=2,
        learning_rate=1e-2,
        patience=10,
        normalise_targets=True,
        targets=targets,
    )
    everything = data(0, scale=1e-3)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    for k in range(3):
        model, _ = fit(config, OUTPUTS, model, everything, jnp.int32(CAPACITY), jax.random.key(k))
    prediction = dynamics.predict(OUTPUTS, model, everything.obs, everything.action)
    next_obs, reward = dynamics.to_transition(
        config, OUTPUTS, everything.obs, jnp.mean(prediction.gaussians.mean, axis=0)
    )
    tolerance = 3e-4 if targets == "delta" else 0.15  # deltas of 1e-3 are learned to a third of their size
    np.testing.assert_allclose(next_obs, everything.next_obs, atol=tolerance * 3)
    assert reward is not None and float(jnp.mean(jnp.abs(reward - everything.reward))) < 0.25


def test_learned_termination_is_calibrated_and_its_disagreement_reported() -> None:
    outputs = dynamics.Outputs(obs=2, act=1, termination=True)
    model = dynamics.init(CONFIG, outputs, jax.random.key(0))
    config = replace(CONFIG, patience=8)
    model = dynamics.init(config, outputs, jax.random.key(0))
    before = dynamics.error(config, outputs, model, data(0), jnp.ones(CAPACITY, bool))
    for k in range(3):
        model, _ = refit(model, CAPACITY, k, config, outputs)
    after = dynamics.error(config, outputs, model, data(0), jnp.ones(CAPACITY, bool))
    assert after["model/termination_surprise"] < 0.3 * before["model/termination_surprise"]
    assert after["model/termination_disagreement"] < 0.06


def test_the_learned_probability_of_an_end_is_calibrated() -> None:
    """Ends come with probability sigmoid(3 s); among new rows, those predicted alike end as often as predicted."""
    outputs = dynamics.Outputs(obs=1, act=1, termination=True)
    config = replace(CONFIG, patience=6, learning_rate=3e-3)

    def ending(seed: int, rows: int) -> tuple[Transition, Any]:
        rng = np.random.default_rng(seed)
        obs = rng.uniform(-2, 2, (rows, 1)).astype(np.float32)
        chance = 1 / (1 + np.exp(-3 * obs[:, 0]))
        zeros = jnp.zeros((rows, 1))
        ended = jnp.asarray(rng.random(rows) < chance)
        return Transition(jnp.asarray(obs), zeros, jnp.asarray(obs[:, 0]), jnp.asarray(obs), ended), chance

    model = dynamics.init(config, outputs, jax.random.key(0))
    model, _ = fit(config, outputs, model, ending(0, 4096)[0], jnp.int32(4096), jax.random.key(1))
    new, chance = ending(1, 30_000)
    logits = dynamics.predict(outputs, model, new.obs, new.action).termination
    assert logits is not None
    predicted = np.asarray(jnp.mean(jax.nn.sigmoid(logits), axis=0))
    assert np.abs(predicted - chance).mean() < 0.04
    for low in np.arange(0, 1, 0.2):
        alike = (predicted >= low) & (predicted < low + 0.2)
        assert alike.sum() > 1000
        assert np.asarray(new.terminated)[alike].mean() == pytest.approx(predicted[alike].mean(), abs=0.08)


def test_learned_bounds_move_and_fixed_ones_do_not() -> None:
    for learn in (False, True):
        config = replace(CONFIG, learn_logvar_bounds=learn)
        model = dynamics.init(config, OUTPUTS, jax.random.key(0))
        fitted, _ = refit(model, CAPACITY, 0, config)
        moved = bool(jnp.any(fitted.parameters.max_logvar != model.parameters.max_logvar))
        assert moved is learn
        if learn:
            assert bool(jnp.all(fitted.parameters.max_logvar < model.parameters.max_logvar))


def test_a_refit_that_diverges_is_undone_and_named() -> None:
    model = dynamics.init(CONFIG, OUTPUTS, jax.random.key(0))
    wild = data(0)._replace(reward=jnp.full(CAPACITY, 1e30).at[::2].set(-1e30))
    fitted, info = fit(CONFIG, OUTPUTS, model, wild, jnp.int32(CAPACITY), jax.random.key(0))
    assert np.any(info["model/diverged"])
    jax.tree.map(np.testing.assert_array_equal, fitted.parameters, model.parameters)
    _, info = refit(fitted, CAPACITY, 1)
    assert not np.any(info["model/diverged"]) and np.isfinite(info["model/validation_mse"])


def test_a_refit_to_huge_but_finite_weights_is_undone_too() -> None:
    """One step of this size leaves finite weights whose predictions overflow."""
    config = replace(CONFIG, learning_rate=1e30, gradient_steps=1)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    fitted, info = refit(model, CAPACITY, 0, config)
    assert np.any(info["model/diverged"])
    jax.tree.map(np.testing.assert_array_equal, fitted.parameters, model.parameters)


def test_elites_are_the_members_that_validate_best() -> None:
    config = replace(CONFIG, elites=2)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    spoilt = model.parameters.networks.biases[-1].at[1, 0].set(50.0)
    networks = replace(model.parameters.networks, biases=(*model.parameters.networks.biases[:-1], spoilt))
    fitted, _ = refit(
        model._replace(parameters=model.parameters._replace(networks=networks)), CAPACITY, 0, config
    )
    assert sorted(fitted.elites.tolist()) == [0, 2]


def test_soft_bounds() -> None:
    """Vectors of the reference facts, section 16."""
    from macura.dynamics.model import soft_bound

    raw = jnp.array([[-20.0], [-10.0], [-5.0], [0.0], [0.5], [3.0]])
    bounded = soft_bound(raw, jnp.array([-10.0]), jnp.array([0.5]))[:, 0]
    expected = [-9.999955, -9.306867, -4.997336, -0.474004, -0.193092, 0.421140]
    np.testing.assert_allclose(bounded, expected, rtol=2e-6)


@pytest.mark.timeout(120)
def test_a_single_row_ends_a_refit_that_waits_for_steps() -> None:
    """It validates, so nothing is left to train on, and the fewest steps would never come."""
    model = dynamics.init(CONFIG, OUTPUTS, jax.random.key(0))
    fitted, info = refit(model, 1, 0, replace(CONFIG, fewest_steps=50))
    assert int(info["model/gradient_steps"]) == 0
    jax.tree.map(np.testing.assert_array_equal, fitted.parameters, model.parameters)
