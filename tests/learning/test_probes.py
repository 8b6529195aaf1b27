"""Five tasks so small that every value is known; each tests one more piece of the agent than the one before."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import sac
from macura.core import Transition

ROWS, UPDATES, DISCOUNT = 64, 1500, 0.5


def constant(obs, action):
    """Every step ends the episode and pays 1."""
    return jnp.ones_like(obs), obs, jnp.ones_like(obs, jnp.bool_)


def by_observation(obs, action):
    """The reward is the observation, -1 or 1."""
    return obs, obs, jnp.ones_like(obs, jnp.bool_)


def two_steps(obs, action):
    """From -1 to 1 for nothing, then 1 and the end."""
    return (obs + 1) / 2, jnp.ones_like(obs), obs > 0


def by_action(obs, action):
    """Best is the action 0.3."""
    return 1 - jnp.square(action - 0.3), obs, jnp.ones_like(obs, jnp.bool_)


def by_both(obs, action):
    """Best is the action with the sign of the observation."""
    return 1 - jnp.square(action - 0.5 * obs), obs, jnp.ones_like(obs, jnp.bool_)


KNOWN = (
    (constant, (1, 1)),
    (by_observation, (-1, 1)),
    (two_steps, (DISCOUNT, 1)),
    (by_action, (1, 1)),
    (by_both, (1, 1)),
)
"""Every probe with the values of the best policy in the states -1 and 1."""
PROBES = tuple(probe for probe, _ in KNOWN)


def train(config, probe):
    """All updates in one program; the probe is a run-time number, so that one program serves all."""

    def one(i, learner):
        obs_key, action_key, noise_key = jax.random.split(jax.random.fold_in(jax.random.key(1), i), 3)
        obs = jnp.where(jax.random.bernoulli(obs_key, 0.5, (ROWS,)), 1.0, -1.0)
        action = jax.random.uniform(action_key, (ROWS,), minval=-1, maxval=1)
        reward, next_obs, ends = jax.lax.switch(probe, PROBES, obs, action)
        batch = Transition(obs[:, None], action[:, None], reward, next_obs[:, None], ends)
        return sac.update(config, learner, batch, jax.random.normal(noise_key, (2, ROWS, 1)))[0]

    learner = sac.init(config, 1, jnp.ones(1), jax.random.key(0))
    return jax.lax.fori_loop(0, UPDATES, one, learner)


program = jax.jit(train, static_argnums=0)
CONFIG = sac.SACConfig(
    width=32, learning_rate=3e-3, batch_size=ROWS, discount=DISCOUNT, target_rate=0.05, fixed_alpha=1e-3
)


def values(learner):
    """min Q of the policy's own action, and that action, in the states -1 and 1."""
    obs = jnp.array([[-1.0], [1.0]])
    action = sac.act(learner.policy.actor, obs, jnp.zeros((2, 1)), 0)
    return np.asarray(sac.q_values(CONFIG, learner.critics, obs, action).min(0)), np.asarray(action[:, 0])


@pytest.mark.parametrize(("probe", "value"), KNOWN, ids=lambda x: getattr(x, "__name__", ""))
def test_values_are_known(probe, value):
    learner = program(CONFIG, PROBES.index(probe))
    got, action = values(learner)
    np.testing.assert_allclose(got, value, atol=0.1)
    if probe is by_action:
        np.testing.assert_allclose(action, 0.3, atol=0.1)
    if probe is by_both:
        np.testing.assert_allclose(action, (-0.5, 0.5), atol=0.1)


def test_the_learned_temperature_holds_the_entropy_it_aims_at():
    config = sac.SACConfig(
        width=32, learning_rate=3e-3, batch_size=ROWS, discount=DISCOUNT, target_rate=0.05, target_entropy=0.0
    )
    learner = program(config, PROBES.index(by_both))
    obs, epsilon = jnp.array([[-1.0], [1.0]]).repeat(4096, 0), jax.random.normal(jax.random.key(5), (8192, 1))
    _, log_pi = sac.policy.act_with_log_prob(learner.policy, obs, epsilon, 0)
    assert float(-log_pi.mean()) == pytest.approx(0.0, abs=0.15)
    assert 1e-3 < float(jnp.exp(learner.log_alpha)) < 0.5
