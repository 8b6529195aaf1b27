"""What the policy is worth: whole episodes without exploration noise, on environments of their own."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from macura.core import Stream, host_seed
from macura.envs import Bridge

BatchPolicy = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


def evaluate(bridges: Sequence[Bridge], policy: BatchPolicy, seed: int) -> list[float]:
    """Undiscounted returns of one episode on every bridge, side by side.

    Episode k always starts from the same seed, so that evaluations differ by the policy alone.
    """
    returns = [0.0] * len(bridges)
    observations = np.stack(
        [bridge.reset(host_seed(seed, Stream.EVALUATE, k)) for k, bridge in enumerate(bridges)]
    )
    running = set(range(len(bridges)))
    while running:
        actions = policy(observations)
        for k in sorted(running):
            outcome = bridges[k].step(actions[k])
            observations[k] = outcome.obs
            returns[k] += outcome.reward
            if outcome.terminated or outcome.truncated:
                running.remove(k)
    return returns
