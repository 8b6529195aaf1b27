"""M2AC's measure: how far the member that predicts is from the mixture of the others."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

SERIES_BELOW = 0.05


def one_vs_rest(
    mean: Float[Array, "member *batch out"],
    logvar: Float[Array, "member *batch out"],
    member: Int[Array, "*batch"],
) -> Float[Array, "*batch"]:
    """u_OvR = KL(N_e || N_-e), e = `member` of each row, N_-e with the moments of the mixture of the others.

    Everything is taken relative to member e, so that large means and small variances do not cancel. With
    d = mu_-e - mu_e and r = v_-e / v_e, u = 1/2 sum over outputs of [log r - 1 + 1 / r + d^2 / v_-e].
    """
    members = mean.shape[0]
    index = member[None, ..., None]
    own_mean = jnp.take_along_axis(mean, index, axis=0)
    own_logvar = jnp.take_along_axis(logvar, index, axis=0)
    weight = (jnp.arange(members).reshape(-1, *(1,) * (mean.ndim - 1)) != index) / (members - 1)

    offset = mean - own_mean
    distance = jnp.sum(weight * offset, axis=0)
    scatter = jnp.square(offset - distance) * jnp.exp(-own_logvar)
    ratio = jnp.sum(weight * (jnp.exp(logvar - own_logvar) + scatter), axis=0)
    excess = jnp.sum(weight * (jnp.expm1(logvar - own_logvar) + scatter), axis=0)
    squared = jnp.square(distance) * jnp.exp(-own_logvar[0]) / ratio
    return 0.5 * jnp.sum(_variance_term(ratio, excess) + squared, axis=-1)


def _variance_term(r: Float[Array, "..."], t: Float[Array, "..."]) -> Float[Array, "..."]:
    """log r - 1 + 1 / r; where its terms nearly cancel, its series in t = r - 1, free of rounding."""
    series = jnp.square(t) * (1 / 2 - t * (2 / 3 - t * (3 / 4 - t * (4 / 5 - t * (5 / 6)))))
    return jnp.where(jnp.abs(t) < SERIES_BELOW, series, jnp.log(r) - 1 + 1 / r)
