"""The numbers of the ensemble, and what it predicts."""

from dataclasses import dataclass
from typing import Literal

from macura.core import UserError


@dataclass(frozen=True)
class ModelConfig:
    """An ensemble of probabilistic networks and how it is fitted (Chua et al. 2018, arXiv 1805.12114)."""

    members: int = 7
    """E, networks in the ensemble."""
    width: int = 200
    """Units per hidden layer."""
    hidden_layers: int = 4
    """Hidden layers of each network; the paper's "4 layers" are four hidden layers and an output."""
    learning_rate: float = 3e-4
    """Step size of Adam."""
    weight_decay: float = 5e-5
    """L2 penalty, added to the gradient of every weight and bias."""
    batch_size: int = 256
    """Transitions per member and gradient step."""
    validation_share: float = 0.2
    """Share of the transitions, drawn anew for every refit, that only decide when to stop."""
    patience: int = 5
    """Epochs without improvement of any member after which a refit ends."""
    fewest_steps: int = 0
    """Gradient steps without improvement before a refit may end: on few rows, `patience` epochs are over in no time."""
    improvement: float = 0.01
    """Relative decrease of a member's validation error that counts as improvement."""
    min_logvar: float = -10.0
    """Lower soft bound of the natural-log variances."""
    max_logvar: float = 0.5
    """Upper soft bound of the natural-log variances."""
    learn_logvar_bounds: bool = False
    """Learn the bounds, one pair per output, drawn together by a penalty; otherwise they stay as given."""
    elites: int | None = None
    """Members with the lowest validation error that rollouts may draw from where only one is evaluated; None: all."""
    normalise_targets: bool = False
    """Learn targets of zero mean and unit variance; otherwise raw ones, whose largest outputs decide when to stop."""
    targets: Literal["delta", "next"] = "delta"
    """What is learned: the change of the observation, or the next observation itself."""
    gradient_steps: int | None = None
    """Most gradient steps of one refit, so that its cost stops growing with the data; None: until patience ends it."""

    def __post_init__(self) -> None:
        for name in (
            "members",
            "width",
            "hidden_layers",
            "batch_size",
            "patience",
            "elites",
            "gradient_steps",
        ):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(
                    f"model.{name} is {value}, but must be at least 1; see --help for its default."
                )
        for name, positive in (
            ("learning_rate", True),
            ("weight_decay", False),
            ("improvement", False),
            ("fewest_steps", False),
        ):
            value = getattr(self, name)
            if not (value > 0 if positive else value >= 0):
                wanted = "positive" if positive else "zero or more"
                raise UserError(f"model.{name} is {value}, but must be {wanted}; see --help for its default.")
        if not 0 < self.validation_share < 1:
            raise UserError(
                f"model.validation_share is {self.validation_share}, but must lie between 0 and 1; try 0.2."
            )
        if not self.min_logvar < self.max_logvar:
            raise UserError(
                f"model.min_logvar {self.min_logvar} is not below model.max_logvar {self.max_logvar};"
                " try -10 and 0.5."
            )
        if self.elites is not None and self.elites > self.members:
            raise UserError(
                f"model.elites is {self.elites}, but there are only {self.members} members;"
                f" try --elites {self.members}."
            )


@dataclass(frozen=True)
class Outputs:
    """What the networks of one task read and predict."""

    obs: int
    """Dimensions of the observation."""
    act: int
    """Dimensions of the action."""
    reward: bool = True
    """The reward is learned, as the last output."""
    termination: bool = False
    """A head that predicts whether the episode ends is learned."""

    @property
    def inputs(self) -> int:
        """Numbers a network reads: observation and action."""
        return self.obs + self.act

    @property
    def gaussians(self) -> int:
        """D, the Gaussian outputs: next observation and, if it is learned, reward."""
        return self.obs + int(self.reward)

    @property
    def network(self) -> int:
        """Numbers a network returns: D means, D log-variances and, if it is learned, the logit of termination."""
        return 2 * self.gaussians + int(self.termination)
