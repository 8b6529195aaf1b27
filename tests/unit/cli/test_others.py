"""plot, check and doctor."""

import importlib
import json
import subprocess

import jax
import pytest

from macura.cli import doctor
from macura.cli.main import main


def test_plot_writes_into_the_folder_of_a_single_run(here, capsys):
    assert main(["plot", "done_run"]) == 0
    assert capsys.readouterr().out.split() == ["done_run/curves.png", "done_run/curves.svg"]
    assert (here / "done_run" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_plot_of_several_runs_says_what_is_unfinished(here, capsys):
    assert main(["plot", "done_run", "open_run", "--out", "both.svg", "--metric", "sac/alpha"]) == 0
    output = capsys.readouterr()
    assert output.out.split() == ["both.png", "both.svg"]
    assert output.err == "note: unfinished open_run: 12 of 12 steps\n"


def test_check_of_a_good_environment(capsys):
    assert main(["check", "Pendulum-v1", "--steps", "250", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert {finding["level"] for finding in findings} == {"ok"}


def test_check_of_a_bad_one_says_what_to_do_and_fails(capsys):
    assert main(["check", "CartPole-v1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("problem  The actions of CartPole-v1 are Discrete(2)")
    assert lines[1].strip().startswith("-> ")
    assert lines[-1] == "CartPole-v1 cannot be trained on as it is: 1 problem, 0 warnings"


def test_check_takes_the_flags_of_an_environment(here, capsys):
    assert main(["check", "odd_envs:whole", "--env.time-limit", "4", "--steps", "20"]) == 0
    assert "were cut" in capsys.readouterr().out


@pytest.fixture
def no_subprocess(monkeypatch):
    """Rendering is only pretended to have been tried: it takes seconds."""
    answers = {
        "egl": (0, ""),
        "osmesa": (1, "Traceback\n  file\nImportError: no libOSMesa\n"),
        "glfw": (-11, ""),
    }

    really = subprocess.run

    def tried(command, env=None, **options):
        if env is None:
            return really(command, **options)
        code, said = answers[env["MUJOCO_GL"]]
        return subprocess.CompletedProcess(command, code, "", said)

    monkeypatch.setattr(doctor.subprocess, "run", tried)


def test_doctor_tells_versions_devices_threads_memory_and_rendering(no_subprocess, monkeypatch, capsys):
    monkeypatch.setattr("macura.runs.commit", lambda: "abc")
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["jax"] == jax.__version__
    assert found["versions"]["ray"] == doctor._version("ray")
    assert "usable cores" in found["processor"]
    assert found["rendering"] == {
        "egl": "works: MUJOCO_GL=egl",
        "osmesa": "fails: ImportError: no libOSMesa",
        "glfw": "fails: exit code -11",
    }
    assert list(found["devices"].values())


def test_doctor_for_people(no_subprocess, capsys):
    assert main(["doctor"]) == 0
    assert "  egl                     works: MUJOCO_GL=egl" in capsys.readouterr().out.splitlines()


def test_a_renderer_that_hangs_is_given_up(monkeypatch):
    def hangs(command, **options):
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(importlib.import_module("macura.cli.doctor").subprocess, "run", hangs)
    assert doctor.draws("egl") == "fails: TimeoutExpired"
