"""The compiled phases of a run on made-up data, ready to be called again and again."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from macura import replay, sac
from macura.bench.size import ACT, HORIZON, OBS, ROWS_OF_A_RUN, Size, macura
from macura.core import root_key
from macura.training import Judges
from macura.training import state as states
from macura.training.config import RunConfig
from macura.training.phases import Phases, compile_phases, required
from macura.training.state import Shape, State

SHAPE = Shape(obs=OBS, act=ACT, learned_reward=True, learned_termination=False)
FILL = 0.85
"""Share of the imagined buffer that is full: 17 of at most 20 updates."""


class Programs:
    """The state of a run and the phases on it; every call goes on from the one before, as donated memory demands."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.config = config(size)
        self.root = root_key(0)
        self.state: State = fill(self.config, size)
        self.tally = sac.no_metrics()
        self.full = compile_phases(self.config, SHAPE, Judges(_never))
        self.short = compile_phases(self.config, SHAPE, Judges(_every_other))
        self.info: dict[str, Any] = {}

    def improve(self, updates: int) -> Callable[[], None]:
        """Store a row and do this many updates."""
        row = np.zeros(replay.width(OBS, ACT), np.float32)

        def once() -> None:
            state = self.state
            arguments = (state.learner, state.real, self.tally, state.ring, self.root, row)
            learner, real, self.tally = self.full.improve(*arguments, np.int32(updates), np.int32(1))
            jax.block_until_ready(self.tally)
            self.state = state._replace(learner=learner, real=real)

        return once

    def fit_model(self) -> None:
        """One refit."""
        state = self.state
        model, info = self.full.fit_model(state.model, state.real, self.root, np.int32(1))
        self.info["fit_model"] = jax.device_get(info)
        self.state = state._replace(model=model)

    def imagine(self) -> None:
        """One round of rollouts, all of full length."""
        self._imagine("imagine", self.full)

    def imagine_short(self) -> None:
        """One round of rollouts, half of which end in every step."""
        self._imagine("imagine_short", self.short)

    def _imagine(self, name: str, phases: Phases) -> None:
        state = self.state
        numbers = np.array([HORIZON, required(self.config.imagination).capacity, 1], np.int32)
        arguments = (state.ring, state.gate, state.real, state.model, state.learner.policy, self.root)
        ring, gate, info = phases.imagine(*arguments, numbers)
        self.info[name] = jax.device_get(info)
        self.state = state._replace(ring=ring, gate=gate)


def config(size: Size) -> RunConfig:
    """A refit does exactly its epochs: patience never ends it, the budget of gradient steps does."""
    steps_of_an_epoch = -(-train_rows(size) // size.batch)
    return macura(
        size,
        max(ROWS_OF_A_RUN, size.rows),
        **{
            "imagination.model.patience": 10**6,
            "imagination.model.gradient_steps": size.epochs * steps_of_an_epoch,
        },
    )


def train_rows(size: Size) -> int:
    """Rows that a refit trains on: four fifths."""
    return size.rows - max(int(0.2 * size.rows), 1)


def fill(config: RunConfig, size: Size) -> State:
    """A fresh agent and model, real transitions of a slow noisy system, and an imagined buffer nearly full."""
    state = states.init(config, SHAPE, np.ones(ACT, np.float32), root_key(0))
    assert state.ring is not None
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((size.rows, OBS), np.float32)
    action = rng.uniform(-1, 1, (size.rows, ACT)).astype(np.float32)
    push = np.tanh(action @ rng.standard_normal((ACT, OBS), np.float32))
    next_obs = 0.9 * obs + 0.1 * push + 0.01 * rng.standard_normal((size.rows, OBS), np.float32)
    ended = np.zeros((size.rows, 1), np.float32)
    rows = np.concatenate([obs, action, obs[:, :1], next_obs, ended], axis=1, dtype=np.float32)
    held = round(FILL * state.ring.rows.shape[0])
    ring = replay.Ring(
        rows=jax.random.normal(jax.random.key(1), state.ring.rows.shape, state.ring.rows.dtype),
        start=jnp.int32(0),
        count=jnp.int32(held),
        round_counts=state.ring.round_counts.at[-1].set(held),
        round_opened=jnp.bool_(False),
    )
    real = state.real.rows.at[: size.rows].set(rows)
    return state._replace(real=replay.RealBuffer(real, jnp.int32(size.rows)), ring=ring)


def _never(next_obs: Float[Array, "*batch obs"]) -> Bool[Array, "*batch"]:
    return jnp.zeros(next_obs.shape[:-1], jnp.bool_)


def _every_other(next_obs: Float[Array, "*batch obs"]) -> Bool[Array, "*batch"]:
    """About half of all rows, by digits that nothing decides: lengths are geometric, 2 steps in the mean."""
    digits = jnp.sum(next_obs, axis=-1) * 1000
    return digits - jnp.floor(digits) < 0.5
