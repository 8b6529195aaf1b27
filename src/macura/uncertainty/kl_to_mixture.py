"""The textbook measure, which has no closed form: divergence of each member from the mixture of all."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import PRNGKey


def kl_to_mixture(
    mean: Float[Array, "member *batch out"],
    logvar: Float[Array, "member *batch out"],
    key: PRNGKey,
    samples: int,
) -> Float[Array, "*batch"]:
    """u_KL = sum over e of KL(p_e || 1/E sum_f p_f), estimated with `samples` draws from every member.

    With x = mu_e + sigma_e z, one draw gives log E - log sum_f p_f(x) / p_e(x). The estimate is unbiased,
    never above E log E, and can fall below zero.
    """
    members = mean.shape[0]
    std = jnp.exp(0.5 * logvar)

    def log_sum_of_ratios(e: int, z: Float[Array, "*batch out"]) -> Float[Array, "*batch"]:
        deviation = (mean[e] - mean + std[e] * z) * jnp.exp(-0.5 * logvar)
        log_ratio = 0.5 * jnp.sum(logvar[e] - logvar + jnp.square(z) - jnp.square(deviation), axis=-1)
        return jax.nn.logsumexp(log_ratio, axis=0)

    def add_draw(total: Float[Array, "*batch"], draw_key: PRNGKey) -> tuple[Float[Array, "*batch"], None]:
        z = jax.random.normal(draw_key, mean.shape, mean.dtype)
        return total + sum(log_sum_of_ratios(e, z[e]) for e in range(members)), None

    zero = jnp.zeros(mean.shape[1:-1], mean.dtype)
    total, _ = jax.lax.scan(add_draw, zero, jax.random.split(key, samples))
    return members * jnp.log(jnp.asarray(members, mean.dtype)) - total / samples
