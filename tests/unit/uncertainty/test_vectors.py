"""Three two-dimensional Gaussians, and the numbers that follow from the formulas in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from macura import uncertainty
from tests.oracles import uncertainty as oracle

MEAN = np.array([[0.0, 1.0], [0.5, 0.0], [1.0, -1.0]])
LOGVAR = np.log([[1.0, 0.5], [2.0, 0.5], [0.25, 4.0]])
PAIRS = {"AB": [0, 1], "AC": [0, 2], "BC": [1, 2]}


def close(expected):
    return pytest.approx(expected, rel=1e-5)


def members(which):
    return jnp.asarray(MEAN[which], jnp.float32), jnp.asarray(LOGVAR[which], jnp.float32)


@pytest.mark.parametrize(
    ("name", "pairs", "whole"),
    [
        ("geometric_js_dual", {"AB": 0.3002790922, "AC": 0.7659723108, "BC": 0.5476899593}, 0.5379804541),
        ("geometric_js", {"AB": 0.3090959078, "AC": 2.0309026892, "BC": 1.4054350407}, 1.2484778792),
    ],
)
def test_pairwise(name, pairs, whole):
    function, twin = getattr(uncertainty, name), getattr(oracle, name)
    for pair, expected in pairs.items():
        assert float(function(*members(PAIRS[pair]))) == close(expected)
        assert twin(MEAN[PAIRS[pair]], LOGVAR[PAIRS[pair]]) == pytest.approx(expected, abs=1e-9)
    assert float(function(*members([0, 1, 2]))) == close(whole)
    assert twin(MEAN, LOGVAR) == pytest.approx(whole, abs=1e-9)


def test_hellinger():
    h = np.sqrt(1 - np.exp(-float(uncertainty.geometric_js_dual(*members([0, 1])))))
    assert h == close(0.5093019803)
    assert np.sqrt(2) * h == close(0.7202617679)


@pytest.mark.parametrize(("member", "expected"), [(0, 1.0985388215), (1, 0.7423420216), (2, 3.5059691818)])
def test_one_vs_rest(member, expected):
    assert float(uncertainty.one_vs_rest(*members([0, 1, 2]), jnp.int32(member))) == close(expected)
    assert oracle.one_vs_rest(MEAN, LOGVAR, member) == pytest.approx(expected, abs=1e-9)


def test_variances():
    assert float(uncertainty.mean_variance(*members([0, 1, 2]))) == close(0.8333333333)
    assert float(uncertainty.ensemble_variance(*members([0, 1, 2]))) == close(2.6470633624)
    assert oracle.mean_variance(MEAN, LOGVAR) == pytest.approx(0.8333333333, abs=1e-9)
    assert oracle.ensemble_variance(MEAN, LOGVAR) == pytest.approx(2.6470633624, abs=1e-9)


def test_kl_to_mixture_converges_to_the_integral():
    mean, std = np.array([0.0, 1.0]), np.array([1.0, 0.5])
    x = np.linspace(-9, 9, 20001)
    densities = np.stack([norm.pdf(x, m, s) for m, s in zip(mean, std, strict=True)])
    exact = sum(np.trapezoid(p * np.log(p / densities.mean(0)), x) for p in densities)
    arrays = jnp.asarray(mean[:, None], jnp.float32), jnp.asarray(2 * np.log(std)[:, None], jnp.float32)
    estimate = uncertainty.kl_to_mixture(*arrays, jax.random.key(0), 20_000)
    assert float(estimate) == pytest.approx(exact, rel=0.02)


def test_kl_to_mixture_ends():
    """Zero for equal members, E log E for members that share no mass."""
    key = jax.random.key(0)
    same = jnp.zeros((3, 2)), jnp.zeros((3, 2))
    assert float(uncertainty.kl_to_mixture(*same, key, 4)) == pytest.approx(0, abs=1e-5)
    apart = jnp.array([0.0, 100.0, 200.0])[:, None] * jnp.ones((3, 2)), jnp.zeros((3, 2))
    assert float(uncertainty.kl_to_mixture(*apart, key, 4)) == close(3 * np.log(3))


def test_a_single_member_has_nobody_to_disagree_with():
    one = members([0])
    for name in ("geometric_js", "geometric_js_dual", "mean_variance"):
        assert float(getattr(uncertainty, name)(*one)) == 0
