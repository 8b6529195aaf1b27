"""Gates against one-line definitions, on any uncertainties: ties, infinities and NaN included."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from macura.rollout import Ranked, Threshold
from macura.rollout.gates.ranked import smallest
from tests.oracles import rollout as oracle

ROLLOUTS = 9
FLUSHED = 10 * float(np.finfo(np.float32).tiny)
numbers = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0, float("inf"), float("nan")]),
    st.floats(0, 1e6, width=32, allow_subnormal=False),
)
uncertainties = st.lists(numbers, min_size=ROLLOUTS, max_size=ROLLOUTS).map(
    lambda u: np.asarray(u, np.float32)
)

pick = jax.jit(smallest)
GATES = {(xi, zeta): Threshold(xi, zeta, window=3) for xi, zeta in ((2.0, 0.95), (0.3, 0.0), (1.0, 1.0))}
decide = jax.jit(lambda state, u, step, pair: GATES[pair].decide(state, u, step, step + 5), static_argnums=3)


def last_if_nan(u):
    return np.where(np.isnan(u), np.inf, u)


@settings(max_examples=300, deadline=None)
@given(u=uncertainties, count=st.integers(0, ROLLOUTS))
def test_smallest_are_the_first_of_a_stable_sort(u, count):
    order = sorted(range(ROLLOUTS), key=lambda m: (last_if_nan(u)[m], m))
    assert np.flatnonzero(pick(u, jnp.int32(count))).tolist() == sorted(order[:count])


@settings(max_examples=100, deadline=None)
@given(u=uncertainties, h=st.integers(0, 9))
def test_ranked_is_monotone_and_never_keeps_more_than_its_share(u, h):
    horizon = jnp.int32(10)
    _, passes = Ranked().decide(Ranked().init(), jnp.asarray(u), jnp.int32(h), horizon)
    assert passes.sum() <= oracle.m2ac_count(ROLLOUTS, h, 10)
    if passes.any() and not passes.all():
        assert u[passes].max() <= last_if_nan(u)[~passes].min()


@settings(max_examples=100, deadline=None)
@given(rounds=st.lists(uncertainties, min_size=1, max_size=8), pair=st.sampled_from(list(GATES)))
def test_kappa_is_the_mean_of_scaled_quantiles_of_the_last_rounds(rounds, pair):
    gate, state, expected = GATES[pair], GATES[pair].init(), oracle.Kappa(*pair, window=3)
    for u in rounds:
        state, passes = decide(state, jnp.asarray(u), jnp.int32(0), pair)
        # JAX flushes subnormal numbers to zero, NumPy keeps them.
        np.testing.assert_allclose(state.kappa, expected.update(u), rtol=1e-5, atol=FLUSHED)
        assert passes.tolist() == (u < np.float32(state.kappa)).tolist()
        later, _ = decide(state, jnp.asarray(u * 2), jnp.int32(1), pair)
        assert float(later.kappa) == float(state.kappa)  # only first steps count
    assert gate.window == 3


@settings(max_examples=100, deadline=None)
@given(u=uncertainties, seed=st.integers(0, 2**16), pair=st.sampled_from(list(GATES)))
def test_threshold_does_not_care_about_the_order_of_rollouts(u, seed, pair):
    order = np.random.default_rng(seed).permutation(ROLLOUTS)
    init = GATES[pair].init()
    state, passes = decide(init, jnp.asarray(u), jnp.int32(0), pair)
    other, reordered = decide(init, jnp.asarray(u[order]), jnp.int32(0), pair)
    assert float(other.kappa) == float(state.kappa)
    assert reordered.tolist() == passes[order].tolist()
