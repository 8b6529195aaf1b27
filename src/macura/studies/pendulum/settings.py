"""The numbers of the illustration. The paper gives the pendulum, the data and the box; the rest is ours."""

import math
from dataclasses import dataclass, field

from macura.core import UserError
from macura.dynamics import ModelConfig, Outputs

OUTPUTS = Outputs(obs=2, act=1, reward=False)
"""The networks read (phi, phi', torque) and predict the change of (phi, phi')."""

NETWORKS = ModelConfig(
    width=32, hidden_layers=2, learning_rate=3e-3, normalise_targets=True, min_logvar=-14.0
)
"""Seven members. The process noise of the angle has a log-variance of -13.8, which members that learn raw changes
above the usual floor of -10 cannot represent; on normalised targets this floor is far below the noise."""

SEEDS = 2**32
"""Seeds there are: a larger one would repeat what a smaller one gives."""
FINEST = 401
"""Points per axis beyond which the JSON would exceed 10 MB."""


@dataclass(frozen=True)
class ToyConfig:
    """What `macura toy` computes."""

    seed: int = 0
    """First seed, and the one that is drawn."""
    seeds: int = 5
    """Independent repetitions (data, networks, rollouts) behind every claim."""
    grid: int = 61
    """Points per axis over [-3, 3] rad x [-16, 16] rad/s."""
    threshold_scale: float = 2.0
    """xi: kappa is this many times the quantile of the uncertainty at the data."""
    threshold_quantile: float = 0.95
    """zeta, the quantile."""
    epochs: int = 600
    """Passes over the data; the last weights stay."""
    starts: int = 4096
    """Pairs of rollouts behind the return bound, before those that start outside E are left out."""
    horizon: int = 10
    """Most steps of such a rollout."""
    discount: float = 0.99
    """gamma."""
    networks: ModelConfig = field(default=NETWORKS)
    """The ensemble."""

    def __post_init__(self) -> None:
        least = {"seed": 0, "seeds": 1, "grid": 2, "epochs": 1, "starts": 2, "horizon": 1}
        for name, lowest in least.items():
            value = getattr(self, name)
            if value < lowest:
                default = type(self).__dataclass_fields__[name].default
                raise UserError(
                    f"--{name} is {value}, but must be at least {lowest}; try --{name} {default}."
                )
        if self.seed + self.seeds > SEEDS:
            raise UserError(
                f"--seed is {self.seed}, but all {self.seeds} seeds must lie below 2**32; try --seed 0."
            )
        if self.grid > FINEST:
            raise UserError(
                f"--grid is {self.grid}, but finer than {FINEST} points per axis no figure shows; try --grid 61."
            )
        if not 0 < self.threshold_scale < math.inf:
            raise UserError(f"--threshold-scale is {self.threshold_scale}, but must be positive; try 2.")
        if not 0 < self.threshold_quantile < 1:
            raise UserError(
                f"--threshold-quantile is {self.threshold_quantile}, but must lie between 0 and 1; try 0.95."
            )
