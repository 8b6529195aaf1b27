"""Theorem 4.1 by Monte Carlo: what policy evaluation inside the model can lose, against what is promised.

Pairs of rollouts start in the same state of E, one under the true dynamics and one under the model, and stop
together before either has left E: T = min{T_true, T_model} - 1. With rewards in [0, r_max],

    eta >= eta_model - C,    C = 2 r_max sum_{t=0..T} gamma^t sum_{tau=0..t} Delta_p,

Delta_p being the supremum over E of the total variation between the two dynamics. The paper leaves the random T
outside the expectation. `Bound.bound` is the mean of C over pairs; `Bound.certain` puts the longest T in its place,
and follows without further assumptions if the two rollouts of a pair have independent noise, as here: equal
dynamics would give equal returns by symmetry, and each step adds at most Delta_p to the total variation between
the laws of the model's rollout and of a true one.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from macura.core import Gaussians, PRNGKey
from macura.envs import pendulum

MAX_REWARD = 1.0
"""r_max of the pendulum's reward (1 + cos phi) / 2."""

Predict = Callable[[Float[Array, "batch 2"]], Gaussians]
"""What the members say of the change of state under the controller."""


class Pairs(NamedTuple):
    """States of both rollouts of every pair, start and `horizon` steps; not stopped."""

    true: Float[Array, "time pair 2"]
    model: Float[Array, "time pair 2"]


class Bound(NamedTuple):
    """Both sides of the inequality for one set E. Sums and means are over pairs that start in E."""

    pairs: int
    length: float
    """Mean of T + 1, steps taken."""
    eta: float
    eta_model: float
    error: float
    """Standard error of eta - eta_model."""
    supremum: float
    """Delta_p: the largest misalignment on E."""
    bound: float
    """C, mean over pairs."""
    certain: float
    """C for the longest T."""
    trivial: float
    """r_max times the mean of sum_{t=0..T} gamma^t: no gap can be larger."""

    @property
    def gap(self) -> float:
        """|eta - eta_model|, which the proof bounds as well."""
        return abs(self.eta - self.eta_model)


def starts_in_box(count: int, key: PRNGKey) -> Float[Array, "pair 2"]:
    """States drawn uniformly from the box; the start distribution of E is what lies in it."""
    limits = jnp.asarray([pendulum.ANGLE_LIMIT, pendulum.VELOCITY_LIMIT])
    return jax.random.uniform(key, (count, 2), jnp.float32, -limits, limits)


def branch(predict: Predict, starts: Float[Array, "pair 2"], horizon: int, key: PRNGKey) -> Pairs:
    """Both rollouts of every pair, with independent noise; the model draws a member anew for every step and pair."""

    def move(pair: Pairs, step_key: PRNGKey) -> tuple[Pairs, Pairs]:
        true_key, member_key, noise_key = jax.random.split(step_key, 3)
        true = pendulum.step(pair.true, jnp.asarray(pendulum.controller(pair.true)), true_key)
        predicted = predict(pair.model)
        members, count = predicted.mean.shape[:2]
        member = jax.random.randint(member_key, (1, count, 1), 0, members)
        mean, logvar = (jnp.take_along_axis(array, member, axis=0)[0] for array in predicted)
        change = mean + jnp.exp(0.5 * logvar) * jax.random.normal(noise_key, mean.shape)
        after = Pairs(true, pair.model + change)
        return after, after

    first = Pairs(starts, starts)
    states = jax.lax.scan(move, first, jax.random.split(key, horizon))[1]
    return jax.tree.map(lambda start, rest: jnp.concatenate([start[None], rest]), first, states)


def in_box(states: Float[np.ndarray, "*batch 2"]) -> Bool[np.ndarray, "*batch"]:
    """Whether states lie in the box, of which every E is a part."""
    limits = np.asarray([pendulum.ANGLE_LIMIT, pendulum.VELOCITY_LIMIT])
    return np.asarray(np.all(np.abs(states) <= limits, axis=-1))


def going(inside: Bool[np.ndarray, "time pair"]) -> Bool[np.ndarray, "step pair"]:
    """Whether T >= t, that is s_0, ..., s_t of both rollouts are in E; the reward of step t then counts."""
    return np.logical_and.accumulate(inside[:-1], axis=0)


def evaluate(
    true_reward: Float[np.ndarray, "step pair"],
    model_reward: Float[np.ndarray, "step pair"],
    counts: Bool[np.ndarray, "step pair"],
    supremum: float,
    discount: float,
) -> Bound | None:
    """Both sides of the inequality from the rewards of the states reached; None if no pair starts in E."""
    begun = counts[0]
    if not begun.any():
        return None
    steps = np.arange(len(counts))
    weight = discount ** steps[:, None] * counts[:, begun]
    true, model = (np.sum(weight * reward[:, begun], axis=0) for reward in (true_reward, model_reward))
    promised = 2 * MAX_REWARD * supremum * (steps + 1)[:, None]
    pairs = int(begun.sum())
    return Bound(
        pairs=pairs,
        length=float(counts[:, begun].sum(0).mean()),
        eta=float(true.mean()),
        eta_model=float(model.mean()),
        error=float((true - model).std(ddof=min(1, pairs - 1)) / np.sqrt(pairs)),
        supremum=supremum,
        bound=float(np.sum(weight * promised, axis=0).mean()),
        certain=float(np.sum(discount ** steps[:, None] * promised)),
        trivial=float(MAX_REWARD * weight.sum(0).mean()),
    )
