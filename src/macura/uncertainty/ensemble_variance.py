"""Lu et al. 2021: the variance of the mixture of all members, noise and disagreement together."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def ensemble_variance(
    mean: Float[Array, "member *batch out"], logvar: Float[Array, "member *batch out"]
) -> Float[Array, "*batch"]:
    """Frobenius norm of diag(v*), v* = mean_e(v_e + mu_e^2) - mean_e(mu_e)^2 for each output.

    Computed as mean_e(v_e) + mean_e((mu_e - mean mu)^2), and means relative to the first member: the squares
    of large means are never subtracted.
    """
    offset = mean - mean[0]
    scatter = jnp.mean(jnp.square(offset - jnp.mean(offset, axis=0)), axis=0)
    return jnp.linalg.norm(jnp.mean(jnp.exp(logvar), axis=0) + scatter, axis=-1)
