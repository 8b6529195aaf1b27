"""From names to a configuration: algorithm, task, preset, and the settings that were changed."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from macura.core import UserError, did_you_mean
from macura.envs import EnvConfig, resolve
from macura.presets import tables
from macura.presets.algorithms import ALGORITHMS
from macura.training import RunConfig, override

DEFAULT_ENV = "InvertedPendulum-v5"

PRESETS: Mapping[str, Callable[[str, Any], tables.Numbers]] = {
    "default": tables.default,
    "laptop": tables.laptop,
    "quick": tables.quick,
    "paper": tables.paper,
    "paper_stochastic": partial(tables.paper, stochastic=True),
    "published": tables.published,
}
CHOSEN_FIRST = ("algorithm", "preset", "env.id")
"""Settings that decide what all the others are by default."""
NEEDS_TASK = ("paper", "paper_stochastic", "published")


def build(
    algorithm: str,
    env: str | EnvConfig = DEFAULT_ENV,
    preset: str = "default",
    seed: int = 0,
    steps: int | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> RunConfig:
    """The configuration of one run; `overrides` holds dotted keys, as in `{"sac.width": 512}`."""
    _known("algorithm", algorithm, ALGORITHMS)
    _known("preset", preset, PRESETS)
    where = env if isinstance(env, EnvConfig) else EnvConfig(id=env)
    task = task_of(where.id)
    if preset in NEEDS_TASK and task is None:
        raise UserError(
            f"The preset {preset!r} has no numbers for {where.id!r}, only for {', '.join(tables.TASKS)};"
            " try --preset default."
        )
    if preset == "paper_stochastic" and algorithm != "m2ac":
        raise UserError(
            f"The preset 'paper_stochastic' is a table of m2ac, not of {algorithm}; try --preset paper."
        )
    config = ALGORITHMS[algorithm](PRESETS[preset](algorithm, task))
    config = dataclasses.replace(config, preset=preset, env=where)
    changes = {"seed": seed, **({} if steps is None else {"steps": steps}), **(overrides or {})}
    for name in CHOSEN_FIRST:
        if name in changes:
            raise UserError(
                f"{name} decides what all other settings are by default and cannot be one of them;"
                " choose it by the class, preset= or env= itself."
            )
    config = override(config, changes)
    return dataclasses.replace(config, env=resolve(config.env))


def task_of(env: str) -> str | None:
    """The paper's task behind an environment id, whatever its version; `None` for every other."""
    match = re.fullmatch(r"(\w+)-v[45]", env)
    return match.group(1) if match and match.group(1) in tables.TASKS else None


def _known(what: str, name: str, known: Mapping[str, Any]) -> None:
    if name not in known:
        near = did_you_mean(name, known)
        raise UserError(f"There is no {what} {name!r}.{near} Choose from {', '.join(known)}.")
