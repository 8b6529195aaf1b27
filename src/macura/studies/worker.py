"""The process of the local pool: reads one run a line, does it, answers one line. Started by `pool`, not by people."""

import importlib
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import IO, Any, cast

from macura.studies import cores


def main(work: str, count: int) -> None:
    """Do the runs that arrive on standard input with the function `work` (package.module:name) on `count` cores."""
    cores.pin(count)
    from macura.studies.work import Work, attempt

    module, _, name = work.partition(":")
    perform = cast(Work, getattr(importlib.import_module(module), name))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool is interrupted, and passes it on as SIGTERM
    with os.fdopen(os.dup(1), "w") as answers:
        orders = _Orders(sys.stdin)
        while (order := orders.next()) is not None:
            with _printing_to(Path(order["log"])):
                outcome = attempt(perform, order["record"], Path(order["folder"]))
            orders.done()
            answers.write(json.dumps(outcome._asdict()) + "\n")
            answers.flush()


class _Orders:
    """The lines of standard input. If it ends in the middle of a run, the pool has died and the run is interrupted."""

    def __init__(self, lines: IO[str]) -> None:
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._busy = threading.Event()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()

    def next(self) -> dict[str, Any] | None:
        return self._waiting.get()

    def done(self) -> None:
        self._busy.clear()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            self._busy.set()
            self._waiting.put(json.loads(line))
        self._waiting.put(None)
        if self._busy.is_set():
            os.kill(os.getpid(), signal.SIGTERM)


class _printing_to:
    """Whatever is printed, by compiled libraries too, is appended to a file."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def __enter__(self) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._kept = os.dup(1), os.dup(2)
        file = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.close(file)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, kept in zip((1, 2), self._kept, strict=True):
            os.dup2(kept, number)
            os.close(kept)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
