"""Sums over unordered pairs of members, and what the pairwise divergences of diagonal Gaussians share."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import Gaussians

PairTerm = Callable[[Gaussians, Gaussians], Float[Array, "..."]]


def mean_over_pairs(
    term: PairTerm, mean: Float[Array, "member *batch out"], logvar: Float[Array, "member *batch out"]
) -> Float[Array, "*batch"]:
    """2 / (E (E - 1)) times the sum over unordered pairs of members and over outputs of a symmetric term.

    Written as one expression over pairs, so that a compiler makes one loop of it that reads each member once.
    """
    members = mean.shape[0]
    if members < 2:
        return jnp.zeros(mean.shape[1:-1], mean.dtype)
    each = [Gaussians(mean[e], logvar[e]) for e in range(members)]
    total = sum(term(each[e], each[f]) for e in range(members) for f in range(e))
    return jnp.sum(total, axis=-1) * (2 / (members * (members - 1)))


def spread(one: Gaussians, other: Gaussians) -> Float[Array, "..."]:
    """q = (v_1 - v_2)^2 / (4 v_1 v_2) = sinh^2((log v_1 - log v_2) / 2): 0 for equal variances."""
    return jnp.square(jnp.sinh(0.5 * (one.logvar - other.logvar)))


def squared_distance(one: Gaussians, other: Gaussians) -> Float[Array, "..."]:
    """(mu_1 - mu_2)^2 / (v_1 + v_2)."""
    return jnp.square(one.mean - other.mean) / (jnp.exp(one.logvar) + jnp.exp(other.logvar))
