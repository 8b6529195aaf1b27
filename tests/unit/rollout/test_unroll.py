"""The unroll against loops over rollouts and steps, in worlds that are written down beforehand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import rollout
from macura.core import Transition
from macura.rollout import FixedHorizon, Imagined, KeepAll, Ranked, RolloutConfig, Threshold
from tests.fakes.rollout import random_world, read, unroll_written
from tests.oracles import rollout as oracle

ROLLOUTS, LONGEST, CHUNK, ROUNDS = 13, 6, 4, 500


def config_of(gate):
    return RolloutConfig(rollouts=ROLLOUTS, horizon=FixedHorizon(LONGEST), gate=gate, chunk=CHUNK)


def worlds(seed):
    rng = np.random.default_rng(seed)
    for number in range(ROUNDS):
        yield random_world(rng, LONGEST, ROLLOUTS, few_values=number % 2), int(rng.integers(1, LONGEST + 1))


def check(outcome, world, log, info):
    stored, ended, rewards = read(log)
    assert stored == outcome.stored
    assert ended == [int(world.terminated[t, m]) for t, m in stored]
    assert rewards.tolist() == [100.0 * t + m for t, m in stored]
    assert int(info["rollout/stored"]) == len(stored)
    assert info["rollout/lengths"].tolist() == outcome.lengths(ROLLOUTS, LONGEST)
    np.testing.assert_allclose(info["rollout/mean_length"], len(stored) / ROLLOUTS, rtol=1e-6)
    np.testing.assert_allclose(info["rollout/stopped_by_gate"] * ROLLOUTS, outcome.by_gate, atol=1e-5)
    np.testing.assert_allclose(
        info["rollout/stopped_by_termination"] * ROLLOUTS, outcome.by_termination, atol=1e-5
    )
    assert int(info["rollout/nonfinite"]) == outcome.nonfinite
    u = [world.u[t, m] for t, m in stored]
    mean = np.mean(u, dtype=np.float64) if u else 0.0
    np.testing.assert_allclose(info["rollout/uncertainty_mean"], mean, rtol=1e-5)
    np.testing.assert_allclose(info["rollout/mean_variance"], 2 * mean, rtol=1e-5)
    first = [u for m, u in enumerate(world.u[0]) if world.is_finite(0, m)]
    if first:
        expected = np.quantile(np.asarray(first, np.float64), [0.05, 0.25, 0.5, 0.75, 0.95])
        np.testing.assert_allclose(info["rollout/uncertainty_quantiles"], expected, rtol=1e-5)


def tables(world):
    return jnp.asarray(world.u), jnp.asarray(world.finite), jnp.asarray(world.terminated)


def compiled(config):
    return jax.jit(lambda state, *world: unroll_written(config, state, *world))


def test_keep_all_is_algorithm_1():
    run = compiled(config_of(KeepAll()))
    for world, horizon in worlds(1):
        log, _, info = run(KeepAll().init(), *tables(world), horizon)
        check(oracle.mbpo_round(world, horizon), world, log, info)


@pytest.mark.parametrize(
    "gate", [Threshold(1.3, 0.9, window=3), Threshold(0.7, 0.5), Threshold(3.0, 1.0, window=1)]
)
def test_threshold_is_algorithm_2_with_kappa_over_many_rounds(gate):
    run, state = compiled(config_of(gate)), gate.init()
    kappa = oracle.Kappa(gate.scale, gate.quantile, gate.window)
    for world, horizon in worlds(2):
        log, state, info = run(state, *tables(world), horizon)
        valid = [u if world.is_finite(0, m) else np.nan for m, u in enumerate(world.u[0])]
        np.testing.assert_allclose(info["rollout/kappa"], kappa.update(valid), rtol=1e-5)
        # A tie with kappa is decided by the last digit of a mean: both sides use the same one.
        check(oracle.macura_round(world, horizon, np.float32(info["rollout/kappa"])), world, log, info)


def test_fixed_kappa_never_adapts_and_is_strict():
    gate = Threshold(fixed=1.5)
    run, state = compiled(config_of(gate)), gate.init()
    for world, horizon in worlds(3):
        log, state, info = run(state, *tables(world), horizon)
        assert float(info["rollout/kappa"]) == 1.5
        check(oracle.macura_round(world, horizon, 1.5), world, log, info)


@pytest.mark.parametrize("stop", [False, True])
def test_ranked_keeps_the_least_uncertain_of_every_step(stop):
    run = compiled(config_of(Ranked(stop)))
    for world, horizon in worlds(4):
        log, _, info = run(Ranked().init(), *tables(world), horizon)
        check(oracle.m2ac_round(world, horizon, stop), world, log, info)


@pytest.mark.parametrize("chunk", [1, 5, None])
def test_chunks_change_nothing(chunk):
    world = random_world(np.random.default_rng(5), LONGEST, ROLLOUTS, few_values=True)
    gate = Threshold(2.0, 0.8)
    config = RolloutConfig(rollouts=ROLLOUTS, horizon=FixedHorizon(LONGEST), gate=gate, chunk=chunk)
    log, state, info = unroll_written(config, gate.init(), *tables(world), jnp.int32(LONGEST))
    check(oracle.macura_round(world, LONGEST, np.float32(state.kappa)), world, log, info)


def test_every_row_and_step_has_random_numbers_of_its_own_and_a_key_repeats_the_round():
    config = RolloutConfig(rollouts=10, horizon=FixedHorizon(5), gate=KeepAll(), chunk=3)

    def step(obs, key):
        draw = jax.random.uniform(key, (obs.shape[0],))
        zeros = jnp.zeros(obs.shape[0])
        return Imagined(Transition(obs, obs, draw, obs, draw < 0.1), zeros, zeros)

    def emit(draws, transition, keep):
        place = jnp.where(keep, jnp.sum(draws > 0) + jnp.cumsum(keep) - 1, draws.shape[0])
        return draws.at[place].set(transition.reward, mode="drop")

    @jax.jit
    def run(key):
        return rollout.unroll(
            config, step, KeepAll().init(), jnp.zeros((10, 1)), jnp.int32(5), key, emit, jnp.zeros(50)
        )

    draws, _, info = run(jax.random.key(0))
    stored = int(info["rollout/stored"])
    assert 10 < stored < 50
    assert len(set(draws[:stored].tolist())) == stored
    assert run(jax.random.key(0))[0].tolist() == draws.tolist()
    assert run(jax.random.key(1))[0].tolist() != draws.tolist()


def test_broken_predictions_are_counted_by_output():
    """Rollouts 0 to 4 break at step 1, in an observation, the reward, both, or the uncertainty alone."""
    nan, inf = jnp.nan, jnp.inf
    config = RolloutConfig(rollouts=6, horizon=FixedHorizon(3), gate=KeepAll(), chunk=4)

    def step(obs, key):
        m, t = obs[:, 0].astype(jnp.int32), obs[:, 1]
        broken = t == 1
        next_obs = jnp.stack([obs[:, 0], jnp.where(broken & ((m == 0) | (m == 2)), nan, t + 1)], axis=1)
        reward = jnp.where(broken & ((m == 1) | (m == 2) | (m == 4)), -inf, 0.0)
        u = jnp.where(broken & (m == 3), nan, 0.0)
        return Imagined(Transition(obs, obs, reward, next_obs, t < 0), u, jnp.zeros(obs.shape[0]))

    starts = jnp.stack([jnp.arange(6.0), jnp.zeros(6)], axis=1)
    stored, _, info = rollout.unroll(
        config,
        step,
        KeepAll().init(),
        starts,
        jnp.int32(3),
        jax.random.key(0),
        lambda sink, transition, keep: sink + jnp.sum(keep),
        jnp.int32(0),
    )
    assert int(stored) == 5 * 1 + 3
    assert int(info["rollout/nonfinite"]) == 5
    assert info["rollout/nonfinite_outputs"].tolist() == [0, 2, 3]


def test_rows_that_stopped_are_not_predicted_again():
    calls = []
    config = RolloutConfig(rollouts=40, horizon=FixedHorizon(10), gate=Threshold(fixed=1.0), chunk=4)

    def step(obs, key):
        jax.debug.callback(lambda obs: calls.append(np.asarray(obs[:, 0])), obs)
        zeros = jnp.zeros(obs.shape[0])
        u = jnp.where(obs[:, 0] < 4, 0.0, 2.0)
        return Imagined(Transition(obs, obs, zeros, obs, zeros > 0), u, zeros)

    starts = jnp.arange(40.0)[:, None]

    def emit(sink, transition, keep):
        return sink + jnp.sum(keep)

    run = jax.jit(
        lambda: rollout.unroll(
            config, step, config.gate.init(), starts, jnp.int32(10), jax.random.key(0), emit, jnp.int32(0)
        )
    )
    stored, _, _ = run()
    jax.effects_barrier()
    assert int(stored) == 40  # four rollouts of ten steps
    assert len(calls) == 10 + 9  # ten chunks for all rows, then one for those that live
