"""Initial weights, one layer at a time."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import PRNGKey

Initialiser = Callable[[PRNGKey, int, int], Float[Array, "fan_in fan_out"]]


def xavier_uniform(key: PRNGKey, fan_in: int, fan_out: int) -> Float[Array, "fan_in fan_out"]:
    """U(-l, l) with l = sqrt(6 / (fan_in + fan_out))."""
    limit = math.sqrt(6 / (fan_in + fan_out))
    return jax.random.uniform(key, (fan_in, fan_out), jnp.float32, -limit, limit)


def truncated_normal(key: PRNGKey, fan_in: int, fan_out: int) -> Float[Array, "fan_in fan_out"]:
    """N(0, s^2) redrawn until |w| <= 2s, with s = 1 / (2 sqrt(fan_in))."""
    std = 1 / (2 * math.sqrt(fan_in))
    return std * jax.random.truncated_normal(key, -2.0, 2.0, (fan_in, fan_out), jnp.float32)
