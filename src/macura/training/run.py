"""One run from its configuration to its finished folder."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import jax

from macura import runs
from macura.core import RunError
from macura.envs import Task
from macura.runs.warning import print_warning
from macura.training import memory
from macura.training.codec import to_dict
from macura.training.config import RunConfig
from macura.training.failure import explained
from macura.training.interrupt import Interrupted
from macura.training.judges import Judges, resolve
from macura.training.loop import train
from macura.training.session import Session

Sinks = Callable[[runs.RunFolder, RunConfig, int], Sequence[runs.Sink]]
"""Makes the sinks of a run from its folder, its configuration, and the step it goes on from."""


def run(
    config: RunConfig,
    out: str | Path,
    *,
    task: Task | None = None,
    judges: Judges | None = None,
    sinks: Sinks = lambda folder, config, step: (),
) -> runs.RunFolder:
    """Train in the folder `out`, or go on with the unfinished run of the same configuration that is in it.

    `UserError` before anything is written if something is wrong with what was asked for; `RunError` if the run
    fails, `Interrupted` if it is told to stop: repeating the call then goes on from the last checkpoint.
    """
    folder = runs.RunFolder(out)
    folder.state()
    task = task or Task(config.env)
    bridge = task.make()
    try:
        resolved = resolve(config, task, bridge.obs_dim, bridge.act_dim, judges)
        memory.refuse_too_much(memory.estimate(config, bridge.obs_dim, bridge.act_dim))
        opening = folder.begin(to_dict(config), runs.describe(_device(), task.physics()))
        for note in opening.notes:
            print_warning(note)
        if config.steps <= config.warmup_steps:
            print_warning(
                f"nothing will be learned: all {config.steps:,} steps are warm-up;"
                f" take more than {config.warmup_steps:,}, or a smaller --warmup-steps."
            )
        with folder:
            _train(config, task, Session(config, task, bridge, resolved, folder), folder, sinks)
    finally:
        bridge.close()
    return folder


def _train(config: RunConfig, task: Task, session: Session, folder: runs.RunFolder, sinks: Sinks) -> None:
    try:
        session.restore()
        try:
            train(session, sinks(folder, config, session.step))
        except jax.errors.JaxRuntimeError as failure:
            raise explained(failure, session.step) from failure
    except BaseException as cause:
        status = "interrupted" if isinstance(cause, Interrupted | KeyboardInterrupt) else "failed"
        expected = isinstance(cause, Interrupted | RunError)
        with suppress(Exception):  # the first failure is the one to tell of
            folder.end(status, str(cause) if expected else f"{type(cause).__name__}: {cause}")
        raise
    else:
        folder.end("finished")
    finally:
        session.close()


def _device() -> str:
    return f"{jax.default_backend()} ({jax.devices()[0].device_kind})"
