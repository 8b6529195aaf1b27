"""The numbers of soft actor-critic."""

from dataclasses import dataclass
from typing import Literal, get_args

from macura.core import UserError

Normalised = Literal["features", "critics", "all"]


@dataclass(frozen=True)
class SACConfig:
    """Soft actor-critic (Haarnoja et al. 2018, arXiv 1812.05905), with two critics and a learned temperature."""

    width: int = 256
    """Units per hidden layer of actor and critics."""
    hidden_layers: int = 2
    """Hidden layers of actor and critics; the paper's "3 layers" are two hidden layers and an output."""
    layer_norm: Normalised | None = None
    """Whose hidden pre-activations are normalised (no scale, no shift): features (the critics' last hidden layer),
    critics (all of theirs), all (the actor's too), or nobody's."""
    learning_rate: float = 3e-4
    """Step size of the three Adam optimisers."""
    batch_size: int = 256
    """Transitions per update, drawn with replacement."""
    discount: float = 0.99
    """gamma."""
    target_rate: float = 0.005
    """tau of the target critics' moving average."""
    target_interval: int = 1
    """Updates between two moves of the target critics."""
    target_entropy: float | None = None
    """Entropy the temperature aims at, in the environment's action units; None: minus the number of actions."""
    fixed_alpha: float | None = None
    """Keep the temperature at this value instead of learning it."""

    def __post_init__(self) -> None:
        for name in ("width", "hidden_layers", "batch_size", "target_interval"):
            if getattr(self, name) < 1:
                raise UserError(
                    f"sac.{name} is {getattr(self, name)}, but must be at least 1; try --sac.{_flag(name)} 1."
                )
        if self.layer_norm not in (None, *get_args(Normalised)):
            raise UserError(
                f"sac.layer_norm is {self.layer_norm!r}, but must be features, critics, all or none;"
                " try --sac.layer-norm features."
            )
        for name in ("learning_rate", "fixed_alpha"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"sac.{name} is {value}, but must be positive; try --sac.{_flag(name)} 3e-4.")
        for name in ("discount", "target_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(
                    f"sac.{name} is {getattr(self, name)}, but must lie in [0, 1]; see --help for its default."
                )

    @property
    def normalised_in_actor(self) -> int:
        """How many of the actor's hidden layers are normalised, counted from the last."""
        return self.hidden_layers if self.layer_norm == "all" else 0

    @property
    def normalised_in_critics(self) -> int:
        """How many of the critics' hidden layers are normalised, counted from the last."""
        return {None: 0, "features": 1}.get(self.layer_norm, self.hidden_layers)


def _flag(name: str) -> str:
    return name.replace("_", "-")
