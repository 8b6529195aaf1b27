"""Published learning curves, to be drawn dashed beside ours."""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Published(NamedTuple):
    """The mean curve of somebody else's runs; `std` is NaN where there was one seed."""

    steps: Int[np.ndarray, "time"]
    mean: Float[np.ndarray, "time"]
    std: Float[np.ndarray, "time"]
    seeds: int


@cache
def _table() -> dict[tuple[str, str], Published]:
    text = (files("macura.analysis.published") / "gym.csv").read_text(encoding="utf-8")
    rows: dict[tuple[str, str], list[tuple[int, float, float, int]]] = {}
    for row in csv.DictReader(text.splitlines()):
        numbers = int(row["step"]), float(row["mean"]), float(row["std"] or "nan"), int(row["seeds"])
        rows.setdefault((row["algorithm"], row["task"]), []).append(numbers)
    curves: dict[tuple[str, str], Published] = {}
    for key, numbers in rows.items():
        steps, mean, std, seeds = zip(*numbers, strict=True)
        curves[key] = Published(np.array(steps), np.array(mean, float), np.array(std, float), seeds[0])
    return curves


def published(algorithm: str, task: str, until: float = np.inf) -> Published | None:
    """The published curve of `macura`, `mbpo` or `sac` on a task such as `Hopper`, cut at a step, if there is one."""
    curve = _table().get((algorithm, task))
    if curve is None:
        return None
    kept = curve.steps <= until
    if kept.sum() < 2:
        return None
    return Published(curve.steps[kept], curve.mean[kept], curve.std[kept], curve.seeds)
