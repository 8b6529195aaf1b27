"""Cores for one process alone, agreed upon by all processes of a machine through locked files."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

_held: list[IO[str]] = []
"""Locks of this process; they go when it ends, in whatever way."""


def usable() -> list[int]:
    """The cores this process may use; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(count: int) -> list[int]:
    """Keep this process, and all threads it starts from now on, to `count` cores that no other pinned process has.

    Call it before JAX is imported: the size of its thread pool decides the last bits of what a run computes. With
    fewer free cores than asked for, cores are shared: speed suffers, results do not.
    """
    cores = usable()
    if _held or not cores:
        return cores
    count = min(count, len(cores))
    free = [core for core in cores if _lock(core, at_most=count)]
    busy = [core for core in cores if core not in free]
    taken = free + [busy[(os.getpid() + i) % len(busy)] for i in range(count - len(free))]
    os.sched_setaffinity(0, taken)
    return taken


def _lock(core: int, at_most: int) -> bool:
    if len(_held) >= at_most:
        return False
    folder = Path(tempfile.gettempdir()) / f"macura-cores-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = (folder / str(core)).open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return False
    _held.append(file)
    return True
