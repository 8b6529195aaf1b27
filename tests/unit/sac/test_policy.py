"""The squashed Gaussian: its density integrates to one in the environment's units, and the noted number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import sac
from macura.nn import MLP
from macura.sac import policy


def one_action(mean, log_std, scale):
    """A policy that ignores its single observation."""
    actor = MLP((jnp.zeros((1, 2)),), (jnp.array([mean, log_std], jnp.float32),))
    return sac.Policy(actor, jnp.array([scale], jnp.float32))


def test_log_prob_of_the_noted_number():
    epsilon = (0.8 - 0.3) / np.exp(-0.5)
    action, log_pi = policy.act_with_log_prob(
        one_action(0.3, -0.5, 0.4), jnp.zeros((1, 1)), jnp.full((1, 1), epsilon, jnp.float32), False
    )
    assert float(0.4 * action[0, 0]) == pytest.approx(0.2656147081, abs=1e-6)
    assert float(log_pi[0]) == pytest.approx(0.7390696189, abs=1e-5)


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.0])
def test_density_integrates_to_one(scale):
    mean, std = 0.3, np.exp(-0.5)
    a = np.tanh(np.linspace(-6, 6, 4001)) * scale
    x = np.arctanh(a / scale)[:, None]
    given = (x, (x - mean) / std, np.full_like(x, -0.5))
    log_pi = policy.log_prob(*(jnp.asarray(v, jnp.float32) for v in given), jnp.array([scale], jnp.float32))
    total = np.trapezoid(np.exp(log_pi), a)
    assert total == pytest.approx(1.0, abs=1e-3)


def test_actions_stay_inside_and_zero_noise_is_the_mean():
    chosen = one_action(50.0, 1.0, 1.0)
    obs = jnp.zeros((4, 1))
    assert np.abs(sac.act(chosen.actor, obs, jnp.full((4, 1), 9.0), 0)).max() <= 1.0
    middle = one_action(0.3, -0.5, 1.0)
    np.testing.assert_allclose(sac.act(middle.actor, obs, jnp.zeros((4, 1)), 0), np.tanh(0.3), rtol=1e-6)


@pytest.mark.parametrize(("raw", "clipped"), [(5.0, 2.0), (-30.0, -20.0), (0.7, 0.7)])
def test_log_std_is_clipped(raw, clipped):
    _, log_std = policy.distribution(one_action(0.0, raw, 1.0).actor, jnp.zeros((1, 1)), 0)
    assert float(log_std[0, 0]) == pytest.approx(clipped)


def test_saturated_actions_have_finite_log_probs_and_gradients():
    def total(bias):
        actor = MLP((jnp.zeros((1, 2)),), (bias,))
        pair = sac.Policy(actor, jnp.ones(1))
        return policy.act_with_log_prob(pair, jnp.zeros((1, 1)), jnp.full((1, 1), 3.0), 0)[1].sum()

    value, gradient = jax.value_and_grad(total)(jnp.array([40.0, 2.0]))
    assert np.isfinite(value) and np.isfinite(gradient).all()


@pytest.mark.parametrize("x", [-9.0, -5.0, 0.0, 3.0, 7.0, 12.0])
def test_log_prob_keeps_its_digits_where_actions_saturate(x):
    def total(x):
        return policy.log_prob(x[None], jnp.zeros((1, 1)), jnp.zeros((1, 1)), jnp.full(1, 0.4))[0]

    value, slope = jax.value_and_grad(total)(jnp.array([x], jnp.float32))
    steepness = 0.4 / np.cosh(x) ** 2
    assert float(value) == pytest.approx(-0.5 * np.log(2 * np.pi) - np.log(steepness + 1e-6), rel=1e-5)
    exact = 2 * np.tanh(x) * steepness / (steepness + 1e-6)
    assert float(slope[0]) == pytest.approx(exact, rel=1e-4, abs=1e-6)
