"""The paper's words about the figure, as numbers."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage, stats

VACUOUS = 1.0
"""No total variation exceeds 1: where the misalignment does, it promises nothing. E ought to avoid these states."""
CORE = 0.7
"""Radius of the hole in the middle of the spiral, half that of its innermost turn, in rad (velocities divided by 5 / s,
the frequency of the closed loop, so that turns are circles)."""
FREQUENCY = 5.0


def spearman(one: Float[np.ndarray, "batch"], other: Float[np.ndarray, "batch"]) -> float:
    """Correlation of ranks; states that tie share their mean rank."""
    ranks = np.corrcoef(stats.rankdata(one), stats.rankdata(other))
    return float(ranks[0, 1])


def roc_area(score: Float[np.ndarray, "batch"], positive: Bool[np.ndarray, "batch"]) -> float | None:
    """Chance that a random positive scores above a random negative, ties counting half; None without both."""
    above, below = int(positive.sum()), int((~positive).sum())
    if not above or not below:
        return None
    ranks = stats.rankdata(score)[positive]
    return float((ranks.sum() - above * (above + 1) / 2) / (above * below))


def roughness(values: Float[np.ndarray, "angle velocity"]) -> float:
    """Mean absolute difference between neighbours, over the range."""
    steps = [np.abs(np.diff(values, axis=axis)).ravel() for axis in (0, 1)]
    return float(np.concatenate(steps).mean() / max(float(np.ptp(values)), np.finfo(np.float64).tiny))


def core(
    angle: Float[np.ndarray, "points"], velocity: Float[np.ndarray, "points"]
) -> Bool[np.ndarray, "angle velocity"]:
    """The states around the origin that the spiral leaves out."""
    return np.hypot(angle[:, None], velocity[None, :] / FREQUENCY) < CORE


def describe_measure(
    values: Float[np.ndarray, "angle velocity"],
    misalignment: Float[np.ndarray, "angle velocity"],
    at_data: Float[np.ndarray, "row"],
    kappa: float,
    middle: Bool[np.ndarray, "angle velocity"],
) -> dict[str, float | None]:
    """How one measure fares against the misalignment, over the grid and at the data."""
    inside = values < kappa
    ranks = stats.rankdata(values).reshape(values.shape) / values.size
    true_ranks = stats.rankdata(misalignment).reshape(values.shape) / values.size
    pieces = _pieces(inside) + _pieces(~inside)
    return {
        "spearman": spearman(values.ravel(), misalignment.ravel()),
        "roc_area": roc_area(values.ravel(), misalignment.ravel() > VACUOUS),
        "roughness": roughness(values),
        "roughness_of_logarithm": roughness(np.log(values)),
        "data_rank": float(np.mean(values.ravel() < np.median(at_data))),
        "core_overconfidence": float(np.mean(true_ranks[middle] - ranks[middle])) if middle.any() else None,
        "kappa": kappa,
        "share": float(inside.mean()),
        "pieces": float(pieces),
        "worst_inside": float(misalignment[inside].max()) if inside.any() else None,
        "vacuous_inside": float(np.mean(inside[misalignment > VACUOUS]))
        if (misalignment > VACUOUS).any()
        else None,
    }


def _pieces(states: Bool[np.ndarray, "angle velocity"]) -> int:
    """Connected groups of states, neighbours being those that share a side."""
    return cast("tuple[np.ndarray, int]", ndimage.label(states))[1]


def describe_misalignment(
    misalignment: Float[np.ndarray, "angle velocity"],
    at_data: Float[np.ndarray, "row"],
    middle: Bool[np.ndarray, "angle velocity"],
) -> dict[str, float | None]:
    """The misalignment itself: where it is low, where it is high, and how much of it is saturated."""
    flat = misalignment.ravel()
    return {
        "median": float(np.median(flat)),
        "median_at_data": float(np.median(at_data)),
        "median_in_core": float(np.median(misalignment[middle])) if middle.any() else None,
        "vacuous_share": float(np.mean(flat > VACUOUS)),
        "saturated_share": float(np.mean(flat >= np.float32(np.sqrt(2.0)) * (1 - 1e-6))),
        "roughness": roughness(misalignment),
    }


def interval(values: Sequence[float]) -> dict[str, float | None]:
    """Mean over seeds, 95 % interval by Student's t (None for one seed), lowest and highest seed."""
    sample = np.asarray(values, np.float64)
    half = None
    if len(sample) > 1:
        half = float(stats.t.ppf(0.975, len(sample) - 1) * sample.std(ddof=1) / np.sqrt(len(sample)))
    mean = float(sample.mean())
    return {
        "mean": mean,
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
        "least": float(sample.min()),
        "most": float(sample.max()),
    }


def summarise(rows: Sequence[Mapping[str, float | None]]) -> dict[str, dict[str, float | None] | None]:
    """The interval of every number; None where some seed has none."""
    summary: dict[str, dict[str, float | None] | None] = {}
    for name in rows[0]:
        values = [value for row in rows if (value := row[name]) is not None]
        summary[name] = interval(values) if len(values) == len(rows) else None
    return summary
