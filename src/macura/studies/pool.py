"""The local executor: processes with cores of their own, each doing one run after the other."""

import json
import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from macura.studies.cores import usable
from macura.studies.record import Job
from macura.studies.work import Outcome, await_release

LIVES = 3
"""Processes that may die of one run before it counts as failed."""
TICK = 0.25
"""Seconds between two looks at the display and at signals when nothing happens."""


class Event(NamedTuple):
    """Something happened to a run."""

    job: Job
    kind: Literal["started", "lost", "ended"]
    outcome: Outcome | None = None


@dataclass
class _Worker:
    process: subprocess.Popen[str]
    job: Job | None = None


class Pool:
    """`processes` workers of `cores` cores each; leaving the context ends them, busy or not."""

    def __init__(self, processes: int | None = None, cores: int = 1, work: str = "macura.studies.work:train"):
        available = len(usable()) or os.cpu_count() or 1
        self.processes = processes or max(1, available // cores)
        self._command = [sys.executable, "-m", "macura.studies.worker", work, str(cores)]
        # Processes that share a GPU take its memory as they need it, not most of it at once.
        shares = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if self.processes > 1 else {}
        self._environment = shares | os.environ
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        self._deaths: dict[str, int] = {}
        self._stopping = False

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _close(worker.process)
        self._selector.close()

    def run(self, jobs: Sequence[Job]) -> Iterator[Event | None]:
        """Do all jobs; yields what happens, and None now and then when nothing does."""
        waiting = deque(jobs)
        for _ in range(min(self.processes, len(waiting))):
            if self._stopping:
                break
            yield self._give(self._hire(), waiting.popleft())
        while any(worker.job for worker in self._workers):
            ready = self._selector.select(TICK)
            for key, _ in ready:
                worker: _Worker = key.data
                event = self._hear(worker)
                if event is None:
                    continue
                yield event
                if event.kind == "lost":
                    waiting.appendleft(event.job)
                if waiting and not self._stopping:
                    free = worker if worker in self._workers else self._hire()
                    yield self._give(free, waiting.popleft())
            if not ready:
                yield None

    def interrupt(self) -> None:
        """Ask every running run to stop after its current step; `run` then yields how they ended."""
        self._stopping = True
        for worker in self._workers:
            if worker.job:
                worker.process.send_signal(signal.SIGTERM)

    def _hire(self) -> _Worker:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
            start_new_session=True,  # an interrupt typed into the terminal reaches the pool alone
        )
        worker = _Worker(process)
        self._workers.append(worker)
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _give(self, worker: _Worker, job: Job) -> Event:
        worker.job = job
        order = {"record": job.record.to_json(), "folder": str(job.folder), "log": str(job.log)}
        assert worker.process.stdin is not None
        with suppress(BrokenPipeError):  # its end is heard of next
            worker.process.stdin.write(json.dumps(order) + "\n")
            worker.process.stdin.flush()
        return Event(job, "started")

    def _hear(self, worker: _Worker) -> Event | None:
        """The answer of a worker, or the silence of a dead one; None if it died without a run."""
        job, process = worker.job, worker.process
        assert process.stdout is not None
        answer = process.stdout.readline()
        if job is not None and answer:
            worker.job = None
            return Event(job, "ended", Outcome(**json.loads(answer)))
        self._workers.remove(worker)
        self._selector.unregister(process.stdout)
        _close(process)
        if job is None:
            return None
        await_release(job.folder)
        if self._stopping:
            return Event(job, "ended", Outcome("interrupted", "stopped before its first step"))
        deaths = self._deaths[job.name] = self._deaths.get(job.name, 0) + 1
        if deaths < LIVES:
            return Event(job, "lost")
        return Event(job, "ended", Outcome("failed", _obituary(process.returncode, job)))


def _close(process: subprocess.Popen[str]) -> None:
    """End a worker: an idle one at once, a busy one after its current step."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def _obituary(code: int, job: Job) -> str:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    hint = " (out of memory?)" if code == -signal.SIGKILL else ""
    return f"its process {how}{hint}, {LIVES} times; what it printed is in {job.log}"
