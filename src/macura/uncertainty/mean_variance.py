"""The variance of the members' means: disagreement alone, in the units of the outputs."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def mean_variance(
    mean: Float[Array, "member *batch out"], logvar: Float[Array, "member *batch out"]
) -> Float[Array, "*batch"]:
    """u_MV = || 1/E sum_e (mu_e - mu_PE)(mu_e - mu_PE)^T ||_F, with mu_PE the mean of the members' means.

    The norm of the D x D matrix equals that of the E x E matrix of inner products, which is formed instead.
    The variances play no part; they are taken so that all measures are called alike.
    """
    members = mean.shape[0]
    offset = mean - mean[0]
    centred = offset - jnp.mean(offset, axis=0)
    # Members e and e + k (mod E) for k = 0, 1, ..., E - 1 are all entries of the matrix.
    shifts = [jnp.sum(centred * jnp.roll(centred, k, axis=0), axis=-1) for k in range(members)]
    return jnp.sqrt(sum(jnp.sum(jnp.square(gram), axis=0) for gram in shifts)) / members
