"""The nouns every room shares."""

from typing import NamedTuple

from jaxtyping import Array, Bool, Float, Key, Shaped

PRNGKey = Key[Array, ""]
"""A typed JAX random key; always passed explicitly, never defaulted."""

Metrics = dict[str, Shaped[Array, "..."]]
"""Numbers a phase reports: name -> scalar or small array, still on the device."""


class Transition(NamedTuple):
    """One step of experience, or a batch of them along leading axes.

    `terminated` says that the task ended in `next_obs` (no future reward); a time limit never sets it.
    """

    obs: Float[Array, "*batch obs"]
    action: Float[Array, "*batch act"]
    reward: Float[Array, "*batch"]
    next_obs: Float[Array, "*batch obs"]
    terminated: Bool[Array, "*batch"]


class Gaussians(NamedTuple):
    """What the members of an ensemble predict: diagonal Gaussians, members first, natural-log variances."""

    mean: Float[Array, "member *batch out"]
    logvar: Float[Array, "member *batch out"]
