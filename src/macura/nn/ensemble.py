"""Ensembles of MLPs applied to a batch: to inputs all members share, or to inputs of their own.

Both forms compute the same. On a CPU the products of a batched dot are issued one by one anyway, and a chain
of plain products per member keeps its activations in the cache; an accelerator wants few large kernels.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.nn import mlp
from macura.nn.mlp import MLP, Activation


def apply_shared(
    ensemble: MLP, x: Float[Array, "batch fan_in"], activation: Activation, layer_norm: bool = False
) -> Float[Array, "member batch fan_out"]:
    """Every member on the same inputs."""

    def one(network: MLP, x: Array) -> Array:
        return mlp.apply(network, x, activation, layer_norm)

    def chains(ensemble: MLP, x: Array) -> Array:
        members = range(ensemble.weights[0].shape[0])
        return jnp.stack([one(mlp.member(ensemble, e), x) for e in members])

    batched = jax.vmap(one, in_axes=(0, None))
    return jax.lax.platform_dependent(ensemble, x, cpu=chains, default=batched)


def apply_own(
    ensemble: MLP, x: Float[Array, "member batch fan_in"], activation: Activation, layer_norm: bool = False
) -> Float[Array, "member batch fan_out"]:
    """Every member on its own inputs."""

    def one(network: MLP, x: Array) -> Array:
        return mlp.apply(network, x, activation, layer_norm)

    def chains(ensemble: MLP, x: Array) -> Array:
        return jnp.stack([one(mlp.member(ensemble, e), x[e]) for e in range(x.shape[0])])

    return jax.lax.platform_dependent(ensemble, x, cpu=chains, default=jax.vmap(one))
