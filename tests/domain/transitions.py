"""Real transitions of the simulator, near the bounds at which a task ends and in ordinary play.

`python -m tests.domain.transitions` prints how often each termination function differs from the simulator.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from macura.envs import TERMINATIONS, make


@dataclass(frozen=True)
class Bound:
    """A number of the next state at which the task ends, and how to put the simulator close to it."""

    name: str
    value: float
    width: float
    measure: Callable
    """(qpos, qvel) of the simulator -> the number that is compared with `value`."""
    place: Callable
    """(qpos, qvel, target, rng): change the state so that the measure is about `target`."""
    contacts: bool = True
    """Whether bodies touch; without, a torso can be where the floor would keep it from being."""


@dataclass(frozen=True)
class Transitions:
    next_obs: np.ndarray
    """As the bridge passes it on: float32."""
    terminated: np.ndarray
    measured: np.ndarray
    """The measure of the bound after the step; nan in ordinary play."""
    fastest: np.ndarray
    """Largest absolute velocity after the step, before any clipping."""


def _put(index):
    def place(qpos, qvel, target, rng):
        qpos[index] = target
        qvel *= 0.05

    return place


def _coordinate(index):
    return lambda qpos, qvel: qpos[index]


def _tip(qpos, qvel):
    return 0.6 * (np.cos(qpos[1]) + np.cos(qpos[1] + qpos[2]))


def _place_tip(qpos, qvel, target, rng):
    """A random pair of angles with the tip at the target: 0.6 (cos t1 + cos(t1 + t2)) = target."""
    first = rng.uniform(-0.7, 0.7)
    rest = np.clip(target / 0.6 - np.cos(first), -1.0, 1.0)
    qpos[1:] = first, rng.choice([-1.0, 1.0]) * np.arccos(rest) - first
    qvel *= 0.1


def _place_folded(qpos, qvel, target, rng):
    """Hopper low above the floor with its leg drawn up, so that the floor does not push it away."""
    qpos[1], qpos[2] = target, 0.0
    qpos[3:5] = rng.uniform([-2.5, -0.5], [-1.8, 0.0])
    qvel *= 0.05


def _place_fast(qpos, qvel, target, rng):
    """One joint near +-target, the rest calm."""
    qvel *= 0.0
    qvel[rng.integers(len(qvel))] = rng.choice([-1.0, 1.0]) * target * 1.02


def coordinate(name, index, value, width=0.02):
    return Bound(name, value, width, _coordinate(index), _put(index))


BOUNDS = {
    "Hopper": [
        Bound("height", 0.7, 0.02, _coordinate(1), _place_folded),
        coordinate("angle", 2, 0.2),
        coordinate("angle", 2, -0.2),
        Bound("velocity", 100.0, 15.0, lambda qpos, qvel: np.abs(qvel).max(), _place_fast),
    ],
    "Walker2d": [
        coordinate("height", 1, 0.8),
        coordinate("height", 1, 2.0),
        coordinate("angle", 2, 1.0),
        coordinate("angle", 2, -1.0),
    ],
    # The torso of Ant has radius 0.25: it is below 0.2 only where it has sunk into the floor.
    "Ant": [
        Bound("height", 0.2, 0.02, _coordinate(2), _put(2), contacts=False),
        coordinate("height", 2, 1.0),
    ],
    "Humanoid": [coordinate("height", 2, 1.0), coordinate("height", 2, 2.0)],
    "InvertedPendulum": [coordinate("angle", 1, 0.2), coordinate("angle", 1, -0.2)],
    "InvertedDoublePendulum": [Bound("tip", 1.0, 0.02, _tip, _place_tip)],
}


def _simulator_state(env):
    data = getattr(env.unwrapped, "data", None)
    return (data.qpos, data.qvel) if data is not None else (np.zeros(1), np.zeros(1))


def collect(env_id, count, bound=None, seed=0):
    """`count` random steps; with a bound, each from a state that was put close to it."""
    env = make(env_id)
    rng = np.random.default_rng(seed)
    rows = []
    if bound is not None and not bound.contacts:
        env.unwrapped.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    env.reset(seed=seed)
    for k in range(count):
        if bound is not None:
            if k % 50 == 0:  # a new posture now and then
                env.reset(seed=seed + k)
            qpos, qvel = (part.copy() for part in _simulator_state(env))
            bound.place(qpos, qvel, bound.value + rng.uniform(-bound.width, bound.width), rng)
            env.unwrapped.set_state(qpos, qvel)
        action = rng.uniform(env.action_space.low, env.action_space.high).astype(np.float32)
        obs, _, terminated, truncated, _ = env.step(action)
        qpos, qvel = _simulator_state(env)
        measured = np.nan if bound is None else bound.measure(qpos, qvel)
        rows.append((np.asarray(obs, np.float32), terminated, measured, np.abs(qvel).max()))
        if bound is None and (terminated or truncated):
            env.reset(seed=seed + k)
    env.close()
    return Transitions(*(np.array(column) for column in zip(*rows, strict=True)))


def disagreement(env_id, transitions):
    """Rows on which the termination function differs from the simulator."""
    return np.asarray(TERMINATIONS[env_id](transitions.next_obs)) != transitions.terminated


def main(count=10_000):
    print(f"{'task':26s} {'states':28s} {'steps':>7s} {'ended':>7s} {'differ':>7s} {'fastest':>8s}")
    for env_id in (known for known in TERMINATIONS if not known.endswith("-v4")):
        for bound in [None, *BOUNDS.get(env_id[:-3], [])]:
            transitions = collect(env_id, count, bound)
            where = "ordinary play" if bound is None else f"{bound.name} near {bound.value:g}"
            wrong, ended = disagreement(env_id, transitions), transitions.terminated
            fastest = transitions.fastest.max()
            print(f"{env_id:26s} {where:28s} {count:7d} {ended.sum():7d} {wrong.sum():7d} {fastest:8.1f}")


if __name__ == "__main__":
    main()
