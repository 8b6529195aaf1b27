"""Numbers that stand for many seeds: means with bands, robust aggregates with bootstrap intervals, comparisons."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from macura.analysis.loading import Series


class Band(NamedTuple):
    """Mean over seeds at every step, with its 95 % confidence limits (NaN where fewer than two seeds got there)."""

    steps: Int[np.ndarray, "time"]
    mean: Float[np.ndarray, "time"]
    low: Float[np.ndarray, "time"]
    high: Float[np.ndarray, "time"]
    seeds: Int[np.ndarray, "time"]


def align(curves: Sequence[Series]) -> tuple[Int[np.ndarray, "time"], Float[np.ndarray, "seed time"]]:
    """Curves of several seeds on the union of their steps; NaN where a seed has no value."""
    steps = np.unique(np.concatenate([curve.steps for curve in curves] or [np.zeros(0, np.int64)]))
    table = np.full((len(curves), len(steps)), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[np.searchsorted(steps, curve.steps)] = curve.values
    return steps, table


def band(curves: Sequence[Series]) -> Band:
    """mean ± t s / sqrt(n) at every step, t being Student's 97.5 % quantile with n - 1 degrees of freedom."""
    steps, table = align(curves)
    seeds = np.sum(np.isfinite(table), axis=0)
    total = np.nansum(table, axis=0)
    mean = total / np.maximum(seeds, 1)
    spread = np.nansum((table - mean) ** 2, axis=0)
    enough = seeds >= 2
    freedom = np.maximum(seeds - 1, 1)
    half = np.where(enough, stats.t.ppf(0.975, freedom) * np.sqrt(spread / freedom / np.maximum(seeds, 1)), np.nan)
    return Band(steps, mean, mean - half, mean + half, seeds)
