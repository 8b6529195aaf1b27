"""What every gate must do, whatever it decides."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import replay
from macura.rollout import FixedHorizon, KeepAll, Ranked, RolloutConfig, Threshold, unroll
from tests.fakes.rollout import random_world, read, unroll_written, written_step

ROLLOUTS, LONGEST = 7, 4
GATES = [KeepAll(), Threshold(1.2, 0.8, window=2), Threshold(fixed=1.0), Ranked(), Ranked(stop=True)]
pytestmark = pytest.mark.parametrize("gate", GATES, ids=str)


def config_of(gate):
    return RolloutConfig(rollouts=ROLLOUTS, horizon=FixedHorizon(LONGEST), gate=gate, chunk=3)


def tables(seed):
    world = random_world(np.random.default_rng(seed), LONGEST, ROLLOUTS, few_values=False)
    return jnp.asarray(world.u), jnp.asarray(world.finite), jnp.asarray(world.terminated)


def test_compiled_once_for_all_horizons_and_rounds_and_the_same_as_not_compiled(gate):
    traces = []

    @jax.jit
    def run(*arguments):
        traces.append(1)
        return unroll_written(config_of(gate), *arguments)

    state, plain = gate.init(), gate.init()
    for round_, horizon in enumerate((4, 1, 3)):
        log, state, info = run(state, *tables(round_), jnp.int32(horizon))
        with jax.disable_jit():
            plain_log, plain, plain_info = unroll_written(
                config_of(gate), plain, *tables(round_), jnp.int32(horizon)
            )
        assert read(log)[0] == read(plain_log)[0]
        assert info.keys() == plain_info.keys()
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), (state, info), (plain, plain_info)
        )
    assert len(traces) == 1


def test_state_keeps_its_form(gate):
    state = gate.init()
    after, passes = gate.decide(state, jnp.arange(5.0), jnp.int32(0), jnp.int32(3))
    assert jax.tree.structure(after) == jax.tree.structure(state)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), after) == jax.tree.map(
        lambda x: (x.shape, x.dtype), state
    )
    assert passes.shape == (5,) and passes.dtype == jnp.bool_


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes_and_poisons_nothing(gate, strange):
    decide = jax.jit(lambda u: gate.decide(gate.init(), u, jnp.int32(0), jnp.int32(9)))
    u = jnp.asarray([0.5, 0.25, 0.75, 0.5, 0.1, 0.9, 0.3])
    state, passes = decide(u.at[2].set(strange))
    assert not passes[2] and passes[jnp.argmin(u)]
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))
    state, passes = decide(jnp.full(7, strange))
    assert not passes.any()
    jax.tree.map(np.testing.assert_array_equal, state, gate.init())


def test_a_round_without_a_finite_prediction_stores_nothing_and_stops_at_once(gate):
    run = jax.jit(lambda *tables: unroll_written(config_of(gate), gate.init(), *tables))
    shape = (LONGEST, ROLLOUTS)
    everything, nothing = jnp.ones(shape, jnp.bool_), jnp.zeros(shape, jnp.bool_)
    for u, finite in ((jnp.full(shape, jnp.nan), everything), (jnp.ones(shape), nothing)):
        log, state, info = run(u, finite, nothing, jnp.int32(LONGEST))
        assert read(log)[0] == []
        assert int(info["rollout/nonfinite"]) == ROLLOUTS and int(info["rollout/stored"]) == 0
        assert info["rollout/lengths"].tolist() == [ROLLOUTS] + [0] * LONGEST
        jax.tree.map(np.testing.assert_array_equal, state, gate.init())
        finite_info = {name: value for name, value in info.items() if name != "rollout/uncertainty_quantiles"}
        assert all(np.isfinite(value).all() for value in finite_info.values())


def test_a_round_in_which_nothing_is_kept_ages_nothing(gate):
    """The data of earlier rounds stays exactly as it is."""
    ring_config = replay.RingConfig(rounds_kept=1)
    width = replay.width(2, 1)

    @jax.jit
    def run(ring, u, finite):
        step = written_step(u, finite, jnp.zeros_like(finite))
        starts = jnp.stack([jnp.arange(float(ROLLOUTS)), jnp.zeros(ROLLOUTS)], axis=1)

        def emit(ring, transition, keep):
            return replay.append(ring_config, ring, replay.pack(transition), keep, 50)

        ring = replay.begin_round(ring)
        ring, _, _ = unroll(
            config_of(gate), step, gate.init(), starts, jnp.int32(LONGEST), jax.random.key(0), emit, ring
        )
        return replay.end_round(ring)

    u = jnp.tile(jnp.arange(float(ROLLOUTS)), (LONGEST, 1)) / 10
    everything = jnp.ones(u.shape, jnp.bool_)
    filled = run(replay.init_ring(ring_config, 50, width), u, everything)
    assert int(filled.count) > 0
    same = run(filled, u, ~everything)
    for piece, before in zip(replay.trim_ring(same).rows, replay.trim_ring(filled).rows, strict=True):
        np.testing.assert_array_equal(piece, before)
    assert same.round_counts.tolist() == filled.round_counts.tolist()
    again = run(same, u, everything)  # L = 1: a round that stores takes the place of the one before
    assert int(again.count) == int(filled.count)
