"""A model whose predictions are written down beforehand, and a place where the stored transitions can be read."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from macura import rollout
from macura.core import Transition
from macura.rollout import Imagined
from tests.oracles.rollout import World


class Log(NamedTuple):
    """Step and rollout of every stored transition, in the order of their arrival; its reward; whether it ended."""

    entries: jax.Array
    rewards: jax.Array
    count: jax.Array


def empty_log(capacity):
    return Log(jnp.zeros((capacity, 3), jnp.int32), jnp.zeros(capacity), jnp.int32(0))


def write(log, transition, keep):
    place = jnp.where(keep, log.count + jnp.cumsum(keep) - 1, log.rewards.shape[0])
    entry = jnp.stack([transition.obs[:, 1], transition.obs[:, 0], transition.terminated], axis=1).astype(
        jnp.int32
    )
    return Log(
        log.entries.at[place].set(entry, mode="drop"),
        log.rewards.at[place].set(transition.reward, mode="drop"),
        log.count + jnp.sum(keep, dtype=jnp.int32),
    )


def read(log):
    """[(t, m)], [terminated], [reward]."""
    entries = np.asarray(log.entries)[: int(log.count)]
    return (
        [(t, m) for t, m, _ in entries.tolist()],
        entries[:, 2].tolist(),
        np.asarray(log.rewards)[: int(log.count)],
    )


def written_step(u, finite, terminated):
    """Observations are (rollout, step); tables are [step, rollout]. The reward says which cell it came from."""

    def step(obs, key):
        m, t = obs[:, 0].astype(jnp.int32), obs[:, 1].astype(jnp.int32)
        next_obs = jnp.where(finite[t, m, None], jnp.stack([obs[:, 0], obs[:, 1] + 1], axis=1), jnp.nan)
        transition = Transition(obs, jnp.zeros((obs.shape[0], 1)), 100.0 * t + m, next_obs, terminated[t, m])
        return Imagined(transition, u[t, m], 2 * u[t, m])

    return step


def unroll_written(config, gate_state, u, finite, terminated, horizon):
    """One round in the written world."""
    starts = jnp.stack([jnp.arange(config.rollouts, dtype=jnp.float32), jnp.zeros(config.rollouts)], axis=1)
    log = empty_log(config.rollouts * config.horizon.longest())
    step = written_step(u, finite, terminated)
    return rollout.unroll(config, step, gate_state, starts, horizon, jax.random.key(0), write, log)


def random_world(rng, steps, rollouts, few_values, nonfinite=0.03, ends=0.1):
    """Uncertainties that tie often (few values) or never; some of them, and some predictions, not finite."""
    shape = (steps, rollouts)
    u = rng.integers(0, 6, shape) / 2 if few_values else rng.lognormal(0, 1, shape)
    u = u.astype(np.float32)
    share = rng.choice([0.0, nonfinite, 0.5])
    strange = rng.random(shape) < share
    u[strange] = rng.choice(np.array([np.nan, np.inf], np.float32), strange.sum())
    finite = rng.random(shape) >= rng.choice([0.0, nonfinite])
    terminated = rng.random(shape) < rng.choice([0.0, ends])
    return World(u, finite, terminated)
