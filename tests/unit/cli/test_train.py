import json

import pytest

from macura import presets, runs
from macura.cli import train
from macura.cli.main import main
from macura.training import to_dict

from .conftest import TINY


def configured(line):
    return train.configure(train.understand(line.split()).settings)


def test_nothing_given_is_macura_on_the_default_environment():
    assert configured("") == presets.build("macura")


def test_every_setting_is_a_flag():
    config = configured(
        "--algorithm=mbpo --env Hopper-v4 --preset quick --seed 3 --steps 700 --sac.layer-norm all --sac.width 512"
        " --sac.learning_rate 1e-3 --sac.target-entropy -3 --env.action-noise .1 --imagination.every 50"
        " --imagination.rollout.measure geometric_js --imagination.rollout.gate ranked --termination never"
    )
    expected = presets.build(
        "mbpo",
        "Hopper-v4",
        "quick",
        seed=3,
        steps=700,
        overrides={
            "sac.layer_norm": "all",
            "sac.width": 512,
            "sac.learning_rate": 1e-3,
            "sac.target_entropy": -3.0,
            "env.action_noise": 0.1,
            "imagination.every": 50,
            "imagination.rollout.measure": "geometric_js",
            "imagination.rollout.gate": "ranked",
            "imagination.termination": "never",
        },
    )
    assert config == expected


def test_another_kind_brings_its_own_settings():
    config = configured(
        "--imagination.rollout.horizon linear_horizon --imagination.rollout.horizon.to-length 9"
    )
    assert to_dict(config.imagination.rollout.horizon)["to_length"] == 9


def test_nothing_can_be_said():
    assert configured("--sac.target-entropy none --algorithm sac").sac.target_entropy is None


def test_a_file_is_overridden_by_flags(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "algorithm: sac\nenv: Pendulum-v1\nsteps: 900\nsac:\n  width: 32\n  learning-rate: 1e-3\n"
    )
    config = configured(f"--config {file} --sac.width 16")
    overrides = {"sac.width": 16, "sac.learning_rate": 1e-3}
    assert config == presets.build("sac", "Pendulum-v1", steps=900, overrides=overrides)


@pytest.mark.parametrize("algorithm", presets.ALGORITHMS)
def test_the_configuration_of_a_run_is_a_file_that_gives_it_again(algorithm, tmp_path):
    config = presets.build(algorithm, "Humanoid-v4", "paper", seed=5)
    (tmp_path / "config.json").write_text(json.dumps(to_dict(config)))
    assert configured(f"--config {tmp_path / 'config.json'}") == config


def test_the_folder_is_named_after_the_run():
    config = configured("--algorithm sac --env dm_control/cartpole-swingup-v0 --seed 7")
    assert train.default_folder(config) == "runs/dm_control-cartpole-swingup-v0-sac-default-s7"


def test_print_config_allocates_nothing_and_adds_up(capsys):
    assert main(["train", "--algorithm", "sac", "--env", "HalfCheetah-v5", "--print-config"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["config"] == to_dict(presets.build("sac", "HalfCheetah-v5"))
    parts = dict(printed["memory"])
    assert parts.pop("total") == sum(parts.values())


def test_help_shows_the_defaults_of_what_was_chosen(capsys):
    assert main(["train", "--help", "--algorithm", "mbpo", "--env", "Walker2d-v4", "--preset", "paper"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "mbpo with the preset paper" in shown
    assert "--sac.learning-rate FLOAT Step size of the three Adam optimisers. (default: 7e-05)" in shown
    assert "--imagination.rollout.gate {keep_all,ranked,threshold}" in shown
    assert "(default: keep_all)" in shown


def test_a_finished_run_leaves_everything(here):
    folder = runs.RunFolder(here / "done_run")
    assert folder.state() == "finished"
    assert folder.policy_file.exists()
    assert list(folder.tensorboard.iterdir())
    assert [row["step"] for row in runs.read_metrics(folder.metrics_file) if "eval/return_mean" in row] == [
        6,
        12,
    ]


def test_an_unfinished_run_goes_on_by_resume_and_by_the_same_command(here, capsys):
    assert main(["train", "--resume", "open_run"]) == 0
    assert "macura plot open_run" in capsys.readouterr().out
    (here / "open_run" / "done").unlink()
    assert main([*TINY.split(), "--out", "open_run"]) == 0
    before, after = (runs.RunFolder(here / name) for name in ("done_run", "open_run"))
    assert after.policy_file.read_bytes() == before.policy_file.read_bytes()
    assert len(after.read_manifest()["sessions"]) == 3


def test_a_run_that_fails_is_one_line_and_exit_code_1(here, capsys):
    line = TINY.replace("Pendulum-v1", "odd_envs:failing")
    assert main([*line.split(), "--out", "failed"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("macura: odd_envs:failing, step 4")
    assert "observation[0] is nan" in lines[-1]
    assert runs.RunFolder(here / "failed").read_manifest()["status"] == "failed"
