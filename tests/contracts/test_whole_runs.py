"""Small runs of every algorithm: they write what docs/metrics.md documents, compile each program once, and survive."""

import re
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from macura import presets, runs
from macura.core import RunError
from macura.rollout import LinearHorizon
from macura.training import run, session

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
SMALL = {
    "steps": 60,
    "epoch_steps": 15,
    "warmup_steps": 10,
    "evaluation_episodes": 1,
    "sac.width": 8,
    "sac.batch_size": 8,
}
MODEL = {
    "imagination.every": 8,
    "imagination.rollout.rollouts": 30,
    "imagination.rollout.chunk": 16,
    "imagination.model.width": 8,
    "imagination.model.hidden_layers": 1,
    "imagination.model.patience": 2,
    "imagination.model.fewest_steps": 0,
}


def fallen(next_obs):
    return jnp.abs(next_obs[..., 1]) > 0.2


def upright(obs, action, next_obs):
    return jnp.where(fallen(next_obs), 0.0, 1.0)


RUNS = {
    "sac": ("sac", {}, {"all"}),
    "mbpo": (
        "mbpo",
        MODEL | {"imagination.rollout.horizon": LinearHorizon(1, 3, 1, 5)},
        {"all", "model", "learned reward", "termination function"},
    ),
    "m2ac": (
        "m2ac",
        MODEL | {"imagination.termination": "learned"},
        {"all", "model", "measure", "learned reward", "learned termination"},
    ),
    "macura": (
        "macura",
        MODEL | {"imagination.rollout.gate.scale": 3.0, "updates.maximum": 90},
        {"all", "model", "measure", "threshold", "learned reward", "termination function"},
    ),
    "macura, everything given": (
        "macura",
        MODEL
        | {
            "imagination.termination": f"{__name__}:fallen",
            "imagination.reward": f"{__name__}:upright",
            "updates.maximum": 90,
        },
        {"all", "model", "measure", "threshold", "reward function", "termination function"},
    ),
}


@pytest.fixture(scope="module", params=list(RUNS))
def finished(request, tmp_path_factory):
    """Who writes, the rows of the run, its configuration, and how often each of its programs was traced."""
    algorithm, settings, writers = RUNS[request.param]
    config = presets.build(algorithm, "InvertedPendulum-v5", "quick", overrides=SMALL | settings)
    compiled = []

    def remembered(*arguments):
        compiled.append(compile_phases(*arguments))
        return compiled[-1]

    compile_phases = session.compile_phases
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "compile_phases", remembered)
        folder = run(config, tmp_path_factory.mktemp("runs") / "run")
    (phases,) = compiled
    return writers, runs.read_metrics(folder.metrics_file), config, phases.traces


def documented(writers):
    """The names on the page that such a run writes."""
    rows = re.findall(r"^\| `([^`]+)` \|.*\| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == len(set(rows)) > 30
    assert {writer for _, writer in rows} <= set().union(*(known for _, _, known in RUNS.values()))
    return {name for name, writer in rows if writer in writers}


def test_writes_exactly_what_is_documented(finished):
    writers, rows, *_ = finished
    assert {name for row in rows for name in row} - {"step"} == documented(writers)


def test_compiles_every_program_once_whatever_the_data_the_horizon_and_g(finished):
    _, rows, config, traces = finished
    programs = ["act", "evaluate", "improve"]
    if config.imagination is not None:
        programs += ["fit_model", "imagine"]
        rounds = [row for row in rows if "updates/count" in row]
        assert len(rounds) == 7 and [row["step"] for row in rounds] == list(range(10, 60, 8))
        assert len({row["rollout/stored"] for row in rounds}) > 1
        if config.algorithm == "macura":
            assert len({row["updates/count"] for row in rounds}) > 2
        if config.algorithm == "mbpo":
            assert len({row["rollout/mean_length"] > 1 for row in rounds}) == 2
    assert traces == dict.fromkeys(programs, 1)


def test_a_round_adds_up(finished):
    _, rows, config, _ = finished
    if config.imagination is None:
        assert not any(name.startswith(("model/", "rollout/")) for row in rows for name in row)
        return
    rollouts = config.imagination.rollout.rollouts
    for row in rows:
        if "rollout/lengths" not in row:
            continue
        counts = row["rollout/lengths"]
        assert sum(counts) == rollouts
        assert sum(length * count for length, count in enumerate(counts)) == row["rollout/stored"]
        assert row["rollout/mean_length"] == pytest.approx(row["rollout/stored"] / rollouts)
        assert 0 <= row["rollout/stopped_by_gate"] + row["rollout/stopped_by_termination"] <= 1 + 1e-6
        assert 0 < row["rollout/fill"] <= 1
        assert len(row["model/validation_per_output"]) == len(row["model/true_per_output"])
        assert row["model/validation_mse"] == pytest.approx(
            sum(row["model/validation_per_output"]) / len(row["model/validation_per_output"])
        )
        stored_g = config.updates.at(
            round(row["rollout/fill"] * config.imagination.capacity), config.imagination.capacity
        )
        assert row["updates/count"] == stored_g


def test_a_termination_function_that_sees_no_end_stops_the_run(tmp_path):
    settings = MODEL | {"warmup_steps": 240, "steps": 260, "imagination.termination": f"{__name__}:blind"}
    config = presets.build("macura", "InvertedPendulum-v5", "quick", overrides=SMALL | settings)
    with pytest.raises(RunError, match="contradicts the environment") as caught:
        run(config, tmp_path / "run")
    assert "--imagination.termination learned" in str(caught.value) and "\n" not in str(caught.value)


def blind(next_obs):
    return next_obs[..., 0] > 1e9


def test_a_function_of_the_users_that_fails_in_the_run_is_one_line(tmp_path):
    settings = MODEL | {"imagination.termination": f"{__name__}:fails_on_large_batches"}
    config = presets.build("macura", "InvertedPendulum-v5", "quick", overrides=SMALL | settings)
    with pytest.raises(
        RunError, match=r"function of this run failed at step 10: .*the batch is too large"
    ) as caught:
        run(config, tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert runs.RunFolder(tmp_path / "run").read_manifest()["message"] == str(caught.value)


def fails_on_large_batches(next_obs):
    if len(next_obs) > 2:
        raise ValueError("the batch is too large")
    return np.asarray(next_obs)[:, 1] > 0.2  # NumPy: called back, not traced


def test_rounds_in_which_every_rollout_stops_at_once_are_survived(tmp_path):
    settings = MODEL | {"imagination.rollout.gate.fixed": 1e-30}
    config = presets.build("macura", "InvertedPendulum-v5", "quick", overrides=SMALL | settings)
    rows = runs.read_metrics(run(config, tmp_path / "run").metrics_file)
    rounds = [row for row in rows if "rollout/stored" in row]
    assert len(rounds) == 7
    assert all(row["rollout/stored"] == row["rollout/fill"] == row["updates/count"] == 0 for row in rounds)
    assert all(row["rollout/stopped_by_gate"] == 1 for row in rounds)
    assert rows[-1]["updates/total"] == 0 and rows[-1]["eval/return_mean"] > 0


def test_a_model_that_diverges_is_told_and_the_run_goes_on(tmp_path, capsys):
    settings = MODEL | {"imagination.model.learning_rate": 1e30}
    config = presets.build("macura", "InvertedPendulum-v5", "quick", overrides=SMALL | settings)
    folder = run(config, tmp_path / "run")
    told = capsys.readouterr().err
    assert "the model diverged in the refit of round 1 (step 10)" in told and "observation[0]" in told
    rows = [row for row in runs.read_metrics(folder.metrics_file) if "model/diverged" in row]
    assert len(rows) == 7 and all(sum(row["model/diverged"]) > 0 for row in rows)
    assert all(row["rollout/nonfinite"] == 0 for row in rows)  # by the weights from before
