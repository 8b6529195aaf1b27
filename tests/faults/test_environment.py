"""Environments that go wrong in the middle of a run: one line that names step and value, the run saved, exit 1."""

import pytest

from macura import runs
from macura.cli.main import main
from macura.envs import bridge
from macura.training import SavedPolicy

SETTINGS = (
    "train --algorithm sac --preset quick --warmup-steps 290 --evaluation-episodes 1"
    " --sac.width 8 --sac.batch-size 4"
)

FAULTS = {
    "raises": "step raised OSError: the motor does not answer",
    "nan_observation": "observation[1] is nan",
    "inf_observation": "observation[0] is -inf",
    "nan_reward": "the reward is nan",
    "inf_reward": "the reward is inf",
    "changes_shape": "the observation has shape (3,), but its space says (2,)",
}
"""Faults of step 150 since an environment was made, by the function that makes it."""


def fail(capsys, out, env, settings="--epoch-steps 100 --steps 300"):
    """The one line of a run that fails."""
    code = main([*SETTINGS.split(), "--env", f"tests.fakes.envs:{env}", *settings.split(), "--out", str(out)])
    said = capsys.readouterr()
    assert (code, said.out) == (1, ""), said
    *_, last = said.err.splitlines()
    assert said.err.count("macura: ") == 1
    assert last.startswith("macura: ")
    assert runs.RunFolder(out).read_manifest()["status"] == "failed"
    assert runs.RunFolder(out).read_manifest()["message"] == last.removeprefix("macura: ")
    return last


@pytest.mark.parametrize("env", FAULTS)
def test_a_fault_in_training_names_step_and_value_and_the_run_is_saved(env, tmp_path, capsys):
    out = tmp_path / "run"
    told = fail(capsys, out, env)
    assert told == f"macura: tests.fakes.envs:{env}, step 150 (step 50 of its episode): {FAULTS[env]}"
    run = runs.RunFolder(out)
    assert runs.Checkpoints(run.checkpoints).steps() == [100]
    for name in ("policy.safetensors", "last.safetensors"):
        assert SavedPolicy.load(run.path / name).obs_dim == 2


def test_a_run_goes_on_after_a_fault_and_counts_its_own_steps(tmp_path, capsys):
    """A new process has a new environment, which fails when it has made 150 steps itself."""
    out = tmp_path / "run"
    assert "step 150 " in fail(capsys, out, "nan_reward")
    assert "step 250 (step 50 of its episode): the reward is nan" in fail(capsys, out, "nan_reward")


def test_a_fault_in_an_evaluation_says_so(tmp_path, capsys):
    """Every evaluation takes 50 steps, so the third brings its environment to the fault."""
    told = fail(capsys, tmp_path / "run", "nan_reward", "--epoch-steps 10 --steps 40")
    assert told == (
        "macura: in the evaluation after step 30: tests.fakes.envs:nan_reward, step 150 (step 50 of its episode):"
        " the reward is nan"
    )


def test_an_episode_that_never_ends_is_found_by_the_evaluation(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bridge, "LONGEST_EPISODE", 500)
    told = fail(capsys, tmp_path / "run", "endless")
    assert told == (
        "macura: in the evaluation after step 100: tests.fakes.envs:endless, step 500 (step 500 of its episode):"
        " the episode has not ended after 500 steps, and there is no time limit; set one with --env.time-limit 1000"
    )
    line = [*SETTINGS.split(), "--env", "tests.fakes.envs:endless", "--env.time-limit", "40"]
    assert main([*line, "--steps", "100", "--epoch-steps", "100", "--out", str(tmp_path / "limited")]) == 0
