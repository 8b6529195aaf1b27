"""How wrong the networks are."""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from macura.dynamics.config import Outputs
from macura.dynamics.model import Parameters, heads
from macura.nn import ensemble, mlp


def member_loss(
    parameters: Parameters,
    outputs: Outputs,
    x: Float[Array, "batch in"],
    y: Float[Array, "batch out"],
    ended: Bool[Array, "batch"],
    valid: Bool[Array, "batch"],
) -> Float[Array, ""]:
    """mean((mu - y)^2 exp(-v) + v) over valid rows and outputs, for one member.

    A head for termination adds the mean of its cross-entropy.
    """
    (mean, logvar), logit = heads(outputs, parameters, mlp.apply(parameters.networks, x, jax.nn.silu))
    per_row = jnp.mean(jnp.square(mean - y) * jnp.exp(-logvar) + logvar, axis=-1)
    if logit is not None:
        per_row += optax.sigmoid_binary_cross_entropy(logit, ended.astype(jnp.float32))
    return jnp.sum(jnp.where(valid, per_row, 0.0)) / jnp.sum(valid)


def sum_of_errors(
    parameters: Parameters,
    outputs: Outputs,
    x: Float[Array, "batch in"],
    y: Float[Array, "batch out"],
    valid: Bool[Array, "batch"],
) -> Float[Array, "member out"]:
    """Squared errors of every member's mean, summed over the valid rows."""
    (mean, _), _ = heads(outputs, parameters, ensemble.apply_shared(parameters.networks, x, jax.nn.silu))
    return jnp.sum(jnp.where(valid[:, None], jnp.square(mean - y), 0.0), axis=1)
