"""Run folders, read: whatever can be used is used, whatever cannot is named."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from jaxtyping import Float, Int

ALGORITHM_NAMES = {"macura": "MACURA", "mbpo": "MBPO", "m2ac": "M2AC", "sac": "SAC"}
"""Algorithms as they are written in figures and tables."""


class Series(NamedTuple):
    """One number over the course of a run; only finite values."""

    steps: Int[np.ndarray, "time"]
    values: Float[np.ndarray, "time"]


class Damaged(NamedTuple):
    """A folder that cannot be used, and why, in a few words."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Run:
    """What one run folder says."""

    path: Path
    config: Mapping[str, object]
    """The resolved configuration, nested as in config.json."""
    manifest: Mapping[str, object]
    """Versions, commit, device and command; empty when unreadable."""
    rows: tuple[Mapping[str, object], ...]
    """The lines of metrics.jsonl that could be read."""
    torn: int
    """Lines of metrics.jsonl that could not."""
    finished: bool
    """Whether the run reached its last step."""

    @property
    def algorithm(self) -> str:
        """`macura`, `mbpo`, `m2ac` or `sac`."""
        return str(self.config.get("algorithm", "unknown")).lower()

    @property
    def env(self) -> str:
        """The id of the environment."""
        return str(self.setting("env.id", "unknown"))

    @property
    def task(self) -> str:
        """The environment without its version: `Hopper` for `Hopper-v5`."""
        return self.env.rsplit("-v", 1)[0]

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return _integer(self.config.get("seed"), 0)

    @property
    def steps(self) -> int:
        """Environment steps that were asked for."""
        return _integer(self.config.get("steps"), 0)

    @property
    def last_step(self) -> int:
        """The newest step any metric was written at."""
        return max((_integer(row["step"], 0) for row in self.rows), default=0)

    def setting(self, dotted: str, default: object = None) -> object:
        """The configured value at a dotted key such as `imagination.rollout.measure`."""
        node: object = self.config
        for part in dotted.split("."):
            if not isinstance(node, Mapping) or part not in node:
                return default
            node = node[part]
        return node

    def series(self, name: str) -> Series:
        """The course of one scalar metric; a step written twice (before and after a resume) counts as last written."""
        return self._columns.get(name, _EMPTY)

    @property
    def metrics(self) -> list[str]:
        """Names of all numbers in the metrics."""
        return sorted(self._columns)

    @cached_property
    def _columns(self) -> dict[str, Series]:
        """Every scalar metric as arrays, in order of steps."""
        gathered: dict[str, dict[int, float]] = {}
        for row in self.rows:
            step = _integer(row["step"], 0)
            for name, value in row.items():
                if name != "step" and isinstance(value, (int, float)) and math.isfinite(value):
                    gathered.setdefault(name, {})[step] = float(value)
        columns: dict[str, Series] = {}
        for name, by_step in gathered.items():
            steps = sorted(by_step)
            columns[name] = Series(np.array(steps, np.int64), np.array([by_step[step] for step in steps]))
        return columns


class Loaded(NamedTuple):
    """The usable and the unusable among the folders that were asked for."""

    runs: tuple[Run, ...]
    damaged: tuple[Damaged, ...]

    def notes(self) -> tuple[str, ...]:
        """One line for everything a reader of a figure or table should know about its runs."""
        lines = [f"skipped {bad.path}: {bad.reason}" for bad in self.damaged]
        for run in self.runs:
            if not run.finished:
                lines.append(f"unfinished {run.path}: {run.last_step:,} of {run.steps:,} steps")
            if run.torn:
                lines.append(
                    f"{run.path}: {run.torn} unreadable line{'s' * (run.torn > 1)} in metrics.jsonl left out"
                )
        return tuple(lines)


def load(path: Path) -> Run | Damaged:
    """Read one run folder. A missing manifest or torn last line is tolerated; a missing configuration is not."""
    try:
        config = _read_object(path / "config.json")
    except (OSError, ValueError) as error:
        return Damaged(path, f"config.json {_why(error)}")
    try:
        manifest = _read_object(path / "manifest.json")
    except (OSError, ValueError):
        manifest = {}
    try:
        rows, torn = _read_lines(path / "metrics.jsonl")
    except FileNotFoundError:
        rows, torn = [], 0
    except OSError as error:
        return Damaged(path, f"metrics.jsonl {_why(error)}")
    if torn and not rows:
        return Damaged(path, "metrics.jsonl has no readable line")
    return Run(path, config, manifest, tuple(rows), torn, (path / "done").exists())


def load_all(paths: Iterable[Path]) -> Loaded:
    """Read every run folder given or found below the folders given, in order and each once."""
    folders: dict[Path, None] = {}
    damaged: list[Damaged] = []
    for path in paths:
        found = list(find(path))
        if not found:
            damaged.append(Damaged(path, "no run folder" if path.exists() else "does not exist"))
        folders.update(dict.fromkeys(found))
    read = [load(folder) for folder in folders]
    runs = [item for item in read if isinstance(item, Run)]
    return Loaded(tuple(runs), tuple(damaged + [item for item in read if isinstance(item, Damaged)]))


def find(path: Path) -> Iterator[Path]:
    """The run folders at or below `path`; nothing inside a run folder is searched."""
    for folder, below, files in os.walk(path):
        below.sort()
        if "config.json" in files or "metrics.jsonl" in files:
            below.clear()
            yield Path(folder)


def flat(config: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """A nested configuration as dotted keys."""
    pairs: dict[str, object] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            pairs |= flat(cast(Mapping[str, object], value), f"{prefix}{key}.")
        else:
            pairs[prefix + key] = value
    return pairs


@dataclass(frozen=True)
class Group:
    """Runs that differ by their seed alone, and what to call them."""

    label: str
    algorithm: str
    task: str
    runs: tuple[Run, ...]


def group_by_settings(runs: Sequence[Run]) -> list[Group]:
    """Collect seeds of the same settings; the label names the algorithm and the settings that set groups apart."""
    gathered: dict[str, list[Run]] = {}
    for run in runs:
        settings = {key: value for key, value in run.config.items() if key != "seed"}
        gathered.setdefault(json.dumps(settings, sort_keys=True, default=str), []).append(run)
    members = list(gathered.values())
    settings = [flat(group[0].config) for group in members]
    groups: list[Group] = []
    for own, group in zip(settings, members, strict=True):
        rivals = [other for other in settings if (other.get("algorithm"), other.get("env.id")) == _kind(own)]
        extra = _distinguishing(own, rivals)
        name = ALGORITHM_NAMES.get(group[0].algorithm, group[0].algorithm)
        groups.append(
            Group(f"{name} ({extra})" if extra else name, group[0].algorithm, group[0].task, tuple(group))
        )
    return groups


_EMPTY = Series(np.zeros(0, np.int64), np.zeros(0))


def _kind(settings: Mapping[str, object]) -> tuple[object, object]:
    return settings.get("algorithm"), settings.get("env.id")


def _distinguishing(own: Mapping[str, object], rivals: Sequence[Mapping[str, object]]) -> str:
    """The settings that not all rivals share, at most three of them."""
    keys = [key for key in own if key != "seed" and any(other.get(key) != own[key] for other in rivals)]
    if "preset" in keys:  # a preset changes many settings at once; its name says it all
        same = [other for other in rivals if other.get("preset") == own["preset"]]
        keys = ["preset"] + [
            key for key in keys if key != "preset" and any(o.get(key) != own[key] for o in same)
        ]
    return ", ".join(f"{key.rsplit('.', 1)[-1].replace('_', ' ')} {own[key]}" for key in keys[:3])


def _integer(value: object, default: int) -> int:
    return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else default


def _read_object(path: Path) -> dict[str, object]:
    content: object = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError("is not a JSON object")
    return cast(dict[str, object], content)


def _read_lines(path: Path) -> tuple[list[dict[str, object]], int]:
    """The readable lines (objects with a numeric step) and the number of others."""
    rows: list[dict[str, object]] = []
    torn = 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except ValueError:
            torn += 1
            continue
        if isinstance(row, dict) and isinstance(cast(dict[str, object], row).get("step"), (int, float)):
            rows.append(cast(dict[str, object], row))
        else:
            torn += 1
    return rows, torn


def _why(error: Exception) -> str:
    """An exception in the words of a reader."""
    if isinstance(error, FileNotFoundError):
        return "is missing"
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "is not valid JSON"
    return str(error)
