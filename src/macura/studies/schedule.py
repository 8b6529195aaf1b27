"""Which runs of a study are still to be done, and doing them: repeating it is always right."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from macura.core import UserError
from macura.runs import RunFolder
from macura.studies.pool import Event
from macura.studies.record import Job
from macura.training.interrupt import Interrupted, listening


@runtime_checkable
class Executor(Protocol):
    """The local pool, or Ray."""

    def run(self, jobs: Sequence[Job]) -> Iterator[Event | None]:
        """Do all jobs; yields what happens, and None now and then when nothing does."""
        ...

    def interrupt(self) -> None:
        """Ask every running run to stop after its current step."""
        ...


Watch = Callable[[Event | None], None]
"""Is shown every event, and called now and then between events."""


class Failure(NamedTuple):
    """A run, and one line that says why it failed."""

    job: Job
    message: str


@dataclass
class Plan:
    """What is known of the runs before any of them is started."""

    todo: list[Job] = field(default_factory=list[Job])
    finished: list[Job] = field(default_factory=list[Job])
    failed: list[Failure] = field(default_factory=list[Failure])
    """Runs that failed earlier and are not tried again."""


@dataclass
class Summary:
    """How it went."""

    done: list[Job] = field(default_factory=list[Job])
    skipped: list[Job] = field(default_factory=list[Job])
    failed: list[Failure] = field(default_factory=list[Failure])
    interrupted: list[Job] = field(default_factory=list[Job])


def plan(jobs: Iterable[Job], retry: bool = False) -> Plan:
    """Finished runs are skipped, unfinished ones gone on with; failed ones too, if they shall be tried again."""
    plan = Plan()
    for job in {job.name: job for job in jobs}.values():
        try:
            state = RunFolder(job.folder).state()
            failure = _failure(job) if state == "unfinished" else None
        except UserError as error:
            plan.failed.append(Failure(job, str(error)))
            continue
        if state == "finished":
            plan.finished.append(job)
        elif failure is None or retry:
            plan.todo.append(job)
        else:
            plan.failed.append(Failure(job, failure))
    return plan


def execute(plan: Plan, executor: Executor, watch: Watch = lambda event: None) -> Summary:
    """Do what is to be done. The first SIGINT or SIGTERM interrupts all runs, each after its current step."""
    summary = Summary(skipped=plan.finished, failed=list(plan.failed))
    asked: Interrupted | None = None
    with listening() as stop:
        for event in executor.run(plan.todo):
            if event is not None:
                _book(event, summary)
            watch(event)
            if asked is None and stop.signum is not None:
                asked = Interrupted(stop.signum)
                executor.interrupt()
    if asked is not None:
        raise asked
    return summary


def _book(event: Event, summary: Summary) -> None:
    if event.outcome is None:
        return
    if event.outcome.ending == "finished":
        summary.done.append(event.job)
    elif event.outcome.ending == "interrupted":
        summary.interrupted.append(event.job)
    else:
        summary.failed.append(Failure(event.job, event.outcome.message))


def _failure(job: Job) -> str | None:
    """Why the last session of an unfinished run failed; None if it was killed or interrupted, or goes on."""
    manifest = RunFolder(job.folder).read_manifest()
    return str(manifest.get("message", "unknown")) if manifest.get("status") == "failed" else None
