"""Numbers that stand for many seeds: means with bands, robust aggregates with bootstrap intervals, comparisons."""

from collections.abc import Callable, Sequence
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
    half = np.where(
        enough, stats.t.ppf(0.975, freedom) * np.sqrt(spread / freedom / np.maximum(seeds, 1)), np.nan
    )
    return Band(steps, mean, mean - half, mean + half, seeds)


class Interval(NamedTuple):
    """A number and its 95 % bootstrap interval."""

    point: float
    low: float
    high: float


Scores = Sequence[Float[np.ndarray, "_"]]
"""One number per seed (their number may differ), one array per task: the strata of the bootstrap."""

RESAMPLES = 2000


def iqm(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*rest"]:
    """Interquartile mean over the last axis: the mean without the lowest and the highest quarter."""
    return np.asarray(stats.trim_mean(values, 0.25, axis=-1))


def median(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*rest"]:
    """Median over the last axis."""
    return np.median(values, axis=-1)


def bootstrap(
    scores: Scores, statistic: Callable[..., np.ndarray] = iqm, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """The statistic of all scores, with the percentile interval of resampling seeds within each task.

    NaN limits where no task has two seeds.
    """
    kept = [score for score in scores if len(score)]
    if not kept:
        return Interval(np.nan, np.nan, np.nan)
    if max(map(len, kept)) < 2:
        return Interval(float(statistic(np.concatenate(kept))), np.nan, np.nan)
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([_resample(score, resamples, rng) for score in kept], axis=-1)
    low, high = np.quantile(statistic(drawn), [0.025, 0.975])
    return Interval(float(statistic(np.concatenate(kept))), float(low), float(high))


def mean_interval(values: Float[np.ndarray, "seeds"]) -> Interval:
    """Mean with Student's 95 % limits; NaN limits for fewer than two seeds."""
    if not len(values):
        return Interval(np.nan, np.nan, np.nan)
    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, np.nan, np.nan)
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return Interval(mean, mean - half, mean + half)


def improvement(scores: Scores, rivals: Scores, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """P(X > Y) + P(X = Y) / 2, averaged over tasks, for a random seed of each; tasks without either are left out."""
    pairs = [(x, y) for x, y in zip(scores, rivals, strict=True) if len(x) and len(y)]
    if not pairs:
        return Interval(np.nan, np.nan, np.nan)
    rng = np.random.default_rng(seed)
    point = float(np.mean([chance(x, y) for x, y in pairs]))
    drawn = np.zeros(resamples)
    for x, y in pairs:
        shares = [_resampled_shares(len(values), resamples, rng) for values in (x, y)]
        drawn += np.einsum("ri,ij,rj->r", shares[0], _wins(x, y), shares[1], optimize=True) / len(pairs)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(point, float(low), float(high))


def chance(x: Float[np.ndarray, "seeds"], y: Float[np.ndarray, "rivals"]) -> float:
    """P(X > Y) + P(X = Y) / 2 for a random seed of each."""
    return float(_wins(x, y).mean())


def at_step(curve: Series, step: int) -> float:
    """The value last measured at or before a step; NaN if the curve begins later or ends earlier."""
    if not len(curve.steps) or curve.steps[0] > step or curve.steps[-1] < step:
        return np.nan
    return float(curve.values[np.searchsorted(curve.steps, step, side="right") - 1])


def final(curve: Series, share: float = 0.1) -> float:
    """Mean of what was measured in the last tenth of the steps; NaN for an empty curve."""
    if not len(curve.steps):
        return np.nan
    return float(curve.values[curve.steps >= (1 - share) * curve.steps[-1]].mean())


def area(curve: Series) -> float:
    """Area under the curve divided by its length in steps: the mean value on the way; NaN for an empty curve."""
    if len(curve.steps) < 2:
        return float(curve.values[0]) if len(curve.steps) else np.nan
    span = float(curve.steps[-1] - curve.steps[0])
    return float(np.trapezoid(curve.values, curve.steps.astype(float)) / span)


def steps_to(curve: Series, threshold: float) -> float:
    """The first step whose value, averaged with the two next ones, reaches a threshold; infinity if none does."""
    if not len(curve.steps):
        return np.nan
    reached = np.flatnonzero(_smoothed(curve.values) >= threshold)
    return float(curve.steps[reached[0]]) if len(reached) else np.inf


def gain(curve: Series) -> float:
    """How far the curve rises above its first value: smoothed maximum minus first; NaN for an empty curve."""
    return float(_smoothed(curve.values).max() - curve.values[0]) if len(curve.steps) else np.nan


def collapsed(curve: Series, typical_gain: float) -> bool:
    """Whether the end lies below the smoothed maximum by more than half of what is typically gained on the task."""
    if not len(curve.steps):
        return False
    return float(_smoothed(curve.values).max()) - final(curve) > 0.5 * typical_gain


def _smoothed(values: Float[np.ndarray, "time"]) -> Float[np.ndarray, "times"]:
    """Means of three neighbours (of all, where there are fewer)."""
    width = min(3, len(values))
    return np.convolve(values, np.ones(width), mode="valid") / width


def _resample(
    values: Float[np.ndarray, "seeds"], resamples: int, rng: np.random.Generator
) -> Float[np.ndarray, "resamples seeds"]:
    return values[rng.integers(len(values), size=(resamples, len(values)))]


def _resampled_shares(
    count: int, resamples: int, rng: np.random.Generator
) -> Float[np.ndarray, "resamples seeds"]:
    """How large a share of every resample each seed makes up."""
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples) / count


def _wins(x: Float[np.ndarray, "seeds"], y: Float[np.ndarray, "rivals"]) -> Float[np.ndarray, "seeds rivals"]:
    """1 where x is ahead, 1/2 where they are equal."""
    return (x[:, None] > y) + 0.5 * (x[:, None] == y)
