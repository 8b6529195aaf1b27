"""Ensembles of MLPs applied to a batch: to inputs all members share, or to inputs of their own.

The two forms compute the same. On a CPU every matrix product of a batched dot is issued alone anyway, and one chain
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

    def chains(ensemble: MLP, x: Float[Array, "batch fan_in"]) -> Float[Array, "member batch fan_out"]:
        members = range(ensemble.weights[0].shape[0])
        return jnp.stack([mlp.apply(mlp.member(ensemble, e), x, activation, layer_norm) for e in members])

    def batched(ensemble: MLP, x: Float[Array, "batch fan_in"]) -> Float[Array, "member batch fan_out"]:
        return jax.vmap(lambda network: mlp.apply(network, x, activation, layer_norm))(ensemble)

    return jax.lax.platform_dependent(ensemble, x, cpu=chains, default=batched)


def apply_own(
    ensemble: MLP, x: Float[Array, "member batch fan_in"], activation: Activation, layer_norm: bool = False
) -> Float[Array, "member batch fan_out"]:
    """Every member on its own inputs."""

    def chains(ensemble: MLP, x: Float[Array, "member batch fan_in"]) -> Float[Array, "member batch fan_out"]:
        members = range(x.shape[0])
        return jnp.stack([mlp.apply(mlp.member(ensemble, e), x[e], activation, layer_norm) for e in members])

    def batched(
        ensemble: MLP, x: Float[Array, "member batch fan_in"]
    ) -> Float[Array, "member batch fan_out"]:
        return jax.vmap(lambda network, own: mlp.apply(network, own, activation, layer_norm))(ensemble, x)

    return jax.lax.platform_dependent(ensemble, x, cpu=chains, default=batched)
