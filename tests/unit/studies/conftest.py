"""Work that takes no time: runs in the form the real ones have on disk."""

import os
from pathlib import Path

import pytest

from macura.studies.record import Job, Record

FAKE = """
import json, os, signal, time
from macura.core import RunError


def instant(record, folder):
    folder.mkdir(parents=True)
    config = {"algorithm": record["algorithm"], "env": {"id": record["env"]}, "seed": record["seed"], "steps": 3000}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "manifest.json").write_text(json.dumps({"versions": {"jax": "0"}, "status": "finished"}))
    level = {"macura": 30, "mbpo": 20, "m2ac": 15, "sac": 5}[record["algorithm"]]
    with (folder / "metrics.jsonl").open("w") as lines:
        for step in range(200, 3001, 200):
            value = level * step / 30 + record["seed"]
            lines.write(json.dumps({"step": step, "eval/return_mean": value, "updates/count": 5}) + "\\n")
    (folder / "done").touch()


def fails(record, folder):
    raise RunError(f"seed {record['seed']} fails")


def crashes(record, folder):
    raise ZeroDivisionError("by zero")


def dies_once(record, folder):
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / "cores").write_text(str(len(os.sched_getaffinity(0))))


def dies_always(record, folder):
    os.kill(os.getpid(), signal.SIGKILL)


def waits(record, folder):
    from macura.training.interrupt import listening
    folder.mkdir(parents=True, exist_ok=True)
    with listening() as stop:
        (folder / "waiting").write_text(str(os.getpid()))
        for _ in range(600):
            time.sleep(0.05)
            if stop.signum:
                (folder / "stopped").touch()
            stop.raise_if_asked()


def prints(record, folder):
    os.write(1, b"from C\\n")
    print("from Python")
"""


@pytest.fixture
def fake_work(tmp_path, monkeypatch):
    """Makes `fake_work:NAME` known to this process and to all that it starts."""
    (tmp_path / "fake_work.py").write_text(FAKE)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + (os.pathsep + before if before else ""))
    monkeypatch.syspath_prepend(str(tmp_path))


def fake_job(out: Path, seed=0, algorithm="macura", env="Hopper-v5") -> Job:
    """A job that nobody resolved."""
    name = f"{algorithm}-{env}-{seed}"
    record = Record(algorithm, env, "quick", seed)
    return Job(name, name, record, out / "runs" / name, out / "logs" / f"{name}.txt", 3000)


@pytest.fixture
def jobs(tmp_path):
    """`jobs(n)` makes n jobs."""
    return lambda count: [fake_job(tmp_path / "out", seed) for seed in range(count)]
