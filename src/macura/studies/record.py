"""One run of a study, as a value: what it is decides the name of its folder."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from macura.presets import build
from macura.training import RunConfig, to_dict


@dataclass(frozen=True)
class Record:
    """The arguments of `presets.build`."""

    algorithm: str
    env: str
    preset: str
    seed: int = 0
    steps: int | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Dotted settings, plain values only."""

    def config(self) -> RunConfig:
        """The resolved configuration."""
        settings = json.dumps(dict(self.overrides), sort_keys=True)
        return replace(_resolved(self.algorithm, self.env, self.preset, self.steps, settings), seed=self.seed)

    def command(self, folder: Path) -> list[str]:
        """The command line that does the same run by itself."""
        words = ["macura", "train", "--algorithm", self.algorithm, "--env", self.env, "--preset", self.preset]
        words += ["--seed", str(self.seed)]
        words += [] if self.steps is None else ["--steps", str(self.steps)]
        for key, value in self.overrides.items():
            words += ["--" + key.replace("_", "-"), "none" if value is None else str(value)]
        return [*words, "--out", str(folder)]

    def to_json(self) -> dict[str, Any]:
        """As plain values; `Record(**record.to_json())` is the record."""
        return {
            "algorithm": self.algorithm,
            "env": self.env,
            "preset": self.preset,
            "seed": self.seed,
            "steps": self.steps,
            "overrides": dict(self.overrides),
        }


class Job(NamedTuple):
    """A run with its place on disk."""

    name: str
    """Of its folder: what a person looks for, then a hash of everything."""
    label: str
    """As shown to a person."""
    record: Record
    folder: Path
    log: Path
    """What the run prints."""
    steps: int


def job(record: Record, out: Path) -> Job:
    """Where a run belongs in the folder of a study.

    The hash is over the resolved configuration: two studies that need the same run share it, and a preset that
    has changed since makes another run.
    """
    config = record.config()
    text = json.dumps(to_dict(config), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    task = record.env.replace("/", "-")
    name = f"{record.algorithm}-{task}-{record.seed}-{digest}"
    label = f"{record.algorithm} {record.env} seed {record.seed}"
    return Job(name, label, record, out / "runs" / name, out / "logs" / f"{name}.txt", config.steps)


def programs_of(folder: Path) -> Path:
    """Where the compiled programs are that a run, given by its folder, shares with the other runs of a study."""
    return folder.parents[1] / "programs"


@cache
def _resolved(algorithm: str, env: str, preset: str, steps: int | None, settings: str) -> RunConfig:
    """Seeds share everything else, and resolving an environment is slow."""
    return build(algorithm, env, preset, steps=steps, overrides=json.loads(settings))
