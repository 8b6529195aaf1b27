"""What is measured, and how large. `full` is the setting that the published figures are for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from macura import presets
from macura.training import RunConfig, override

ENV = "HalfCheetah-v5"
OBS, ACT = 17, 6
HORIZON = 10
STEPS_BETWEEN_ROUNDS = 250
ROWS_OF_A_RUN = 25_000

PARTS = ("improve", "fit_model", "imagine", "steps", "run", "host")
"""What can be measured by itself; `steps` puts the first three together."""


@dataclass(frozen=True)
class Size:
    """One size of everything."""

    width: int = 256
    """Units per hidden layer of the agent's networks."""
    batch: int = 256
    updates: int = 20
    """G_max, and the G at which the rate of `improve` is measured."""
    typical_updates: int = 17
    """G of a step in the sum over 250 steps."""
    model_width: int = 200
    rollouts: int = 50_000
    """M in a round: 200 for each of 250 steps."""
    rows: int = 5_000
    """Real transitions of a refit."""
    epochs: int = 10
    """Epochs of a refit."""
    run_steps: int = 1_000
    """Environment steps of a whole run, in four epochs."""
    host_steps: int = 2_000
    """Environment steps over which the work of the host is counted."""
    repeats: int = 5
    gemm_flops: float = 2e10
    """Operations of one timing of matrix products."""


SIZES: Mapping[str, Size] = {
    "full": Size(),
    "quick": Size(rollouts=10_000, rows=2_000, epochs=5, run_steps=400, host_steps=500, repeats=3),
    "tiny": Size(
        width=8,
        batch=16,
        updates=2,
        typical_updates=1,
        model_width=8,
        rollouts=64,
        rows=100,
        epochs=2,
        run_steps=40,
        host_steps=20,
        repeats=1,
        gemm_flops=1e5,
    ),
}
"""`tiny` shows that everything works, and nothing else."""


def macura(size: Size, steps: int, **settings: Any) -> RunConfig:
    """MACURA with a threshold that everything passes, so that the work does not depend on what was learned."""
    common: dict[str, Any] = {
        "sac.width": size.width,
        "sac.batch_size": size.batch,
        "updates.maximum": size.updates,
        "imagination.model.width": size.model_width,
        "imagination.model.batch_size": size.batch,
        "imagination.rollout.rollouts": size.rollouts,
        "imagination.rollout.gate.fixed": 1e30,
    }
    return override(presets.build("macura", ENV, "laptop", steps=steps), common | settings)


def sac(size: Size, **settings: Any) -> RunConfig:
    """SAC for the work of the host, in two epochs."""
    epoch = max(size.host_steps // 2, 1)
    common: dict[str, Any] = {"epoch_steps": epoch, "evaluation_episodes": 1, "sac.batch_size": size.batch}
    return override(presets.build("sac", ENV, "laptop", steps=size.host_steps), common | settings)
