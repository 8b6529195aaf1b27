"""The paper's measure: the geometric Jensen-Shannon divergence, averaged over pairs of members."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import Gaussians
from macura.uncertainty.pairs import mean_over_pairs, spread, squared_distance


def geometric_js(
    mean: Float[Array, "member *batch out"], logvar: Float[Array, "member *batch out"]
) -> Float[Array, "*batch"]:
    """u_GJS = 2 / (E (E - 1)) sum over pairs of 1/2 KL(N_e || N_ef) + 1/2 KL(N_f || N_ef).

    N_ef is the normalised geometric mean of the two Gaussians: its precision is the mean of their precisions,
    its mean the precision-weighted mean. With q = (v_e - v_f)^2 / (4 v_e v_f) a pair contributes, summed over
    outputs,

        1/2 [q - 1/2 log(1 + q) + (1 + 2 q) (mu_e - mu_f)^2 / (2 (v_e + v_f))],

    in which nothing large is subtracted.
    """
    return mean_over_pairs(_divergence, mean, logvar)


def _divergence(one: Gaussians, other: Gaussians) -> Float[Array, "..."]:
    q = spread(one, other)
    return 0.5 * q - 0.25 * jnp.log1p(q) + (0.25 + 0.5 * q) * squared_distance(one, other)
