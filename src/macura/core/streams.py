"""Named random streams derived from one seed.

Every consumer of randomness has its own stream, indexed by the step at which it draws. Adding a consumer, or
resuming a run, never shifts another stream.
"""

import enum

import jax
import numpy as np

from macura.core.types import PRNGKey


class Stream(enum.IntEnum):
    """Who draws. Numbers are part of the result of a run: append, never renumber."""

    AGENT_INIT = 0
    MODEL_INIT = 1
    ENV_RESET = 2
    EXPLORATION = 3
    IMPROVE = 4
    FIT_MODEL = 5
    IMAGINE = 6
    EVALUATE = 7
    ENV_NOISE = 8
    PREDICT = 9


def root_key(seed: int) -> PRNGKey:
    """The key from which all device randomness of a run derives."""
    return jax.random.key(seed)


def stream_key(root: PRNGKey, stream: Stream, step: int | jax.Array = 0) -> PRNGKey:
    """The key of `stream` at `step`; usable inside compiled code with a traced step."""
    return jax.random.fold_in(jax.random.fold_in(root, int(stream)), step)


def host_rng(seed: int, stream: Stream, step: int = 0) -> np.random.Generator:
    """The NumPy generator of `stream` at `step`, for what happens on the host."""
    return np.random.default_rng(np.random.SeedSequence([seed, int(stream), step]))


def host_seed(seed: int, stream: Stream, step: int = 0) -> int:
    """A 31-bit integer seed of `stream` at `step`, for libraries that want a number."""
    return int(np.random.SeedSequence([seed, int(stream), step]).generate_state(1)[0] >> 1)
