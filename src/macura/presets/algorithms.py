"""The four algorithms as compositions of the same parts: the page to read beside the paper.

SAC learns from real data alone. MBPO, M2AC and MACURA add the same ensemble and differ in the gate that decides
which imagined transitions the agent may learn from, and, for MACURA, in how often it then learns.
"""

from collections.abc import Callable, Mapping

from macura.dynamics import ModelConfig
from macura.presets.tables import Numbers
from macura.replay import RingConfig
from macura.rollout import Gate, KeepAll, Ranked, RolloutConfig, Threshold
from macura.sac import SACConfig
from macura.training import FixedUpdates, Imagination, ProportionalUpdates, RunConfig
from macura.uncertainty import MeasureName

ROUNDS_PER_EPOCH = 4
STEPS_PER_ROUND = 250  # C: the model is refitted every 250 steps, on every task


def sac(numbers: Numbers) -> RunConfig:
    """Soft actor-critic on real data (Haarnoja et al. 2018, arXiv 1812.05905)."""
    return RunConfig(
        algorithm="sac",
        steps=numbers.steps,
        warmup_steps=numbers.warmup_steps,
        warmup_actions="uniform",
        exploration=numbers.exploration,
        sac=agent(numbers),
        updates=FixedUpdates(numbers.updates),
    )


def mbpo(numbers: Numbers) -> RunConfig:
    """All rollouts run to a scheduled horizon and all of them are kept (Janner et al. 2019, arXiv 1906.08253)."""
    ring = RingConfig(rounds_kept=ROUNDS_PER_EPOCH * numbers.epochs_kept, evict_by_age=False)
    return model_based(
        "mbpo", numbers, KeepAll(), measure=None, ring=ring, updates=FixedUpdates(numbers.updates)
    )


def m2ac(numbers: Numbers) -> RunConfig:
    """The least uncertain share of every step is kept, uncertainty costs reward (Pan et al. 2020, arXiv 2010.04893)."""
    ring = RingConfig(
        rounds_kept=ROUNDS_PER_EPOCH * numbers.epochs_kept, capacity_share=0.25, evict_by_age=False
    )
    return model_based(
        "m2ac",
        numbers,
        Ranked(stop=numbers.stop_unranked),
        measure="one_vs_rest",
        ring=ring,
        updates=FixedUpdates(numbers.updates),
        penalty=0.001,  # C
    )


def macura(numbers: Numbers) -> RunConfig:
    """A rollout goes on while its uncertainty is below kappa; the agent learns the more, the more was kept."""
    gate = Threshold(
        scale=numbers.threshold_scale, quantile=numbers.threshold_quantile, window=numbers.threshold_window
    )
    ring = RingConfig(rounds_kept=ROUNDS_PER_EPOCH * numbers.epochs_kept, evict_by_age=True)
    updates = ProportionalUpdates(numbers.updates, rounding=numbers.rounding)
    return model_based("macura", numbers, gate, measure=numbers.measure, ring=ring, updates=updates)


ALGORITHMS: Mapping[str, Callable[[Numbers], RunConfig]] = {
    "macura": macura,
    "mbpo": mbpo,
    "m2ac": m2ac,
    "sac": sac,
}


def model_based(
    name: str,
    numbers: Numbers,
    gate: Gate,
    *,
    measure: MeasureName | None,
    ring: RingConfig,
    updates: FixedUpdates | ProportionalUpdates,
    penalty: float = 0.0,
) -> RunConfig:
    """What the three model-based algorithms have in common."""
    rollout = RolloutConfig(
        rollouts=numbers.rollouts * STEPS_PER_ROUND,
        horizon=numbers.horizon,
        measure=measure,
        gate=gate,
        penalty=penalty,
    )
    return RunConfig(
        algorithm=name,
        steps=numbers.steps,
        warmup_steps=numbers.warmup_steps,
        exploration=numbers.exploration,
        sac=agent(numbers),
        updates=updates,
        imagination=Imagination(model=ensemble(numbers), rollout=rollout, ring=ring, every=STEPS_PER_ROUND),
    )


def agent(numbers: Numbers) -> SACConfig:
    """The agent that all four share."""
    return SACConfig(
        width=numbers.width,
        layer_norm=numbers.layer_norm,
        learning_rate=numbers.learning_rate,
        batch_size=numbers.sac_batch,
        target_interval=numbers.target_interval,
        target_entropy=numbers.target_entropy,
        fixed_alpha=numbers.fixed_alpha,
    )


def ensemble(numbers: Numbers) -> ModelConfig:
    """The ensemble that the three model-based algorithms share."""
    return ModelConfig(
        width=numbers.model_width,
        hidden_layers=numbers.model_layers,
        learning_rate=numbers.model_learning_rate,
        weight_decay=numbers.weight_decay,
        patience=numbers.patience,
        fewest_steps=numbers.fewest_steps,
        min_logvar=numbers.min_logvar,
        normalise_targets=numbers.normalise_targets,
        gradient_steps=numbers.gradient_steps,
    )
