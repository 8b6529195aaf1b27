"""The executor for more than one machine. The only place that imports Ray, and only when it is used.

Every run is a task with its share of CPUs and GPUs. Run folders must lie where all nodes see them: a task whose worker
or node is lost is started again elsewhere, and goes on from the last checkpoint of its folder.
"""

import importlib
import json
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from macura.core import UserError
from macura.studies import cores
from macura.studies.pool import TICK, Event
from macura.studies.record import Job
from macura.studies.work import Outcome, Work, attempt, await_release

LIVES = 10
"""Workers and nodes that may be lost with one run before it counts as failed."""
PATIENCE = 5
"""Seconds that a cluster has to connect, and again to greet: Ray itself would try for minutes."""


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
    """Make sure that a cluster answers."""
    if address == "auto":
        return
    match = re.fullmatch(r"(?:ray://)?([^:/\s]+)(?::(\d+))?", address)
    if match is None:
        raise UserError(
            f"{address!r} is no address of a Ray cluster; give HOST:PORT, such as 10.0.0.5:6379, auto or local."
        )
    port = int(match[2] or (10001 if address.startswith("ray://") else 6379))
    try:
        with socket.create_connection((match[1], port), timeout=PATIENCE) as connection:
            encrypted = os.environ.get("RAY_USE_TLS", "0") != "0"
            if encrypted or _speaks_grpc(connection):
                return
    except OSError as error:
        raise _unreachable(address, str(error)) from error
    raise _unreachable(address, "what listens there is no Ray cluster")


def _speaks_grpc(connection: socket.socket) -> bool:
    """Whether a call is answered as gRPC, which Ray speaks, answers every call: with the status 200.

    Asked by hand (RFC 9113, RFC 7541), because Ray's own clients are slow to start and slower to give up.
    """
    path, content = b"/grpc.health.v1.Health/Check", b"application/grpc"
    fields = b"\x83\x86\x01\x03ray\x04%c%s\x0f\x10%c%s" % (len(path), path, len(content), content)
    call = _frame(_HEADERS, 4, 1, fields + b"\x00\x02te\x08trailers") + _frame(_DATA, 1, 1, bytes(5))
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(_SETTINGS, 0, 0, b"") + call)
    answers = connection.makefile("rb")
    while len(head := answers.read(9)) == 9 and (length := int.from_bytes(head[:3], "big")) <= _LONGEST:
        body = answers.read(length)
        if head[3] == _HEADERS:
            return body.startswith(_STATUS_200)
    return False


_DATA, _HEADERS, _SETTINGS = 0, 1, 4
_STATUS_200 = b"\x88"
_LONGEST = 16384
"""Bytes of a frame; what seems longer is no frame."""


def _frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def _unreachable(address: str, why: str) -> UserError:
    return UserError(
        f"No Ray cluster answers at {address} ({why}); start one there with ray start --head, or use --ray local."
    )
