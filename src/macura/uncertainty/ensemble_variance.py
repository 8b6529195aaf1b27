"""Lu et al. 2021: the variance of the mixture of all members, noise and disagreement together."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def ensemble_variance(
    mean: Float[Array, "member *batch out"], logvar: Float[Array, "member *batch out"]
) -> Float[Array, "*batch"]:
    """Frobenius norm of diag(v*), v* = mean_e(v_e + mu_e^2) - mean_e(mu_e)^2 for each output.

    v* is the variance of the equal mixture of the members (Lakshminarayanan et al. 2017), which Lu et al.
    (arXiv 2110.04135) study as a penalty. The MACURA paper names no reduction to a single number; the norm is
    that of `mean_variance`. Computed as mean_e(v_e) + mean_e((mu_e - mean mu)^2), and means relative to the
    first member: the squares of large means are never subtracted.
    """
    offset = mean - mean[0]
    scatter = jnp.mean(jnp.square(offset - jnp.mean(offset, axis=0)), axis=0)
    return jnp.linalg.norm(jnp.mean(jnp.exp(logvar), axis=0) + scatter, axis=-1)
