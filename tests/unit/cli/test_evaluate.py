import json
import os
import subprocess
import sys

import imageio.v3
import numpy as np

from macura import runs
from macura.cli.main import main
from macura.envs import Task
from macura.training import SavedPolicy

from .conftest import TINY


def evaluated(capsys, line):
    assert main(["evaluate", *line.split(), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_best_evaluation_of_the_run_comes_out_again_to_the_last_digit(here, capsys):
    rows = runs.read_metrics(here / "done_run" / "metrics.jsonl")
    best = max((row for row in rows if "eval/returns" in row), key=lambda row: row["eval/return_mean"])
    found = evaluated(capsys, "done_run")
    assert found["returns"] == best["eval/returns"]
    assert found["env"] == "Pendulum-v1"


def test_a_file_is_as_good_as_a_folder(here, capsys):
    assert evaluated(capsys, "done_run/policy.safetensors") == evaluated(capsys, "done_run")


def test_episodes_seed_and_environment_can_be_changed(here, capsys):
    found = evaluated(capsys, "done_run --episodes 3 --seed 9 --env.time-limit 2")
    assert (found["episodes"], found["seed"], len(found["returns"])) == (3, 9, 3)
    assert (
        found["returns"] != evaluated(capsys, "done_run --episodes 3 --seed 8 --env.time-limit 2")["returns"]
    )


def test_lines_for_people(here, capsys):
    assert main(["evaluate", "done_run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["episode 1", "episode 2"]
    assert lines[-1].startswith("mean -") and lines[-1].endswith("of 2 episodes on Pendulum-v1, seed 0")


def test_a_film_of_the_first_episode(here):
    line = TINY.replace("Pendulum-v1", "odd_envs:whole").replace("--steps 12", "--steps 6")
    assert main([*line.split(), "--out", "drawn"]) == 0
    for name in ("film.mp4", "film.gif"):
        assert main(["evaluate", "drawn", "--video", name]) == 0
    assert (here / "film.mp4").read_bytes()[4:8] == b"ftyp"
    pictures = imageio.v3.imread(here / "film.gif")
    assert pictures.shape == (6, 33, 47, 3)
    assert [round(float(np.mean(picture))) for picture in pictures] == [0, 20, 40, 60, 80, 100]


def test_what_cannot_be_drawn_is_one_line_with_a_remedy(here, capsys, monkeypatch):
    make = Task.make

    def draws_nothing(self, render_mode=None):
        if render_mode is not None:
            raise RuntimeError("gladLoadGL error")
        return make(self)

    saved = SavedPolicy.load("done_run/policy.safetensors")
    assert saved.obs_dim == 3
    monkeypatch.setattr("macura.envs.Task.make", draws_nothing)
    assert main(["evaluate", "done_run", "--video", "film.mp4"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "gladLoadGL error" in error and "MUJOCO_GL=egl" in error and "libegl1" in error
    assert not (here / "film.mp4").exists()


def test_an_environment_without_pictures_is_not_blamed_on_the_machine(here, capsys):
    line = TINY.replace("Pendulum-v1", "odd_envs:blind").replace("--steps 12", "--steps 6")
    assert main([*line.split(), "--out", "blind"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "blind", "--video", "film.mp4"]) == 2
    assert "odd_envs:blind draws no pictures; leave --video out" in capsys.readouterr().err


def test_a_renderer_that_does_not_work_is_named(tmp_path):
    """MuJoCo reads MUJOCO_GL when it is imported, so this needs a process of its own."""
    call = [
        sys.executable,
        "-m",
        "macura.cli.main",
        *["train", "--env", "InvertedPendulum-v5", "--print-config"],
    ]
    told = subprocess.run(
        call,
        env=os.environ | {"MUJOCO_GL": "crayons"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "MUJOCO_GL is 'crayons', which does not work here: unset it, or set it to egl" in told.stderr
