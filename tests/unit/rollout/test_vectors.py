"""Numbers computed by hand from the paper's equations and the settings published with it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura.rollout import Ranked, Threshold
from macura.training import ProportionalUpdates


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_kappa_is_the_running_mean_of_scaled_quantiles(scale):
    gate = Threshold(scale=scale)
    state, kappas = gate.init(), []
    for b in (10.0, 4.0, 1.0):
        state = gate.adapt(state, jnp.full(100, b / scale))
        kappas.append(float(state.kappa))
    assert kappas == [10.0, 7.0, 5.0]


def test_quantile_is_interpolated_linearly():
    u = np.random.default_rng(0).permutation(np.arange(11.0, dtype=np.float32))
    assert float(Threshold(quantile=0.95).adapt(Threshold().init(), jnp.asarray(u)).kappa) == pytest.approx(
        9.5
    )
    many = np.random.default_rng(1).lognormal(size=10_007).astype(np.float32)
    kappa = Threshold(quantile=0.95).adapt(Threshold().init(), jnp.asarray(many)).kappa
    np.testing.assert_allclose(kappa, np.percentile(many.astype(np.float64), 95), rtol=1e-6)


def test_window_of_2000_rounds_slides():
    gate = Threshold(quantile=0.5)
    step = jax.jit(lambda state, b: (gate.adapt(state, b[None]), None))
    b = np.random.default_rng(2).lognormal(size=2500).astype(np.float32)
    state, _ = jax.lax.scan(step, gate.init(), jnp.asarray(b))
    np.testing.assert_allclose(state.kappa, b[-2000:].astype(np.float64).mean(), rtol=1e-5)


def test_m2ac_keeps_these_counts_of_100_000():
    u = jnp.asarray(np.random.default_rng(3).permutation(100_000).astype(np.float32))
    keep = jax.jit(lambda u, h: Ranked().decide(Ranked().init(), u, h, jnp.int32(10))[1])
    counts = [int(keep(u, jnp.int32(h)).sum()) for h in range(10)]
    assert counts == [45454, 40909, 36363, 31818, 27272, 22727, 18181, 13636, 9090, 4545]
    assert sum(counts) == 249_995


def test_updates_follow_the_fill_of_the_buffer():
    nearest, down = ProportionalUpdates(60, rounding="nearest"), ProportionalUpdates(60, rounding="down")
    assert [nearest.at(n, 12_000_000) for n in (5_000_000, 5_150_000)] == [25, 26]
    assert [down.at(n, 12_000_000) for n in (5_000_000, 5_150_000)] == [25, 25]
