"""What gates remember between rounds."""

from typing import NamedTuple

from jaxtyping import Array, Float, Int


class NoMemory(NamedTuple):
    """Every round is like the first."""


class KappaMemory(NamedTuple):
    """The scaled quantiles b_k of the last rounds, written in turn, and the threshold that follows from them."""

    quantiles: Float[Array, "window"]
    rounds: Int[Array, ""]
    kappa: Float[Array, ""]
