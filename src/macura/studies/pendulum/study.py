"""`macura toy`: data, ensemble, maps, claims and bound for some seeds, as JSON."""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from macura.core import PRNGKey, Stream, UserError, root_key, stream_key
from macura.dynamics import ModelState
from macura.envs import pendulum
from macura.runs.files import reason, write_json
from macura.studies.pendulum import bound, claims, learned, maps
from macura.studies.pendulum.settings import ToyConfig
from macura.studies.pendulum.statements import judge

NUMBERS, SUMMARY = "toy.json", "summary.json"
SCALES = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""The xi at which the return bound is evaluated."""
DRAWN = ("geometric_js", "one_vs_rest")

JSON = dict[str, Any]


class Seed(NamedTuple):
    """Everything computed for one seed."""

    numbers: JSON
    """What the claims rest on."""
    arrays: JSON
    """What the figure shows."""


def prepare(out: Path) -> None:
    """Make the folder and see that it can be written, before minutes are spent."""
    probe = out / f".writable.{os.getpid()}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"--out {out} cannot be written ({reason(error)}); name another folder.") from None


def run(config: ToyConfig, tell: Callable[[str], None]) -> JSON:
    """All numbers: the drawn seed's maps, every seed's claims and bounds, and their summary."""
    seeds: list[Seed] = []
    for seed in range(config.seed, config.seed + config.seeds):
        seeds.append(one_seed(config, seed))
        row = seeds[-1].numbers["measures"]
        told = ", ".join(f"{name} {row[name]['spearman']:.3f}" for name in DRAWN)
        tell(f"seed {seed}: rank correlation with the misalignment: {told}")
    numbers = [seed.numbers for seed in seeds]
    summary = summarise(numbers)
    summary["statements"] = judge(numbers)
    angle, velocity = maps.axes(config.grid)
    return {
        "settings": asdict(config),
        "axes": {"angle": angle.tolist(), "velocity": velocity.tolist()},
        "drawn": seeds[0].arrays,
        "seeds": numbers,
        "summary": summary,
    }


def write(results: Mapping[str, Any], out: Path) -> tuple[Path, Path]:
    """All numbers, and beside them the same without the maps."""
    files = out / NUMBERS, out / SUMMARY
    small = {name: results[name] for name in ("settings", "summary", "seeds")}
    try:
        write_json(files[0], results)
        write_json(files[1], small)
    except OSError as error:
        raise UserError(f"--out {out} cannot be written ({reason(error)}); name another folder.") from None
    return files


def one_seed(config: ToyConfig, seed: int) -> Seed:
    """Data, ensemble, maps, claims and bound of one seed."""
    root = root_key(seed)
    states = learned.trajectories(seed)
    data = learned.transitions(states)
    model = learned.train(config.networks, config.epochs, data, seed)

    over_grid, at_data = (
        jax.device_get(maps.assess(config.networks, model, where, stream_key(root, Stream.PREDICT, number)))
        for number, where in enumerate((maps.grid_states(config.grid), data.obs))
    )
    square = (config.grid, config.grid)
    misalignment = over_grid.misalignment.astype(np.float64).reshape(square)
    values = {name: u.astype(np.float64).reshape(square) for name, u in over_grid.measures.items()}
    quantiles = {
        name: float(np.quantile(u.astype(np.float64), config.threshold_quantile))
        for name, u in at_data.measures.items()
    }
    kappa = {name: config.threshold_scale * quantile for name, quantile in quantiles.items()}
    middle = claims.core(*maps.axes(config.grid))
    numbers: JSON = {
        "seed": seed,
        "misalignment": claims.describe_misalignment(misalignment, at_data.misalignment, middle),
        "measures": {
            name: claims.describe_measure(u, misalignment, at_data.measures[name], kappa[name], middle)
            for name, u in values.items()
        },
        "bounds": bounds(
            config, seed, model, quantiles["geometric_js"], (values["geometric_js"], misalignment)
        ),
    }
    arrays: JSON = {
        "seed": seed,
        "trajectories": np.asarray(states, np.float64).tolist(),
        "misalignment": misalignment.tolist(),
        "measures": {name: values[name].tolist() for name in DRAWN},
        "kappa": {name: kappa[name] for name in DRAWN},
    }
    return Seed(numbers, arrays)


def bounds(
    config: ToyConfig,
    seed: int,
    model: ModelState,
    quantile: float,
    over_grid: tuple[Float[np.ndarray, "angle velocity"], Float[np.ndarray, "angle velocity"]],
) -> list[JSON]:
    """The return bound for one kappa after another, all from the same rollouts.

    `telling_steps` is the longest horizon at which C is below the trivial limit, so that it says something.
    """
    root = root_key(seed)
    starts = bound.starts_in_box(config.starts, stream_key(root, Stream.ENV_RESET))
    pairs = jax.device_get(_branch(config.horizon, model, starts, stream_key(root, Stream.IMAGINE)))
    visited = np.stack(pairs)
    key = stream_key(root, Stream.PREDICT, 2)
    there = jax.device_get(maps.assess(config.networks, model, visited.reshape(-1, 2), key))
    uncertainty = there.measures["geometric_js"].reshape(visited.shape[:-1])
    misalignment = there.misalignment.reshape(visited.shape[:-1])
    true_reward, model_reward = np.asarray(pendulum.reward(visited.astype(np.float64)))[:, 1:]

    def both_sides(kappa: float, steps: int) -> bound.Bound | None:
        counts = bound.going(((uncertainty < kappa) & bound.in_box(visited)).all(0))[:steps]
        on_grid = over_grid[1][over_grid[0] < kappa]
        on_the_way = misalignment[:, :steps][:, counts]
        supremum = float(max(on_grid.max(initial=0.0), on_the_way.max(initial=0.0)))
        return bound.evaluate(true_reward[:steps], model_reward[:steps], counts, supremum, config.discount)

    rows: list[JSON] = []
    for scale in SCALES:
        by_length = [both_sides(scale * quantile, steps) for steps in range(1, config.horizon + 1)]
        found = [result for result in by_length if result is not None]
        if found:
            telling = sum(result.bound < result.trivial for result in found)
            sides = {**found[-1]._asdict(), "gap": found[-1].gap}
            rows.append({"scale": scale, "kappa": scale * quantile, **sides, "telling_steps": telling})
    return rows


@functools.partial(jax.jit, static_argnums=0)
def _branch(horizon: int, model: ModelState, starts: Float[Array, "pair 2"], key: PRNGKey) -> bound.Pairs:
    return bound.branch(lambda states: maps.members(model, states), starts, horizon, key)


def summarise(seeds: Sequence[JSON]) -> JSON:
    """Intervals over seeds of every number of the misalignment and of the measures."""
    return {
        "misalignment": claims.summarise([row["misalignment"] for row in seeds]),
        "measures": {
            name: claims.summarise([row["measures"][name] for row in seeds]) for name in maps.MEASURES
        },
    }
