"""Whole short runs, in a process of their own: `python -m macura.bench.whole_run {run,host} SIZE` prints one JSON line.

A peak of memory belongs to a process, and nothing compiled earlier may be left over.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from macura import runs
from macura.bench.size import SIZES, Size, macura, sac
from macura.core import RunError
from macura.envs import Task
from macura.rollout import LinearHorizon
from macura.training import RunConfig, memory, to_dict
from macura.training.clock import Clock
from macura.training.judges import resolve
from macura.training.loop import train
from macura.training.session import Session

MIB = 2**20


class Watched(Session):
    """A session that knows which of its time was neither its own nor the recorder's."""

    elsewhere: Clock
    """Seconds in compiled programs (`first`: calls that also compile), in `env.step`, in evaluation and in saving."""

    def watch(self) -> None:
        """Begin to count."""
        self.elsewhere = Clock()
        step: Any = self.bridge.env
        step.step = self._counted("env", step.step)
        phases = self.phases
        self.phases = replace(
            phases,
            act=self._counted("act", phases.act, first=True),
            improve=self._counted("improve", phases.improve, first=True),
        )

    def evaluate(self) -> None:
        """As in every run."""
        with self.elsewhere("evaluate"):
            super().evaluate()

    def save(self) -> None:
        """As in every run."""
        with self.elsewhere("save"):
            super().save()

    def _counted(self, name: str, function: Callable[..., Any], first: bool = False) -> Callable[..., Any]:
        names = iter(["first"] if first else [])

        def counted(*arguments: Any) -> Any:
            with self.elsewhere(next(names, name)):
                return jax.block_until_ready(function(*arguments))

        return counted


def measure(kind: str, size_name: str) -> dict[str, Any]:
    """Have another process do it."""
    command = [sys.executable, "-m", "macura.bench.whole_run", kind, size_name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise RunError(f"the run that was to be measured failed: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def one_run(size: Size) -> dict[str, Any]:
    """Traces, compile time and memory of a run of MACURA whose data, horizon and G grow."""
    compiling: dict[str, float] = {}

    def listen(event: str, duration_secs: float, **_: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            name = event.rsplit("/", 1)[1].removesuffix("_duration")
            compiling[name] = compiling.get(name, 0.0) + duration_secs

    jax.monitoring.register_event_duration_secs_listener(listen)
    epoch = size.run_steps // 4
    settings = {
        "warmup_steps": epoch,
        "epoch_steps": epoch,
        "evaluation_episodes": 1,
        "imagination.every": epoch,
        "imagination.rollout.horizon": LinearHorizon(1, 3, 1, 10),
        "imagination.model.gradient_steps": 10 * size.epochs,
        "imagination.model.fewest_steps": 0,
    }
    config = macura(size, size.run_steps, **settings)
    session, seconds = drive(config)
    state = session.state
    assert state.ring is not None
    buffers = state.real.rows.nbytes + state.ring.rows.nbytes
    width = state.ring.rows.shape[1]
    held = (int(state.real.count) + int(state.ring.count)) * width * 4
    peak = peak_memory()
    return {
        "steps": config.steps,
        "seconds": seconds,
        "rounds": config.steps // epoch,
        "traces": session.phases.traces,
        "compile_seconds": sum(compiling.values()),
        "compile_parts": compiling,
        "peak_mib": peak / MIB,
        "buffers_mib": buffers / MIB,
        "rows_held_mib": held / MIB,
        "above_buffers_mib": (peak - buffers) / MIB,
        "above_rows_held_mib": (peak - held) / MIB,
        "estimate_mib": sum(memory.estimate(config, session.shape.obs, session.shape.act).values()) / MIB,
    }


def host_work(size: Size) -> dict[str, Any]:
    """Milliseconds of an environment step outside compiled programs and `env.step`.

    `loop` is what the loop does between them, measured in a run of SAC with one update a step. What it costs to start
    a compiled program and to fetch its result is hidden in the programs' own time; `dispatch` bounds it by the time
    of programs with next to nothing to do. `save` is the share of checkpoints and policy files, once in 1,000 steps.
    """
    steps = size.host_steps
    session, seconds = drive(sac(size, **{"sac.width": size.width, "warmup_steps": 0}))
    spent = session.elsewhere.read()
    loop = seconds - sum(spent.values())
    idle = {"sac.width": 8, "warmup_steps": steps + 1, "warmup_actions": "policy"}
    empty, _ = drive(sac(size, **idle))
    dispatch = empty.elsewhere.read()
    saves = 2
    found = {
        "loop_ms": 1000 * loop / steps,
        "dispatch_ms": 1000 * (dispatch["time/act"] + dispatch["time/improve"]) / steps,
        "save_ms": spent["time/save"] / saves,  # seconds of one, in milliseconds a step of 1,000
    }
    return {
        "steps": steps,
        **found,
        "host_ms": sum(found.values()),
        "env_step_ms": 1000 * spent["time/env"] / steps,
        "compiled_ms": 1000 * (spent["time/act"] + spent["time/improve"]) / steps,
    }


def drive(config: RunConfig) -> tuple[Watched, float]:
    """A run as `macura train` does it, with its files and its display; and the seconds of its loop."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = runs.RunFolder(Path(temporary) / "run")
        task = Task(config.env)
        bridge = task.make()
        judges = resolve(config, task, bridge.obs_dim, bridge.act_dim)
        plain = to_dict(config)
        folder.begin(plain, runs.describe(jax.default_backend(), task.physics()))
        with folder:
            session = Watched(config, task, bridge, judges, folder)
            session.watch()
            sinks = [runs.console(folder, plain, 0), runs.tensorboard(folder, 0)]
            began = time.perf_counter()
            train(session, sinks)
            seconds = time.perf_counter() - began
            folder.end("finished")
        session.close()
        bridge.close()
    return session, seconds


def peak_memory() -> int:
    """Most bytes of memory this process has had at a time."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


KINDS: Mapping[str, Callable[[Size], dict[str, Any]]] = {"run": one_run, "host": host_work}

if __name__ == "__main__":
    result = KINDS[sys.argv[1]](SIZES[sys.argv[2]])
    os.write(1, f"\n{json.dumps(result)}\n".encode())
