"""Floating-point operations that the matrix products of each phase need; everything else is a few per cent."""

import itertools
from collections.abc import Sequence

from macura.dynamics import ModelConfig, Outputs
from macura.sac import SACConfig


def mlp(sizes: Sequence[int]) -> int:
    """2 x multiplications of one forward pass for one input."""
    return sum(2 * fan_in * fan_out for fan_in, fan_out in itertools.pairwise(sizes))


def actor(config: SACConfig, obs: int, act: int) -> int:
    """F_pi, the policy for one observation."""
    return mlp([obs, *[config.width] * config.hidden_layers, 2 * act])


def critic(config: SACConfig, obs: int, act: int) -> int:
    """F_Q, one critic for one state and action."""
    return mlp([obs + act, *[config.width] * config.hidden_layers, 1])


def sac_update(config: SACConfig, obs: int, act: int) -> int:
    """4 F_pi + 12 F_Q for every row of the batch.

    Targets: F_pi + 2 F_Q. Critics forward and backward: 6 F_Q. Actor: 3 F_pi + 4 F_Q, since the critics' own gradients
    are not needed there.
    """
    return config.batch_size * (4 * actor(config, obs, act) + 12 * critic(config, obs, act))


def member(config: ModelConfig, outputs: Outputs) -> int:
    """F_PNN, one member of the ensemble for one input."""
    return mlp([outputs.inputs, *[config.width] * config.hidden_layers, outputs.network])


def model_step(config: ModelConfig, outputs: Outputs) -> int:
    """One gradient step of the whole ensemble: 3 F_PNN for every member and row."""
    return 3 * config.members * config.batch_size * member(config, outputs)


def imagined_row(config: ModelConfig, outputs: Outputs, sac: SACConfig) -> int:
    """One imagined transition whose uncertainty is wanted: all members, and the policy."""
    return config.members * member(config, outputs) + actor(sac, outputs.obs, outputs.act)


def refit(config: ModelConfig, outputs: Outputs, rows: int, epochs: int, steps: int, recent: int) -> int:
    """One refit: its gradient steps, the validation rows before the first and after every epoch, and the newest rows.

    The newest are those whose true error is told before they are trained on.
    """
    validation = max(int(config.validation_share * rows), 1) * (epochs + 1)
    scored = (validation + recent) * config.members * member(config, outputs)
    return steps * model_step(config, outputs) + scored
