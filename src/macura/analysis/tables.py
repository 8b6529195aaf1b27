"""The results of studies as long tables: CSV and Parquet, for pandas and whatever reads them; arrays for rliable."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from macura.analysis import statistics
from macura.analysis.study import (
    Member,
    Score,
    StudyData,
    diverged,
    early_return,
    final_return,
    mean_return,
    returns,
)
from macura.runs.files import write_atomically

COLUMNS = ("study", "scale", "variant", "algorithm", "task", "env", "seed", "run", "step", "metric", "value")
"""Of the long table: one row for each scalar that a run wrote."""

LEFT_OUT = ("time/", "train/episode_length")
"""Metrics that are not in the long table."""


def curves(studies: Sequence[StudyData]) -> pd.DataFrame:
    """Every scalar metric of every run, one row each, in the columns `COLUMNS`."""
    parts = [part for study in studies for member in study.members for part in _of_member(study, member)]
    if not parts:
        return pd.DataFrame({name: [] for name in COLUMNS})
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    return pd.DataFrame(columns)


def scores(studies: Sequence[StudyData]) -> pd.DataFrame:
    """One row a declared run: how it ended, and what it is worth in single numbers."""
    rows = [_score_row(study, member) for study in studies for member in study.members]
    return pd.DataFrame(rows)


def results(study: StudyData) -> pd.DataFrame:
    """One row for every variant and task: aggregates over seeds, of complete runs."""
    rows: list[dict[str, Any]] = []
    for task in study.tasks:
        for variant in study.variants:
            row = _result_row(study, variant, task)
            if row:
                rows.append(row)
    return pd.DataFrame(rows)


def score_matrix(
    study: StudyData, score: Score = final_return
) -> dict[str, Float[np.ndarray, "seeds tasks"]]:
    """What rliable reads: for every variant an array of runs x tasks; seeds that some task lacks are left out."""
    matrix: dict[str, Float[np.ndarray, "seeds tasks"]] = {}
    for variant in study.variants:
        by_task = [{m.seed: score(m) for m in study.of(variant, task) if m.complete} for task in study.tasks]
        shared = sorted(set.intersection(*(set(column) for column in by_task))) if by_task else []
        matrix[variant] = np.array([[column[seed] for column in by_task] for seed in shared], float).reshape(
            len(shared), len(by_task)
        )
    return matrix


def write(studies: Sequence[StudyData], folder: Path) -> tuple[Path, ...]:
    """`curves` and `scores`, each as CSV and Parquet, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, table in (("curves", curves(studies)), ("scores", scores(studies))):
        files = folder / f"{name}.csv", folder / f"{name}.parquet"
        write_atomically(files[0], table.to_csv(index=False).encode())
        write_atomically(files[1], table.to_parquet(index=False))
        written += files
    return tuple(written)


def _of_member(study: StudyData, member: Member) -> Iterator[dict[str, np.ndarray]]:
    run = member.run
    if run is None:
        return
    for metric in run.metrics:
        if metric.startswith(LEFT_OUT) or metric == "step":
            continue
        series = run.series(metric)
        fixed = {
            "study": study.name,
            "scale": study.scale,
            "variant": member.variant,
            "algorithm": run.algorithm,
            "task": member.task,
            "env": member.env,
            "seed": member.seed,
            "run": Path(member.folder).name,
            "metric": metric,
        }
        yield {name: np.full(len(series.steps), value) for name, value in fixed.items()} | {
            "step": series.steps,
            "value": series.values,
        }


def _score_row(study: StudyData, member: Member) -> dict[str, Any]:
    complete = member.complete
    return {
        "study": study.name,
        "scale": study.scale,
        "variant": member.variant,
        "algorithm": member.record["algorithm"],
        "task": member.task,
        "env": member.env,
        "preset": member.record["preset"],
        "seed": member.seed,
        "run": Path(member.folder).name,
        "steps": member.steps,
        "state": _state(member),
        "final_return": final_return(member) if complete else math.nan,
        "mean_return": mean_return(member) if complete else math.nan,
        "early_return": early_return(member) if complete else math.nan,
        "steps_to_half": statistics.steps_to(returns(member), study.halfway(member.task))
        if complete
        else math.nan,
    }


def _state(member: Member) -> str:
    if member.run is None:
        return "missing" if member.reason == "not started" else "damaged"
    if member.run.finished:
        return "finished"
    return "diverged" if diverged(member.run) else "unfinished"


def _result_row(study: StudyData, variant: str, task: str) -> dict[str, Any]:
    """Aggregates of one variant on one task; empty if it was not declared there."""
    members = study.of(variant, task)
    if not members:
        return {}
    complete = [member for member in members if member.complete]
    final = study.scores_on(variant, task, final_return)
    curves_ = [returns(member) for member in complete]
    to_half = [statistics.steps_to(curve, study.halfway(task)) for curve in curves_]
    spread = statistics.mean_interval(final)
    middle = statistics.bootstrap([final])
    return {
        "task": task,
        "variant": variant,
        "seeds": len(complete),
        "declared": len(members),
        "mean": spread.point,
        "mean_low": spread.low,
        "mean_high": spread.high,
        "median": float(np.median(final)) if len(final) else math.nan,
        "iqm": middle.point,
        "iqm_low": middle.low,
        "iqm_high": middle.high,
        "collapsed": study.collapsed(variant, task),
        "mean_return": _mean([statistics.area(curve) for curve in curves_]),
        "at_third": _mean([_at_share(member, 1 / 3) for member in complete]),
        "at_two_thirds": _mean([_at_share(member, 2 / 3) for member in complete]),
        "steps_to_half": float(np.median(to_half)) if to_half else math.nan,
    }


def _at_share(member: Member, share: float) -> float:
    return statistics.at_step(returns(member), math.ceil(share * member.steps))


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
