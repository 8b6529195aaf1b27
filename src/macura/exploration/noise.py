"""Sequences of epsilon for a = tanh(mu(s) + sigma(s) epsilon)."""

from typing import Literal

import colorednoise
import numpy as np
from jaxtyping import Float

ExplorationKind = Literal["pink", "white", "deterministic"]


def epsilon_sequence(
    kind: ExplorationKind, length: int, act_dim: int, rng: np.random.Generator
) -> Float[np.ndarray, "time act"]:
    """One block of exploration noise: unit variance, independent over actions.

    `pink` has a power spectrum of 1/f over time (Eberhard et al. 2023), `white` none, `deterministic` is zero.
    """
    if kind == "deterministic":
        return np.zeros((length, act_dim), np.float32)
    if kind == "white":
        return rng.standard_normal((length, act_dim), np.float32)
    if length == 1:  # a spectrum needs two points
        return rng.standard_normal((1, act_dim), np.float32)
    return colorednoise.powerlaw_psd_gaussian(1, (act_dim, length), random_state=rng).T.astype(np.float32)
