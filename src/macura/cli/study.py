"""`macura study`: the experiments of the paper, on this machine or on a cluster."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import tyro

from macura.cli import arguments
from macura.core import RunError
from macura.studies import catalogue, declare
from macura.studies.board import Board
from macura.studies.pool import Pool
from macura.studies.schedule import Executor, Summary, execute, plan
from macura.training import Interrupted

MOST_SHOWN = 5
"""Failed runs that are named before the rest is only counted."""


@dataclass(frozen=True)
class Arguments:
    """What `macura study` takes."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """benchmark, exploration, scaling, ablation, kappa, noise, rollouts, updates, measures, prolonged; or all."""
    scale: str = "smoke"
    """paper (as published, 5 seeds), laptop (smaller tasks, hours on 2 cores), or smoke (minutes, answers nothing)."""
    out: str = "studies"
    """Folder of the studies; what is finished in it is skipped, what is unfinished goes on, studies share runs."""
    jobs: int | None = None
    """Runs at a time; without it, as many as the cores allow."""
    cores: int = 1
    """Cores that each run has for itself. Another number gives other last bits."""
    ray: str | None = None
    """Run on a Ray cluster instead: its HOST:PORT, auto, or local. --out must lie where all nodes see it."""
    gpus: float = 0.0
    """GPUs, or a share of one, that each run takes on a Ray cluster."""
    retry: bool = False
    """Try runs again that failed earlier."""
    seeds: int | None = None
    """Seeds, from 0; without it as many as the scale has."""
    tasks: str | None = None
    """Environments in place of those of the scale, separated by commas: Hopper-v5,Walker2d-v5."""
    dry_run: bool = False
    """List the runs, and stop."""


def run(argv: Sequence[str]) -> int:
    """Do what is still to be done; 0 when every run is finished, 1 when some failed, 128 + signal when interrupted."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "study", "Run experiments of the paper.")
        return 0
    line = arguments.take_apart(argv, arguments.switches(Arguments))
    asked = arguments.parse(Arguments, line, "study", "the name of a study")
    _refuse(asked)
    studies = _studies(asked)
    todo = plan((entry.job for _, runs in studies for entry in runs), asked.retry)
    if asked.dry_run:
        for job in todo.todo:
            print(job.name)
        return 0
    try:
        with (
            _executor(asked) as executor,
            Board(len(todo.todo), len(todo.finished), len(todo.failed)) as board,
        ):
            for study, runs in studies:
                _declare(asked, study, runs)
            summary = execute(todo, executor, board)
    except Interrupted as stop:
        print("interrupted; the same command goes on from the last checkpoints", file=sys.stderr)
        return 128 + stop.signum
    return _tell(summary, asked)


def _studies(asked: Arguments) -> list[tuple[declare.Study, list[declare.Entry]]]:
    """The studies that were asked for, with all their runs."""
    names = list(catalogue.STUDIES) if asked.names == ("all",) else asked.names or ("",)
    studies = [catalogue.find(name, asked.scale) for name in names]
    return [
        (study, declare.entries(study, asked.scale, Path(asked.out), asked.seeds, _tasks(asked)))
        for study in studies
    ]


def _tasks(asked: Arguments) -> tuple[str, ...]:
    return tuple(part.strip() for part in asked.tasks.split(",")) if asked.tasks else ()


def _declare(asked: Arguments, study: declare.Study, runs: Sequence[declare.Entry]) -> None:
    typed = declare.command(study, asked.scale, asked.seeds, _tasks(asked))
    place = list(catalogue.STUDIES).index(study.name)
    with arguments.writing(asked.out):
        declare.write(study, asked.scale, Path(asked.out), runs, typed, place)


def _executor(asked: Arguments) -> "AbstractContextManager[Executor]":
    if asked.ray is None:
        return Pool(asked.jobs, asked.cores)
    from macura.studies.ray import Cluster

    return Cluster(asked.ray, asked.cores, asked.gpus)


def _tell(summary: Summary, asked: Arguments) -> int:
    done = f"{len(summary.done)} runs done, {len(summary.skipped)} were finished before"
    print(f"{done}; look at them with: macura report {asked.out}")
    if summary.failed:
        shown = "; ".join(f"{failure.job.name}: {failure.message}" for failure in summary.failed[:MOST_SHOWN])
        more = f"; and {len(summary.failed) - MOST_SHOWN} more" if summary.failed[MOST_SHOWN:] else ""
        raise RunError(f"{len(summary.failed)} runs failed ({shown}{more}); try them again with --retry.")
    return 0


def _refuse(asked: Arguments) -> None:
    for key in ("jobs", "cores", "seeds"):
        value = getattr(asked, key)
        if value is not None and value < 1:
            arguments.refuse_number(key, value, "at least 1")
    if asked.gpus < 0:
        arguments.refuse_number("gpus", asked.gpus, "zero or more")
