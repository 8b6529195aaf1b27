"""The squashed Gaussian policy: a = tanh(mu(s) + sigma(s) eps), in [-1, 1]."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import PRNGKey
from macura.nn import MLP, mlp, xavier_uniform

LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0
SQUASH_EPSILON = 1e-6


class Policy(NamedTuple):
    """Everything needed to act. `action_scale` is half the range of each action in the environment's units."""

    actor: MLP
    action_scale: Float[Array, "act"]


def init_actor(key: PRNGKey, obs_dim: int, act_dim: int, hidden: list[int]) -> MLP:
    """Hidden layers and two heads, mean and log-std, each Xavier-initialised on its own and then joined."""
    body_key, mean_key, log_std_key = jax.random.split(key, 3)
    body = mlp.init(body_key, [obs_dim, *hidden], xavier_uniform)
    heads = [xavier_uniform(head_key, hidden[-1], act_dim) for head_key in (mean_key, log_std_key)]
    return MLP(
        weights=(*body.weights, jnp.concatenate(heads, axis=1)),
        biases=(*body.biases, jnp.zeros(2 * act_dim, jnp.float32)),
    )


def distribution(
    actor: MLP, obs: Float[Array, "*batch obs"], normalised: int
) -> tuple[Float[Array, "*batch act"], Float[Array, "*batch act"]]:
    """Mean and log-std of the Gaussian before squashing; log-std clipped to [-20, 2]."""
    mean, log_std = jnp.split(mlp.apply(actor, obs, jax.nn.relu, normalised), 2, axis=-1)
    return mean, jnp.clip(log_std, LOG_STD_MIN, LOG_STD_MAX)


def act(
    actor: MLP, obs: Float[Array, "*batch obs"], epsilon: Float[Array, "*batch act"], normalised: int
) -> Float[Array, "*batch act"]:
    """tanh(mu + sigma epsilon); epsilon = 0 is the deterministic action."""
    mean, log_std = distribution(actor, obs, normalised)
    return jnp.tanh(mean + jnp.exp(log_std) * epsilon)


def act_with_log_prob(
    policy: Policy, obs: Float[Array, "*batch obs"], epsilon: Float[Array, "*batch act"], normalised: int
) -> tuple[Float[Array, "*batch act"], Float[Array, "*batch"]]:
    """The action in [-1, 1] and its log-density in the environment's action units."""
    mean, log_std = distribution(policy.actor, obs, normalised)
    x = mean + jnp.exp(log_std) * epsilon
    return jnp.tanh(x), log_prob(x, epsilon, log_std, policy.action_scale)


def log_prob(
    x: Float[Array, "*batch act"],
    epsilon: Float[Array, "*batch act"],
    log_std: Float[Array, "*batch act"],
    action_scale: Float[Array, "act"],
) -> Float[Array, "*batch"]:
    """Sum over actions of log N(x; mu, sigma) - log(s (1 - tanh(x)^2) + 1e-6), with x = mu + sigma epsilon.

    1 - tanh(x)^2 is formed as a product, since 1 - a^2 loses all its digits where actions saturate.
    """
    gaussian = -0.5 * jnp.square(epsilon) - log_std - 0.5 * math.log(2 * math.pi)
    slope = 4 * jax.nn.sigmoid(2 * x) * jax.nn.sigmoid(-2 * x)
    return jnp.sum(gaussian - jnp.log(action_scale * slope + SQUASH_EPSILON), axis=-1)
