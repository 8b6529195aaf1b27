"""One run of a study inside the process that it was given to."""

import fcntl
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from macura.core import RunError, UserError
from macura.studies import cores

Ending = Literal["finished", "failed", "interrupted"]
Work = Callable[[Mapping[str, Any], Path], None]
"""Does the run of a record (as JSON) in a folder."""


class Outcome(NamedTuple):
    """How a run ended, and one line about it."""

    ending: Ending
    message: str = ""


def train(record: Mapping[str, Any], folder: Path) -> None:
    """Train as the record says, or go on from the last checkpoint."""
    from macura import runs
    from macura.studies.record import Record, programs_of
    from macura.training import run

    def sinks(folder: runs.RunFolder, config: object, step: int) -> list[runs.Sink]:
        return [runs.tensorboard(folder, step)]

    share_programs(programs_of(folder))
    asked = Record(**record)
    sys.argv = asked.command(folder)  # what the manifest will give for doing this run again
    run(asked.config(), folder, sinks=sinks)


def share_programs(folder: Path) -> None:
    """Keep compiled programs on disk: other seeds of a variant, and a run that goes on, load what one has compiled.

    JAX tells programs apart by versions, settings and the kind of processor, but not by the number of cores that they
    were compiled for. A folder that the user has set for this stays in use.
    """
    import jax

    if jax.config.values.get("jax_compilation_cache_dir") is None:
        own = folder / f"{len(cores.usable())}-cores"
        jax.config.update("jax_compilation_cache_dir", str(own))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def attempt(work: Work, record: Mapping[str, Any], folder: Path) -> Outcome:
    """Do the work; whatever goes wrong becomes an outcome, its traceback is printed (into the log of the run)."""
    try:
        work(record, folder)
    except Exception as error:
        return _ending(error)
    finally:
        _forget_programs()
    return Outcome("finished")


def _ending(error: Exception) -> Outcome:
    """An exception as an outcome; one that nobody foresaw leaves its traceback."""
    interrupt = sys.modules.get("macura.training.interrupt")  # slow to import, and nobody else raises it
    if interrupt is not None and isinstance(error, interrupt.Interrupted):
        return Outcome("interrupted", str(error))
    if isinstance(error, UserError | RunError):
        return Outcome("failed", str(error))
    traceback.print_exception(error)
    return Outcome("failed", f"{type(error).__name__}: {error}")


def await_release(folder: Path, patience: float = 60.0) -> None:
    """Wait until a process that was working in the folder, and has been given up, is really gone."""
    lock = folder / "lock"
    until = time.monotonic() + patience
    while lock.exists() and time.monotonic() < until:
        with lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                pass
        time.sleep(0.2)


def _forget_programs() -> None:
    """The next run compiles its own."""
    if "jax" in sys.modules:
        import jax

        jax.clear_caches()
