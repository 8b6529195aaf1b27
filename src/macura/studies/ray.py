"""The executor for more than one machine. The only place that imports Ray, and only when it is used.

Every run is a task with its share of CPUs and GPUs. Run folders must lie where all nodes see them: a task whose worker
or node is lost is started again elsewhere, and goes on from the last checkpoint of its folder.
"""

import importlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from macura.core import UserError
from macura.studies import cores
from macura.studies.pool import TICK, Event
from macura.studies.record import Job
from macura.studies.work import Outcome, Work, attempt, await_release

LIVES = 10
"""Workers and nodes that may be lost with one run before it counts as failed."""
PATIENCE = 8
"""Seconds that a cluster has to answer."""


class Cluster:
    """Tasks on the Ray cluster at `address`, or on one made for the occasion (`local`)."""

    def __init__(
        self, address: str, cpus: int = 1, gpus: float = 0.0, work: str = "macura.studies.work:train"
    ) -> None:
        self._ray = import_ray()
        self._work = work
        self._cpus = cpus
        self._gpus = gpus
        self._stopping = False
        self._connect(address)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def run(self, jobs: Sequence[Job]) -> Iterator[Event | None]:
        """Do all jobs; Ray decides when and where. Yields what happens, and None now and then when nothing does."""
        task = self._ray.remote(num_cpus=self._cpus, num_gpus=self._gpus, max_retries=LIVES)(perform)
        self._pending: dict[Any, Job] = {}
        for job in jobs:
            order = {
                "record": job.record.to_json(),
                "folder": str(job.folder.resolve()),
                "log": str(job.log.resolve()),
            }
            self._pending[task.remote(json.dumps(order), self._work, self._cpus)] = job
        begun: set[str] = set()
        while self._pending:
            ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=TICK)
            for job in self._pending.values():
                if job.name not in begun and job.log.exists():
                    begun.add(job.name)
                    yield Event(job, "started")
            for reference in ready:
                yield Event(self._pending.pop(reference), "ended", self._outcome(reference))
            yield None

    def interrupt(self) -> None:
        """Ask every task to stop after its current step; those that wait are not begun."""
        for reference in self._pending:
            self._ray.cancel(reference)

    def _outcome(self, reference: Any) -> Outcome:
        errors = self._ray.exceptions
        try:
            return Outcome(**json.loads(self._ray.get(reference)))
        except (errors.TaskCancelledError, KeyboardInterrupt):
            return Outcome("interrupted", "cancelled")
        except errors.RayError as error:
            last = str(error).strip().splitlines()[-1]  # of a traceback from the other machine
            return Outcome("failed", f"Ray gave it up: {last}")

    def _connect(self, address: str) -> None:
        options: dict[str, Any] = {
            "logging_level": "ERROR",
            "log_to_driver": False,
            "include_dashboard": False,
        }
        if address == "local":
            self._ray.init(address="local", num_cpus=len(cores.usable()) or os.cpu_count(), **options)
            return
        del options["include_dashboard"]
        require_answer(address)
        try:
            self._ray.init(address=address, **options)
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise _unreachable(address, str(error).strip().splitlines()[0]) from error


def perform(order: str, work: str, count: int) -> str:
    """The task: pin this worker as the local pool pins its own, and do the run in it."""
    cores.pin(count)
    details: Mapping[str, Any] = json.loads(order)
    folder, log = Path(details["folder"]), Path(details["log"])
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        print(f"worker {os.getpid()} on {socket.gethostname()}", file=file)
    await_release(folder)
    module, _, name = work.partition(":")
    function: Work = getattr(importlib.import_module(module), name)
    return json.dumps(attempt(function, details["record"], folder)._asdict())


def import_ray() -> Any:
    """The module, or a `UserError` that says how to install it."""
    os.environ.setdefault(
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0"
    )  # the behaviour to come; silences a warning
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        module = importlib.import_module("ray")
        importlib.import_module("ray.exceptions")  # a folder called ray, as Ray leaves in /tmp, imports too
    except ImportError as error:
        raise UserError(
            f'Ray cannot be imported ({error}); install it with pip install "macura[ray]", or leave --ray out.'
        ) from error
    return module


def require_answer(address: str) -> None:
    """Make sure that a cluster answers: Ray itself would try for minutes."""
    if address == "auto":
        return
    match = re.fullmatch(r"(?:ray://)?([^:/\s]+)(?::(\d+))?", address)
    if match is None:
        raise UserError(
            f"{address!r} is no address of a Ray cluster; give HOST:PORT, such as 10.0.0.5:6379, auto or local."
        )
    port = int(match[2] or (10001 if address.startswith("ray://") else 6379))
    try:
        socket.create_connection((match[1], port), timeout=PATIENCE / 2).close()
    except OSError as error:
        raise _unreachable(address, str(error)) from error
    if not address.startswith("ray://") and not _healthy(f"{match[1]}:{port}"):
        raise _unreachable(address, f"what listens there is no Ray cluster that answers within {PATIENCE} s")


def _healthy(address: str) -> bool:
    """Whether it is Ray that answers; asked by another process, because Ray's own client does not give up."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    return False


def _unreachable(address: str, why: str) -> UserError:
    return UserError(
        f"No Ray cluster answers at {address} ({why}); start one there with ray start --head, or use --ray local."
    )
