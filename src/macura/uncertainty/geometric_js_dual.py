"""The measure of the published code: the dual geometric Jensen-Shannon, Bhattacharyya's distance."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import Gaussians
from macura.uncertainty.pairs import mean_over_pairs, spread, squared_distance


def geometric_js_dual(
    mean: Float[Array, "member *batch out"], logvar: Float[Array, "member *batch out"]
) -> Float[Array, "*batch"]:
    """2 / (E (E - 1)) times the sum over pairs of 1/2 KL(N_ef || N_e) + 1/2 KL(N_ef || N_f).

    With q = (v_e - v_f)^2 / (4 v_e v_f) a pair contributes (mu_e - mu_f)^2 / (4 (v_e + v_f)) + 1/4 log(1 + q)
    summed over outputs: the Bhattacharyya distance. Rescaling any output leaves it as it is.
    """
    return mean_over_pairs(_divergence, mean, logvar)


def _divergence(one: Gaussians, other: Gaussians) -> Float[Array, "..."]:
    return 0.25 * (squared_distance(one, other) + jnp.log1p(spread(one, other)))
