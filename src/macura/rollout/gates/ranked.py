"""M2AC: of every step, the least uncertain share is kept."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from macura.core import Metrics
from macura.rollout.gates.memory import NoMemory


@dataclass(frozen=True)
class Ranked:
    """Keep the int(M w_h) smallest uncertainties of step h, with w_h = (H - h) / (2 (H + 1)) and H the horizon.

    All M rollouts are ranked, those that ended too: where many end early, less is kept.
    """

    stop: bool = False
    """A rollout that is not kept stops, as the paper says; otherwise it may be kept again, as in the published code."""

    measured: ClassVar[bool] = True

    @property
    def stops(self) -> bool:
        """Whether a rollout that does not pass ends."""
        return self.stop

    def init(self) -> NoMemory:
        """Nothing."""
        return NoMemory()

    def decide(
        self, state: NoMemory, u: Float[Array, "rollout"], step: Int[Array, ""], horizon: Int[Array, ""]
    ) -> tuple[NoMemory, Bool[Array, "rollout"]]:
        """The smallest pass; among equals, the first in the order of rollouts."""
        kept = u.shape[0] * (horizon - step) // (2 * (horizon + 1))
        return state, smallest(u, kept) & jnp.isfinite(u)

    def info(self, state: NoMemory) -> Metrics:
        """Nothing."""
        return {}


def smallest(u: Float[Array, "rollout"], count: Int[Array, ""]) -> Bool[Array, "rollout"]:
    """Which are the `count` smallest; equal ones in their order, and what is not a number last."""
    u = jnp.where(jnp.isnan(u), jnp.inf, u)
    largest = jnp.sort(u)[jnp.maximum(count - 1, 0)]
    below, equal = u < largest, u == largest
    left = count - jnp.sum(below)
    return (below | (equal & (jnp.cumsum(equal) <= left))) & (count > 0)
