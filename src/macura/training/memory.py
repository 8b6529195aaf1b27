"""How much memory a run will take, before any of it is taken."""

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise

import jax

from macura import replay
from macura.core import UserError
from macura.training.config import Imagination, RunConfig

FLOAT = 4
PROGRAMS = 600 * 2**20
"""What Python, JAX and its compiled programs take by themselves, measured on a CPU."""


def estimate(config: RunConfig, obs_dim: int, act_dim: int) -> dict[str, int]:
    """Bytes of every large part of a run once it is full."""
    width = replay.width(obs_dim, act_dim)
    parts = {
        "programs": PROGRAMS,
        "real_buffer": config.real_capacity * width * FLOAT,
        "agent": _agent(config, obs_dim, act_dim),
    }
    imagination = config.imagination
    if imagination is not None:
        stored = 2 if imagination.ring.storage == "float16" else FLOAT
        parts["imagined_buffer"] = imagination.capacity * width * stored
        parts["model"] = _model(imagination, obs_dim, act_dim)
        parts["model_training"] = _fitting(config, imagination, obs_dim, act_dim)
        parts["rollouts"] = imagination.rollout.rollouts * (2 * width + obs_dim) * FLOAT
    return parts


def refuse_too_much(parts: Mapping[str, int]) -> None:
    """`UserError` if the estimate is more than this machine has."""
    available = machine_memory()
    total = sum(parts.values())
    if available is None or total <= available:
        return
    largest = max(parts, key=lambda name: parts[name])
    remedy = {
        "imagined_buffer": "lower --imagination.rollout.rollouts or --imagination.ring.rounds-kept,"
        " or store rows in half precision: --imagination.ring.storage float16",
        "real_buffer": "lower --steps",
        "rollouts": "lower --imagination.rollout.rollouts",
        "model_training": "lower --steps",
    }.get(largest, "use smaller networks: --preset laptop")
    raise UserError(
        f"This run would take about {total / 2**30:.1f} GiB (of which {largest} {parts[largest] / 2**30:.1f} GiB),"
        f" but the machine has {available / 2**30:.1f} GiB; {remedy}."
    )


def machine_memory() -> int | None:
    """Bytes of the device that holds the buffers, less where a container allows less; None where nobody knows."""
    if jax.default_backend() != "cpu":
        stats = jax.devices()[0].memory_stats() or {}
        return stats.get("bytes_limit")
    limits = [_number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    with suppress(ValueError, OSError, AttributeError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _agent(config: RunConfig, obs_dim: int, act_dim: int) -> int:
    hidden = [config.sac.width] * config.sac.hidden_layers
    actor = _weights([obs_dim, *hidden, 2 * act_dim])
    critics = 2 * _weights([obs_dim + act_dim, *hidden, 1])
    # Actor with two Adam moments; critics with two moments and their targets; gradients of both; the best actor.
    return FLOAT * (5 * actor + 5 * critics)


def _model(imagination: Imagination, obs_dim: int, act_dim: int) -> int:
    model = imagination.model
    sizes = [obs_dim + act_dim, *[model.width] * model.hidden_layers, 2 * (obs_dim + 1)]
    return FLOAT * 5 * model.members * _weights(sizes)  # weights, two moments, gradient, snapshot


def _fitting(config: RunConfig, imagination: Imagination, obs_dim: int, act_dim: int) -> int:
    """Normalised inputs and targets, the bootstrap table, and permutations, at the capacity of the real buffer."""
    columns = (obs_dim + act_dim) + (obs_dim + 1) + replay.width(obs_dim, act_dim)
    return FLOAT * config.real_capacity * (columns + imagination.model.members + 4)


def _weights(sizes: list[int]) -> int:
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(sizes))


def _number(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):  # absent, or the word "max"
        return None
