"""The numbers of the rollouts."""

import math
from dataclasses import dataclass, field

from macura.core import UserError
from macura.rollout.gates import Gate, Threshold
from macura.rollout.horizon import FixedHorizon, Horizon
from macura.uncertainty import MeasureName


@dataclass(frozen=True)
class RolloutConfig:
    """Which imagined data is made in one round, and which of it is kept."""

    rollouts: int = 25_000
    """M, rollouts that start in one round (the paper counts them per environment step)."""
    horizon: Horizon = field(default_factory=FixedHorizon)
    """T_max, the most steps of a rollout."""
    measure: MeasureName | None = "geometric_js"
    """The uncertainty, for which all members predict every row; with none only one of them does."""
    gate: Gate = field(default_factory=Threshold)
    """Which transitions are kept, and which rollouts go on."""
    penalty: float = 0.0
    """Stored rewards are lowered by this times the uncertainty."""
    chunk: int | None = None
    """Rows imagined at once; none: 512 on a CPU (its cache), 32768 elsewhere."""

    def __post_init__(self) -> None:
        if self.rollouts < 1:
            raise UserError(f"rollout.rollouts is {self.rollouts}, but must be at least 1; try 25000.")
        if not (math.isfinite(self.penalty) and self.penalty >= 0):
            raise UserError(f"rollout.penalty is {self.penalty}, but must be zero or more; try 0.001.")
        if self.chunk is not None and self.chunk < 1:
            raise UserError(
                f"rollout.chunk is {self.chunk}, but must be at least 1; leave it out for its default."
            )
        if self.measure is None and self.gate.measured:
            raise UserError(
                f"rollout.gate {type(self.gate).__name__} needs an uncertainty, but rollout.measure is none;"
                " try --imagination.rollout.measure geometric_js."
            )
        if self.measure is None and self.penalty > 0:
            raise UserError(
                f"rollout.penalty {self.penalty} needs an uncertainty, but rollout.measure is none;"
                " try --imagination.rollout.measure one_vs_rest."
            )
