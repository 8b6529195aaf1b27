"""What a study is: variants of algorithms, on tasks, with seeds, at one of three scales."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from macura.presets import tables, task_of
from macura.runs.files import write_json
from macura.studies.record import Job, Record, job

SCALES = ("paper", "laptop", "smoke")
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Variant:
    """One line in the figures of a study: an algorithm and what is changed of it."""

    label: str
    algorithm: str
    overrides: Settings = field(default_factory=dict[str, Any])
    group: str = ""
    """Variants of one group share panels of their own; an empty name puts all into one."""
    noisy_table: bool = False
    """M2AC has a second table of settings, for exploration with noise."""


@dataclass(frozen=True)
class Scale:
    """How large a study is made."""

    tasks: tuple[str, ...]
    preset: str
    seeds: int
    steps: int | Mapping[str, int] | None = None
    """For all tasks, or for each; None: as the preset says."""
    overrides: Settings = field(default_factory=dict[str, Any])
    """For all variants."""
    model_overrides: Settings = field(default_factory=dict[str, Any])
    """For the variants that have a model."""
    variants: tuple[Variant, ...] = ()
    """In place of the study's own, where the changes must fit the tasks of this scale."""


@dataclass(frozen=True)
class Study:
    """An experiment of the paper."""

    name: str
    title: str
    figure: str
    """The figure of the paper that it reproduces."""
    question: str
    claims: tuple[str, ...]
    """Keys of `analysis.claims` that it tests."""
    metrics: tuple[str, ...]
    """What its figures show over environment steps."""
    variants: tuple[Variant, ...]
    scales: Mapping[str, Scale]


class Entry(NamedTuple):
    """One run of a study and its place in the figures."""

    variant: Variant
    task: str
    job: Job


def entries(
    study: Study, scale: str, out: Path, seeds: int | None = None, tasks: Sequence[str] = ()
) -> list[Entry]:
    """All runs of a study; first one seed of everything, then the next."""
    size = study.scales[scale]
    return [
        Entry(variant, task, job(record(variant, size, task, seed), out))
        for seed in range(seeds or size.seeds)
        for task in tasks or size.tasks
        for variant in size.variants or study.variants
    ]


def record(variant: Variant, scale: Scale, task: str, seed: int) -> Record:
    """The run of a variant on a task."""
    overrides = dict(scale.overrides)
    if variant.algorithm != "sac":
        overrides |= scale.model_overrides
    preset = scale.preset
    if variant.noisy_table and preset == "paper":
        preset = "paper_stochastic"
    elif variant.noisy_table:
        overrides |= _noisy_table(task)
    overrides |= variant.overrides
    steps = scale.steps.get(task) if isinstance(scale.steps, Mapping) else scale.steps
    return Record(variant.algorithm, task, preset, seed, steps, overrides)


def command(study: Study, scale: str, seeds: int | None = None, tasks: Sequence[str] = ()) -> str:
    """What a person types for these runs."""
    words = ["macura", "study", study.name, "--scale", scale]
    words += [] if seeds is None else ["--seeds", str(seeds)]
    words += ["--tasks", ",".join(tasks)] if tasks else []
    return " ".join(words)


def write(study: Study, scale: str, out: Path, runs: Sequence[Entry], typed: str, place: int = 0) -> Path:
    """Leave beside the runs what the analysis must know of them: it reads files only.

    `typed` is the command that they come from; reports show studies by `place`.
    """
    path = out / "studies" / f"{study.name}-{scale}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "format": 1,
        "place": place,
        "study": study.name,
        "scale": scale,
        "command": typed,
        "title": study.title,
        "figure": study.figure,
        "question": study.question,
        "claims": list(study.claims),
        "metrics": list(study.metrics),
        "runs": [
            {
                "variant": entry.variant.label,
                "group": entry.variant.group,
                "task": entry.task,
                "seed": entry.job.record.seed,
                "steps": entry.job.steps,
                "folder": f"runs/{entry.job.name}",
                "record": json.loads(json.dumps(entry.job.record.to_json())),
            }
            for entry in runs
        ],
    }
    write_json(path, content)
    return path


def _noisy_table(task: str) -> dict[str, Any]:
    """What M2AC's table for noisy exploration changes of a task at scales that do not take the whole table."""
    name = task_of(task)
    if name is None:
        return {}
    numbers = tables.paper("m2ac", name, stochastic=True)
    return {"sac.target_entropy": numbers.target_entropy, "sac.fixed_alpha": numbers.fixed_alpha}
