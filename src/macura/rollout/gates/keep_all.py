"""MBPO: everything is kept, up to the horizon."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from macura.core import Metrics
from macura.rollout.gates.memory import NoMemory


@dataclass(frozen=True)
class KeepAll:
    """The paper's Algorithm 1: the uncertainty does not matter."""

    measured: ClassVar[bool] = False
    stops: ClassVar[bool] = True

    def init(self) -> NoMemory:
        """Nothing."""
        return NoMemory()

    def decide(
        self, state: NoMemory, u: Float[Array, "rollout"], step: Int[Array, ""], horizon: Int[Array, ""]
    ) -> tuple[NoMemory, Bool[Array, "rollout"]]:
        """Every finite prediction passes."""
        return state, jnp.isfinite(u)

    def info(self, state: NoMemory) -> Metrics:
        """Nothing."""
        return {}
