"""Everything that decides what a run does: one frozen tree, written into the run folder."""

from dataclasses import dataclass, field
from typing import Literal

from macura.core import UserError
from macura.dynamics import ModelConfig
from macura.envs import EnvConfig
from macura.exploration import ExplorationKind
from macura.replay import MixtureConfig, RingConfig
from macura.rollout import RolloutConfig
from macura.sac import SACConfig
from macura.training.updates import FixedUpdates, ProportionalUpdates, UpdateRule


@dataclass(frozen=True)
class Imagination:
    """The model, the rollouts in it, and what is kept of them."""

    model: ModelConfig = field(default_factory=ModelConfig)
    """The ensemble and how it is fitted."""
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    """Which imagined data is made and kept."""
    ring: RingConfig = field(default_factory=RingConfig)
    """How long imagined data is remembered."""
    mixture: MixtureConfig = field(default_factory=MixtureConfig)
    """How real and imagined transitions share the agent's batches."""
    every: int = 250
    """R, environment steps between two rounds (a round refits the model and makes new rollouts)."""
    termination: str = "auto"
    """Where imagined episodes end: auto (built-in function of a known task, else learned), learned, never,
    or package.module:function of a batch of next observations."""
    reward: str = "learned"
    """learned as an output of the model, or package.module:function of (observation, action, next observation)."""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise UserError(f"imagination.every is {self.every}, but must be at least 1; try 250.")
        for name in ("termination", "reward"):
            value = getattr(self, name)
            named = ("auto", "learned", "never") if name == "termination" else ("learned",)
            if value not in named and ":" not in value:
                raise UserError(
                    f"imagination.{name} is {value!r}, but must be one of {', '.join(named)},"
                    " or package.module:function."
                )

    @property
    def capacity(self) -> int:
        """|D|_max: the rows of the imagined buffer if every rollout of the kept rounds had full length."""
        full = self.rollout.horizon.longest() * self.rollout.rollouts * self.ring.rounds_kept
        return max(1, round(full * self.ring.capacity_share))

    def limit_at(self, epoch: int) -> int:
        """Rows that may be stored in this epoch: the horizon's schedule lets the buffer grow."""
        return max(1, self.capacity * self.rollout.horizon.at(epoch) // self.rollout.horizon.longest())


@dataclass(frozen=True)
class RunConfig:
    """One run: task, algorithm, and every number of both."""

    algorithm: str = "sac"
    """What this configuration is composed as: macura, mbpo, m2ac or sac."""
    preset: str = "default"
    """The table of numbers this configuration started from: default, laptop, quick, paper, ..."""
    env: EnvConfig = field(default_factory=EnvConfig)
    """The task."""
    seed: int = 0
    """The one seed from which all randomness of the run derives."""
    steps: int = 100_000
    """Environment steps in all, warm-up included."""
    epoch_steps: int = 1000
    """Environment steps between evaluations; the environment is reset at the start of every epoch."""
    warmup_steps: int = 1000
    """Environment steps before anything is learned."""
    warmup_actions: Literal["policy", "uniform"] = "policy"
    """Actions of the warm-up: samples of the initial policy, or uniform."""
    exploration: ExplorationKind = "white"
    """Noise inside the policy after the warm-up."""
    evaluation_episodes: int = 5
    """Episodes of every evaluation, deterministic, in environments of their own."""
    checkpoints_kept: int = 2
    """Checkpoints left on disk; the newest that is intact is resumed from."""
    sac: SACConfig = field(default_factory=SACConfig)
    """The agent."""
    updates: UpdateRule = field(default_factory=FixedUpdates)
    """Agent updates per environment step."""
    imagination: Imagination | None = None
    """The model-based part; none of it makes plain SAC."""

    def __post_init__(self) -> None:
        for name in ("steps", "epoch_steps", "evaluation_episodes", "checkpoints_kept"):
            if getattr(self, name) < 1:
                flag = name.replace("_", "-")
                raise UserError(
                    f"{name} is {getattr(self, name)}, but must be at least 1; leave --{flag} out for its default."
                )
        if self.imagination is None and isinstance(self.updates, ProportionalUpdates):
            raise UserError(
                "updates are proportional to imagined data, but imagination is none, so nothing would be learned;"
                " choose --algorithm sac, or --updates fixed_updates."
            )
        if self.warmup_steps < 0:
            raise UserError(
                f"warmup_steps is {self.warmup_steps}, but cannot be negative; try --warmup-steps 1000."
            )
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed is {self.seed}, but must lie in [0, 2**32); try --seed 0.")

    @property
    def real_capacity(self) -> int:
        """Rows of the real buffer: all that the run will ever see."""
        return self.steps

    def epoch_of(self, step: int) -> int:
        """The epoch of the horizon's schedule at this step (both counted from 0); the warm-up comes before it."""
        return max(step - self.warmup_steps, 0) // self.epoch_steps

    def is_round(self, step: int) -> bool:
        """Whether a round (refit, imagine) is due after `step` environment steps."""
        if self.imagination is None or step < max(self.warmup_steps, 2):
            return False
        return (step - self.warmup_steps) % self.imagination.every == 0

    def round_at(self, step: int) -> int:
        """The number of the round that is due after `step` environment steps; 1 is the one after the warm-up."""
        assert self.imagination is not None, "a run without a model has no rounds"
        return (step - self.warmup_steps) // self.imagination.every + 1

    def updates_after(self, step: int, imagined: int) -> int:
        """G: agent updates that follow step number `step` (counted from 1), with `imagined` rows stored."""
        if step < self.warmup_steps or step < 2:
            return 0
        if self.imagination is None:
            return self.updates.at(0, 1)
        if imagined == 0:
            return 0
        return self.updates.at(imagined, self.imagination.capacity)
