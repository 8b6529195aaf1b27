"""Tiny runs in processes of their own, and what it means that two runs are the same."""

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from macura import runs

ROOT = Path(__file__).parents[2]
"""Where `tests.fakes.envs` can be imported."""

AGENT = (
    "--env tests.fakes.envs:point --env.time-limit 4 --preset quick --steps 30 --epoch-steps 5 --warmup-steps 6"
    " --evaluation-episodes 2 --exploration pink --sac.width 8 --sac.batch-size 4"
)
MODEL = (
    " --imagination.every 4 --imagination.rollout.rollouts 12 --imagination.model.width 8"
    " --imagination.model.hidden-layers 1 --imagination.model.members 3 --imagination.model.batch-size 4"
    " --imagination.model.gradient-steps 9"
)
ALGORITHMS = ("sac", "mbpo", "m2ac", "macura")


def command(algorithm, out, extra=""):
    """A run of seconds: 30 steps, 6 epochs, and for those with a model 7 rounds."""
    settings = AGENT if algorithm == "sac" else AGENT + MODEL
    return f"train --algorithm {algorithm} {settings} {extra} --out {out}".split()


def start(arguments, module="macura.cli.main"):
    """A process of `python -m module arguments` that leaves its output to be read."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Wait for a process; its exit code (minus a signal), standard output and standard error."""
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """By algorithm: the folder of a run that was never stopped, and how many events its phases had."""

    @functools.cache
    def run(algorithm):
        folder = tmp_path_factory.mktemp("whole") / algorithm
        code, out, err = finish(
            start(["any", 0, "kill", *command(algorithm, folder)], "tests.faults.moments")
        )
        assert code == 0, err
        return folder, json.loads(out.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def broken_off(tmp_path_factory, whole):
    """A run of SAC killed in its fifth epoch, with two checkpoints behind it; to be copied, not changed."""
    folder = tmp_path_factory.mktemp("broken_off") / "run"
    number = whole("sac")[1]["improve"] * 3 // 4
    code, _, err = finish(start(["improve", number, "kill", *command("sac", folder)], "tests.faults.moments"))
    assert code == -signal.SIGKILL, err
    return folder


@pytest.fixture
def unfinished(broken_off, tmp_path):
    """A copy of the broken off run."""
    return Path(shutil.copytree(broken_off, tmp_path / "run"))


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory, worker_id):
    """All processes of a test session share what they compile: the same programs, in a fraction of the time."""
    base = tmp_path_factory.getbasetemp()
    folder = base / "compiled" if worker_id == "master" else base.parent / "compiled"
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def content(folder):
    """All that must not depend on when a run was stopped: policies, metrics without times, the whole last state."""
    folder = runs.RunFolder(folder)
    assert folder.state() == "finished"
    metrics = [
        {name: value for name, value in row.items() if not name.startswith("time/")}
        for row in runs.read_metrics(folder.metrics_file)
    ]
    restored = runs.Checkpoints(folder.checkpoints, warn=pytest.fail).restore()
    state = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in restored.tree.items()}
    policies = {path.name: path.read_bytes() for path in folder.path.glob("*.safetensors")}
    return {"metrics": metrics, "state": state, "step": restored.step, "meta": restored.meta} | policies


def require_same(folder, other):
    """Two finished runs are the same to the last bit; the first difference is named."""
    one, two = content(folder), content(other)
    assert one["metrics"] == two["metrics"]
    assert one["state"].keys() == two["state"].keys()
    differing = [name for name, array in one["state"].items() if array != two["state"][name]]
    assert not differing
    assert one == two
    assert np.isfinite([row["eval/return_mean"] for row in one["metrics"] if "eval/return_mean" in row]).all()
