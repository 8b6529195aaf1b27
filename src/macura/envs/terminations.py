"""Where a task ends, as pure functions of the next observation: what imagined episodes are cut by.

Every function takes one observation or a batch along leading axes, as JAX or NumPy arrays, and agrees with the
simulator on real transitions (tests/domain); what observations cannot tell is in
docs/decisions/0001-termination-on-observations.md. A state that is not finite has ended, everywhere but in tasks
that never end. (The code published with the paper lets a Humanoid whose height is NaN live on.)
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float

from macura.core import UserError, did_you_mean

AnyArray = Array | np.ndarray
Observations = Float[AnyArray, "*batch obs"]
Flags = Bool[AnyArray, "*batch"]
Termination = Callable[[Any], Any]


def never(next_obs: Observations) -> Flags:
    """HalfCheetah, Swimmer, Reacher, Pusher and the pendulums that may hang: only a time limit cuts them."""
    xp = next_obs.__array_namespace__()
    return xp.zeros(next_obs.shape[:-1], dtype=xp.bool)


def hopper(next_obs: Observations) -> Flags:
    """Alive while z > 0.7, |angle| < 0.2, and every number after z is within (-100, 100)."""
    xp = next_obs.__array_namespace__()
    height, angle = next_obs[..., 0], next_obs[..., 1]
    bounded = xp.all(xp.abs(next_obs[..., 1:]) < 100.0, axis=-1)
    return xp.asarray(~(bounded & xp.isfinite(height) & (height > 0.7) & (xp.abs(angle) < 0.2)))


def walker2d(next_obs: Observations) -> Flags:
    """Alive while 0.8 < z < 2 and |angle| < 1."""
    xp = next_obs.__array_namespace__()
    height, angle = next_obs[..., 0], next_obs[..., 1]
    return xp.asarray(~((height > 0.8) & (height < 2.0) & (xp.abs(angle) < 1.0)))


def ant(next_obs: Observations) -> Flags:
    """Alive while all numbers are finite and 0.2 <= z <= 1."""
    xp = next_obs.__array_namespace__()
    height = next_obs[..., 0]
    return xp.asarray(~(xp.all(xp.isfinite(next_obs), axis=-1) & (height >= 0.2) & (height <= 1.0)))


def humanoid(next_obs: Observations) -> Flags:
    """Alive while 1 < z < 2."""
    xp = next_obs.__array_namespace__()
    height = next_obs[..., 0]
    return xp.asarray(~((height > 1.0) & (height < 2.0)))


def inverted_pendulum(next_obs: Observations) -> Flags:
    """Alive while all numbers are finite and |angle| <= 0.2."""
    xp = next_obs.__array_namespace__()
    return xp.asarray(~(xp.all(xp.isfinite(next_obs), axis=-1) & (xp.abs(next_obs[..., 1]) <= 0.2)))


def inverted_double_pendulum(next_obs: Observations) -> Flags:
    """Alive while the tip is above 1: 0.6 (cos t1 + cos(t1 + t2)) > 1, the poles being 0.6 long.

    The observation is (x, sin t1, sin t2, cos t1, cos t2, ...), t2 relative to the first pole.
    """
    xp = next_obs.__array_namespace__()
    sin1, sin2, cos1, cos2 = (next_obs[..., k] for k in range(1, 5))
    return xp.asarray(~(0.6 * (cos1 + (cos1 * cos2 - sin1 * sin2)) > 1.0))


_ENDS: Mapping[str, Termination] = {
    "HalfCheetah": never,
    "Hopper": hopper,
    "Walker2d": walker2d,
    "Ant": ant,
    "Humanoid": humanoid,
    "InvertedPendulum": inverted_pendulum,
    "InvertedDoublePendulum": inverted_double_pendulum,
    "Reacher": never,
    "Pusher": never,
    "Swimmer": never,
}

TERMINATIONS: Mapping[str, Termination] = {
    f"{task}-v{version}": function
    for task, function in _ENDS.items()
    for version in (4, 5)
    if (task, version) != ("Pusher", 4)  # cannot be made with MuJoCo 3
} | {"Pendulum-v1": never, "macura/Pendulum-v0": never}


def find(env_id: str) -> Termination | None:
    """The termination function of an id, or `None` if there is none built in."""
    return TERMINATIONS.get(env_id)


def termination(env_id: str) -> Termination:
    """The function of a batch of next observations of `make(env_id)` that says where the task has ended."""
    function = find(env_id)
    if function is None:
        raise UserError(
            f"There is no built-in termination function for {env_id!r}.{did_you_mean(env_id, TERMINATIONS)}"
            " Let the model learn it (--imagination.termination learned), or give package.module:function."
        )
    return function
