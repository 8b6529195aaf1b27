"""Multilayer perceptrons, and ensembles of them as one tree with a leading member axis."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura.core import PRNGKey
from macura.nn.initialisers import Initialiser

STANDARDISE_EPSILON = 1e-5
"""Added to the variance where hidden layers are normalised."""

Activation = Callable[[Float[Array, "..."]], Float[Array, "..."]]


class MLP(eqx.Module):
    """A stack of linear layers with an activation between them; arrays only, so it is its own parameter tree.

    The same class holds an ensemble: every array then has a leading member axis (see `init_ensemble`).
    """

    weights: tuple[Float[Array, "*member _fan_in _fan_out"], ...]
    biases: tuple[Float[Array, "*member _fan_out"], ...]


def init(key: PRNGKey, sizes: Sequence[int], initialiser: Initialiser) -> MLP:
    """An MLP with layer widths `sizes` (input first, output last) and zero biases."""
    keys = jax.random.split(key, len(sizes) - 1)
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return MLP(
        weights=tuple(initialiser(layer_key, fan_in, fan_out) for layer_key, fan_in, fan_out in pairs),
        biases=tuple(jnp.zeros(fan_out, jnp.float32) for fan_out in sizes[1:]),
    )


def init_ensemble(key: PRNGKey, members: int, sizes: Sequence[int], initialiser: Initialiser) -> MLP:
    """`members` independent MLPs, stacked along a leading axis."""
    return jax.vmap(lambda member_key: init(member_key, sizes, initialiser))(jax.random.split(key, members))


def apply(
    mlp: MLP, x: Float[Array, "*batch fan_in"], activation: Activation, normalised: int = 0
) -> Float[Array, "*batch fan_out"]:
    """Run one MLP. The last `normalised` hidden layers standardise what comes before their activation."""
    raw = len(mlp.weights) - 1 - normalised
    for layer, (weight, bias) in enumerate(zip(mlp.weights[:-1], mlp.biases[:-1], strict=True)):
        hidden = x @ weight + bias
        x = activation(hidden if layer < raw else standardise(hidden))
    return x @ mlp.weights[-1] + mlp.biases[-1]


def standardise(x: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
    """(x - mean) / sqrt(var + 1e-5) over the last axis: layer normalisation without parameters."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + STANDARDISE_EPSILON)


def member(ensemble: MLP, index: int | Array) -> MLP:
    """One member of an ensemble, as a plain MLP."""
    return jax.tree.map(lambda leaf: leaf[index], ensemble)
