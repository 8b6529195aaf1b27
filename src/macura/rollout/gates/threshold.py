"""MACURA: a rollout goes on while its uncertainty is below kappa."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from macura.core import Metrics, UserError
from macura.rollout.gates.memory import KappaMemory


@dataclass(frozen=True)
class Threshold:
    """The paper's Algorithm 2: keep while u < kappa, the mean over rounds of xi times a quantile of first steps."""

    scale: float = 1.0
    """xi, factor on the quantile."""
    quantile: float = 0.95
    """zeta, share of the first steps that lies below the quantile."""
    fixed: float | None = None
    """A kappa that never adapts, instead."""
    window: int = 2000
    """Rounds over which kappa is averaged, the newest ones."""

    measured: ClassVar[bool] = True
    stops: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise UserError(f"gate.scale is {self.scale}, but must be positive; try 1.0.")
        if not 0 <= self.quantile <= 1:
            raise UserError(f"gate.quantile is {self.quantile}, but must lie in [0, 1]; try 0.95.")
        if self.fixed is not None and not self.fixed > 0:
            raise UserError(
                f"gate.fixed is {self.fixed}, but a threshold must be positive; leave it out to adapt it."
            )
        if self.window < 1:
            raise UserError(f"gate.window is {self.window}, but must be at least 1; try 2000.")

    def init(self) -> KappaMemory:
        """Before the first round nothing passes, unless kappa is fixed."""
        window = self.window if self.fixed is None else 1
        return KappaMemory(jnp.zeros(window, jnp.float32), jnp.int32(0), jnp.float32(self.fixed or 0.0))

    def decide(
        self, state: KappaMemory, u: Float[Array, "rollout"], step: Int[Array, ""], horizon: Int[Array, ""]
    ) -> tuple[KappaMemory, Bool[Array, "rollout"]]:
        """Adapt kappa before the first step of a round is judged, then judge every step by it."""
        if self.fixed is None:
            state = jax.lax.cond(step == 0, self.adapt, lambda state, _: state, state, u)
        return state, (u < state.kappa) & jnp.isfinite(u)

    def adapt(self, state: KappaMemory, u: Float[Array, "rollout"]) -> KappaMemory:
        """Kappa after one more round, whose first steps have uncertainties u.

        kappa_k = 1/k sum_{i <= k} b_i with b_k = xi times the quantile, interpolated linearly, over the finite
        uncertainties. A round without any leaves everything as it was.
        """
        finite = jnp.where(jnp.isfinite(u), u, jnp.nan)
        b = self.scale * jnp.nanquantile(finite, self.quantile)
        quantiles = state.quantiles.at[state.rounds % self.window].set(b)
        rounds = state.rounds + 1
        kappa = jnp.sum(quantiles) / jnp.minimum(rounds, self.window)
        return jax.tree.map(
            lambda new, old: jnp.where(jnp.isfinite(b), new, old),
            KappaMemory(quantiles, rounds, kappa),
            state,
        )

    def info(self, state: KappaMemory) -> Metrics:
        """Kappa, as this round used it."""
        return {"rollout/kappa": state.kappa}
