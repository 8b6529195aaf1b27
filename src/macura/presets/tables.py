"""The numbers: the tables of the MACURA paper (arXiv 2405.19014, appendix D), and our own for smaller machines.

Sources, as cited at the numbers: P, the paper's tables; C, the settings published with its code where the paper is
silent (they are the same for all algorithms unless said otherwise). Rollouts are per environment step, as in the
paper; a round makes `every` times as many. Where P and C contradict each other the preset `paper` follows P and the
preset `published` follows C; `PUBLISHED` below is the complete list of these contradictions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from macura.exploration import ExplorationKind
from macura.rollout import FixedHorizon, Horizon, LinearHorizon
from macura.sac import Normalised
from macura.training.updates import Rounding
from macura.uncertainty import MeasureName

TASKS = ("HalfCheetah", "Hopper", "Walker2d", "Ant", "Humanoid")


@dataclass(frozen=True)
class Numbers:
    """What differs between tasks, algorithms and presets; defaults are what all of the paper's runs share."""

    steps: int
    """Environment steps in all, warm-up included."""
    width: int
    """W, units per hidden layer of actor and critics."""
    target_entropy: float | None
    updates: int
    """G for a fixed number of updates, G_max for MACURA."""
    learning_rate: float = 3e-4
    sac_batch: int = 256
    target_interval: int = 1
    fixed_alpha: float | None = None
    layer_norm: Normalised | None = None  # C
    exploration: ExplorationKind = "deterministic"
    warmup_steps: int = 5000  # C
    epochs_kept: int = 1
    """N, epochs whose imagined data is kept; a round is a quarter of an epoch."""
    rollouts: int = 400
    """M, rollouts per environment step."""
    horizon: Horizon = field(default_factory=FixedHorizon)
    threshold_scale: float = 1.0
    """xi."""
    threshold_quantile: float = 0.95
    """zeta."""
    threshold_window: int = 2000  # C; the paper averages over all rounds, which never are more
    measure: MeasureName = "geometric_js"
    stop_unranked: bool = False
    """Of M2AC: a rollout that is not among the least uncertain stops; otherwise it may be kept again later."""
    rounding: Rounding = "nearest"
    model_width: int = 200
    model_layers: int = 4
    patience: int = 5  # C
    fewest_steps: int = 0  # C
    model_learning_rate: float = 3e-4  # C
    weight_decay: float = 5e-5  # C
    min_logvar: float = -10.0  # C
    normalise_targets: bool = False  # C
    gradient_steps: int | None = None


# What a task has in common for MBPO, M2AC and MACURA.
# Steps: P tables, epochs of 1000, plus the warm-up (C). N: P. The rest of each row: C, where P is silent.
TASK: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(steps=405_000, epochs_kept=1, rollouts=200, patience=5),
    "Hopper": dict(steps=130_000, epochs_kept=1, patience=5, target_interval=4),
    "Walker2d": dict(
        steps=205_000, epochs_kept=3, patience=10, target_interval=4, learning_rate=7e-5, sac_batch=512
    ),
    "Ant": dict(
        steps=305_000, epochs_kept=1, patience=10, target_interval=4, learning_rate=1e-4, sac_batch=512
    ),
    "Humanoid": dict(
        steps=305_000, epochs_kept=5, patience=10, target_interval=4, learning_rate=1e-4, sac_batch=512
    ),
}

# P, tables of MBPO and MACURA: W, target entropy, width of the ensemble (the same for both).
SHARED: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(width=1024, target_entropy=-4.0),
    "Hopper": dict(width=1024, target_entropy=0.0),
    "Walker2d": dict(width=1024, target_entropy=-1.0),
    "Ant": dict(width=1024, target_entropy=-1.0),
    "Humanoid": dict(width=2048, target_entropy=-10.0, model_width=400),
}

# P, table of MACURA: G_max and xi; T_max = 10 and zeta = 0.95 on every task; pink exploration.
MACURA: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(updates=20, threshold_scale=2.0),
    "Hopper": dict(updates=60, threshold_scale=30.0),
    "Walker2d": dict(updates=60, threshold_scale=0.3),
    "Ant": dict(updates=40, threshold_scale=5.0),
    "Humanoid": dict(updates=40, threshold_scale=5.0),
}

# P, table of MBPO: G and the schedule of T_max (over epochs a to b, from length c to d); deterministic exploration.
MBPO: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(updates=10, rollouts=203, horizon=FixedHorizon(1)),
    "Hopper": dict(updates=30, rollouts=406, horizon=LinearHorizon(20, 100, 1, 15)),
    "Walker2d": dict(updates=30, rollouts=406, horizon=FixedHorizon(1)),
    "Ant": dict(updates=20, rollouts=406, horizon=LinearHorizon(20, 100, 1, 25)),
    "Humanoid": dict(updates=20, rollouts=406, horizon=LinearHorizon(20, 300, 1, 25)),
}

# P, table of M2AC with deterministic exploration; batch, step sizes and log-variance floors: C.
# That what is not kept stops is in P's text; C keeps ranking it.
M2AC: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(
        width=512,
        target_entropy=-6.0,
        updates=10,
        model_learning_rate=1e-3,
        weight_decay=1e-5,
        min_logvar=-6.0,
    ),
    "Hopper": dict(width=1024, target_entropy=0.0, updates=30),
    "Walker2d": dict(width=1024, target_entropy=-1.0, updates=30),
    "Ant": dict(width=1024, target_entropy=None, fixed_alpha=0.2, updates=20, sac_batch=256, min_logvar=-6.0),
    "Humanoid": dict(width=1024, target_entropy=-17.0, updates=20, sac_batch=256),
}

# P, table of M2AC with stochastic (white or pink) exploration; what it leaves out is as in the deterministic table.
M2AC_STOCHASTIC: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(width=1024, target_entropy=-4.0, updates=10),
    "Hopper": dict(width=1024, target_entropy=None, fixed_alpha=0.2, updates=30),
    "Walker2d": dict(width=1024, target_entropy=None, fixed_alpha=0.2, updates=10),
    "Ant": dict(width=1024, target_entropy=-1.0, fixed_alpha=None, updates=20),
    "Humanoid": dict(width=1024, target_entropy=-17.0, updates=20),
}

# P, table of SAC: width 256, one update a step; fixed alpha 0.2 on Ant; step size and batch: C (Haarnoja's defaults).
SAC: Mapping[str, dict[str, Any]] = {
    "HalfCheetah": dict(target_entropy=-6.0),
    "Hopper": dict(target_entropy=-3.0),
    "Walker2d": dict(target_entropy=-6.0),
    "Ant": dict(target_entropy=None, fixed_alpha=0.2),
    "Humanoid": dict(target_entropy=-17.0),
}

# Every place where the code published with the paper departs from the paper's own tables and equations.
PUBLISHED: Mapping[tuple[str, str], dict[str, Any]] = {
    ("macura", "Hopper"): dict(threshold_quantile=0.90, steps=155_000),
    ("macura", "Walker2d"): dict(model_width=400),
    ("mbpo", "Hopper"): dict(horizon=LinearHorizon(20, 150, 1, 15), steps=155_000),
}
PUBLISHED_EVERYWHERE: Mapping[str, dict[str, Any]] = {
    "macura": dict(measure="geometric_js_dual", rounding="down"),
    "mbpo": dict(),
    "m2ac": dict(stop_unranked=False),
    "sac": dict(),
}


def paper(algorithm: str, task: str, stochastic: bool = False) -> Numbers:
    """The paper's numbers for one algorithm on one task."""
    numbers: dict[str, Any] = dict(TASK[task])
    if algorithm == "sac":
        return Numbers(steps=numbers["steps"], width=256, updates=1, exploration="white", **SAC[task])
    if algorithm == "m2ac":
        numbers |= M2AC[task] | {"stop_unranked": True}
        if stochastic:
            numbers |= M2AC_STOCHASTIC[task] | {"exploration": "pink"}
    elif algorithm == "macura":
        numbers |= SHARED[task] | MACURA[task] | {"exploration": "pink"}
    else:
        numbers |= SHARED[task] | MBPO[task]
    return Numbers(**numbers)


def published(algorithm: str, task: str) -> Numbers:
    """The settings published as code, where they depart from the paper's tables."""
    changes = PUBLISHED_EVERYWHERE[algorithm] | PUBLISHED.get((algorithm, task), {})
    return replace(paper(algorithm, task), **changes)


# What a task has of its own, whatever the size of the networks: the same numbers as in the tables above.
OWN_OF_TASK = ("target_entropy", "fixed_alpha", "target_interval", "threshold_scale", "horizon")


# Our own: MBPO explores as in its first publication, where the paper's tuned settings do without.
EXPLORATION: Mapping[str, ExplorationKind] = {"macura": "pink", "mbpo": "white", "m2ac": "deterministic"}


def default(algorithm: str, task: str | None) -> Numbers:
    """Our numbers for any task: 256-wide networks, and nothing that had to be tuned to the task.

    xi = 1 is where the paper says to begin on a new task; the target entropy is SAC's own, minus the number of
    actions. What departs from the paper, by the evidence in `results/first-look` and `results/choosing-defaults`:
    critics of this width diverge on some seeds without layer normalisation; refits on few rows need a fewest number
    of steps; kappa, averaged over the last 20 rounds, forgets the first ones, which a warm-up of 500 steps instead of
    5000 leaves far too unsure; and the ensemble learns normalised targets.
    """
    if algorithm == "sac":
        return Numbers(
            steps=100_000,
            width=256,
            learning_rate=1e-3,  # three times the usual one: results/sac
            target_entropy=None,
            updates=1,
            exploration="white",
            warmup_steps=1000,
        )
    return Numbers(
        steps=50_000,
        width=256,
        layer_norm="features",
        target_entropy=None,
        updates=10 if algorithm == "m2ac" else 20,
        warmup_steps=500,
        rollouts=100,
        horizon=LinearHorizon(20, 100, 1, 10) if algorithm == "mbpo" else FixedHorizon(10),
        exploration=EXPLORATION[algorithm],
        threshold_window=20,
        fewest_steps=200,
        normalise_targets=True,
        gradient_steps=1000,
    )


def laptop(algorithm: str, task: str | None) -> Numbers:
    """256-wide networks and a quarter of the paper's rollouts, for two cores.

    What the paper tunes per task stays, with what it was tuned for: targets as they are, and the measure of the
    published code.
    """
    ours = replace(default(algorithm, task), normalise_targets=False, measure="geometric_js_dual")
    if task not in TASKS:
        return ours
    theirs = paper(algorithm, task)
    kept = {name: getattr(theirs, name) for name in OWN_OF_TASK}
    return replace(ours, steps=25_000, **kept)


def quick(algorithm: str, task: str | None) -> Numbers:
    """Small networks for trying things out: minutes instead of an hour, and worse policies."""
    ours = laptop(algorithm, task)
    if algorithm == "sac":
        return replace(ours, steps=20_000, width=64)
    return replace(
        ours,
        steps=5_000,
        width=64,
        warmup_steps=500,
        rollouts=20,
        model_width=64,
        model_layers=2,
        fewest_steps=100,
        gradient_steps=500,
    )
