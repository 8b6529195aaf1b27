"""What the policy is worth: whole episodes without exploration noise, on environments of their own."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macura.core import Stream, host_seed
from macura.envs import Bridge

BatchPolicy = Callable[[NDArray[Any]], NDArray[Any]]


def evaluate(bridges: Sequence[Bridge], policy: BatchPolicy, seed: int, episodes: int) -> list[float]:
    """Undiscounted returns of `episodes` episodes, side by side on as many environments as there are.

    Episode k always starts from the same seed, so that evaluations differ by the policy alone.
    """
    seeds = [host_seed(seed, Stream.EVALUATE, k) for k in range(episodes)]
    lanes = len(bridges)
    returns: list[float] = []
    for first in range(0, episodes, lanes):
        returns += _side_by_side(bridges, policy, seeds[first : first + lanes])
    return returns


def _side_by_side(bridges: Sequence[Bridge], policy: BatchPolicy, seeds: Sequence[int]) -> list[float]:
    """One episode from each seed. The policy is always asked about as many rows as there are bridges."""
    returns = [0.0] * len(seeds)
    observations = np.zeros((len(bridges), bridges[0].obs_dim), np.float32)
    for k, seed in enumerate(seeds):
        observations[k] = bridges[k].reset(seed)
    running = list(range(len(seeds)))
    while running:
        actions = policy(observations)
        for k in list(running):
            outcome = bridges[k].step(actions[k])
            observations[k] = outcome.obs
            returns[k] += outcome.reward
            if outcome.terminated or outcome.truncated:
                running.remove(k)
    return returns
