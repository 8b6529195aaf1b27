"""Networks against plain NumPy, and the distributions of their first weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura.nn import mlp, truncated_normal, xavier_uniform

SIZES = (5, 8, 6, 3)
NETWORK = mlp.init(jax.random.key(0), SIZES, xavier_uniform)


def in_numpy(network, x, normalised):
    *hidden, last = zip(network.weights, network.biases, strict=True)
    for place, (weight, bias) in enumerate(hidden):
        x = x @ np.float64(weight) + np.float64(bias)
        if place in normalised:
            x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        x = x / (1 + np.exp(-x))
    return x @ np.float64(last[0]) + np.float64(last[1])


@pytest.mark.parametrize(("count", "normalised"), [(0, ()), (1, (1,)), (2, (0, 1))])
@pytest.mark.parametrize("shape", [(), (4,), (2, 4)], ids=str)
def test_apply(shape, count, normalised):
    x = np.random.default_rng(0).normal(size=(*shape, 5)).astype(np.float32)
    got = mlp.apply(NETWORK, jnp.asarray(x), jax.nn.silu, count)
    np.testing.assert_allclose(got, in_numpy(NETWORK, x, normalised), atol=1e-5)


def test_init():
    assert [w.shape for w in NETWORK.weights] == [(5, 8), (8, 6), (6, 3)]
    assert [b.shape for b in NETWORK.biases] == [(8,), (6,), (3,)]
    assert not any(np.any(bias) for bias in NETWORK.biases)


def test_members_of_an_ensemble_start_independent():
    ensemble = mlp.init_ensemble(jax.random.key(0), 3, SIZES, truncated_normal)
    first = ensemble.weights[0]
    assert first.shape == (3, 5, 8)
    for e in range(3):
        assert not np.any(np.isclose(first[e], first[(e + 1) % 3], atol=1e-7))
        np.testing.assert_array_equal(mlp.member(ensemble, e).weights[0], first[e])


def test_truncated_normal():
    """N(0, s^2) with s = 1 / (2 sqrt(fan_in)), cut at 2 s: its deviation is 0.8796 s."""
    weights = np.asarray(truncated_normal(jax.random.key(0), 100, 2000))
    s = 0.05
    assert np.abs(weights).max() <= 2 * s
    assert weights.std() == pytest.approx(0.8796 * s, rel=0.01)
    assert weights.mean() == pytest.approx(0, abs=1e-3)


def test_xavier_uniform():
    weights = np.asarray(xavier_uniform(jax.random.key(0), 100, 2000))
    limit = np.sqrt(6 / 2100)
    assert np.abs(weights).max() <= limit
    assert weights.std() == pytest.approx(limit / np.sqrt(3), rel=0.01)
