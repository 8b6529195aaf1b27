"""What a run remembers on the device, how it starts, and how it goes to disk and back."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from macura import dynamics, replay, rollout, sac
from macura.core import PRNGKey, Stream, stream_key
from macura.training.config import RunConfig


class Shape(NamedTuple):
    """What the compiled programs must know of the task before they see it."""

    obs: int
    act: int
    learned_reward: bool
    learned_termination: bool

    @property
    def outputs(self) -> dynamics.Outputs:
        """What the ensemble predicts in this task."""
        return dynamics.Outputs(
            obs=self.obs, act=self.act, reward=self.learned_reward, termination=self.learned_termination
        )


class State(NamedTuple):
    """All that a run remembers on the device; `None` where the algorithm has no model."""

    learner: sac.Learner
    real: replay.RealBuffer
    model: dynamics.ModelState | None
    ring: replay.Ring | None
    gate: rollout.GateState | None


def init(config: RunConfig, shape: Shape, action_scale: np.ndarray, root: PRNGKey) -> State:
    """The state before the first step."""
    learner = sac.init(config.sac, shape.obs, jnp.asarray(action_scale), stream_key(root, Stream.AGENT_INIT))
    real = replay.init_real(config.real_capacity, shape.obs, shape.act)
    imagination = config.imagination
    if imagination is None:
        return State(learner, real, None, None, None)
    width = replay.width(shape.obs, shape.act)
    return State(
        learner,
        real,
        model=dynamics.init(imagination.model, shape.outputs, stream_key(root, Stream.MODEL_INIT)),
        ring=replay.init_ring(imagination.ring, imagination.capacity, width),
        gate=imagination.rollout.gate.init(),
    )


def to_disk(state: State) -> State:
    """The same state as NumPy arrays, buffers cut to the rows they hold."""
    ring = None if state.ring is None else replay.trim_ring(state.ring)
    return jax.tree.map(np.asarray, state._replace(real=replay.trim_real(state.real), ring=ring))


def from_disk(saved: State, fresh: State) -> State:
    """The saved state with its buffers back at the size of `fresh`."""
    ring = None if saved.ring is None or fresh.ring is None else replay.restore_ring(saved.ring, fresh.ring)
    full = saved._replace(real=replay.restore_real(saved.real, fresh.real), ring=ring)
    return jax.tree.map(jnp.asarray, full)
