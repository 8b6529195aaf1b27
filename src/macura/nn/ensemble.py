"""Ensembles of MLPs applied to a batch: to inputs all members share, or to inputs of their own.

On a CPU the products of a batched dot are issued one by one anyway, and a chain of plain products per member keeps
its activations in the cache; an accelerator wants few large kernels. Both forms compute the same.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.nn import mlp
from macura.nn.mlp import MLP, Activation


def each(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function` of every member's part of the arguments, results stacked; all have a leading member axis."""

    def chains(*arguments: Any) -> Any:
        members = jax.tree.leaves(arguments)[0].shape[0]
        parts = [jax.tree.map(lambda leaf, e=e: leaf[e], arguments) for e in range(members)]
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *[function(*part) for part in parts])

    return jax.lax.platform_dependent(*arguments, cpu=chains, default=jax.vmap(function))


def apply_shared(
    ensemble: MLP, x: Float[Array, "batch fan_in"], activation: Activation
) -> Float[Array, "member batch fan_out"]:
    """Every member on the same inputs."""
    return each(lambda network: mlp.apply(network, x, activation), ensemble)


def apply_own(
    ensemble: MLP, x: Float[Array, "member batch fan_in"], activation: Activation
) -> Float[Array, "member batch fan_out"]:
    """Every member on its own inputs."""
    return each(lambda network, own: mlp.apply(network, own, activation), ensemble, x)
