"""Synthetic run folders, as the run machinery writes them."""

import json
from pathlib import Path

import numpy as np
import pytest


def write_run(
    folder: Path,
    algorithm="macura",
    env="Hopper-v5",
    seed=0,
    steps=10_000,
    level=1.0,
    finished=True,
    until=None,
    **settings,
) -> Path:
    """A run whose return rises to about 3000 * level, with some noise of its seed."""
    rng = np.random.default_rng([seed, *algorithm.encode()])
    folder.mkdir(parents=True, exist_ok=True)
    config = {"algorithm": algorithm, "preset": "default", "env": {"id": env}, "seed": seed, "steps": steps}
    if algorithm != "sac":
        config["imagination"] = {"rollout": {"measure": None, "gate": {"kind": "keep_all"}}}
    (folder / "config.json").write_text(json.dumps(config | settings))
    manifest = {
        "versions": {"jax": "0.10.2"},
        "commit": "abc",
        "device": "cpu",
        "command": f"macura train --seed {seed}",
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with (folder / "metrics.jsonl").open("w") as lines:
        for step in range(1000, (until or steps) + 1, 1000):
            x = step / steps
            returns = [float(3000 * level * x**0.7 + 150 * rng.standard_normal()) for _ in range(5)]
            row = {"step": step, "eval/return_mean": float(np.mean(returns)), "eval/returns": returns}
            row |= {"train/episode_return": returns[0] * 0.9, "sac/alpha": 0.2, "updates/count": 1}
            if algorithm != "sac":
                length = 1 if algorithm == "mbpo" else 2.5 if algorithm == "m2ac" else 0.8 + 6 * x
                row |= {"rollout/mean_length": length, "rollout/stored": 1000 * length}
                row |= {
                    "updates/count": 6 * length if algorithm == "macura" else 30,
                    "model/validation_mse": 1 - 0.5 * x,
                }
                row |= {"rollout/mean_variance": 1 / (1 + 5 * x)}
            if algorithm == "macura":
                row |= {"rollout/kappa": 400 / (1 + 4 * x), "rollout/uncertainty_mean": 10.0}
            lines.write(json.dumps(row) + "\n")
    if finished and until is None:
        (folder / "done").touch()
    return folder


@pytest.fixture
def run_folder(tmp_path):
    """`run_folder("name", algorithm=..., seed=...)` writes a run under the temporary folder."""
    return lambda name, **settings: write_run(tmp_path / name, **settings)
