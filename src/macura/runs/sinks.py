"""Whoever else is shown the rows of a run: TensorBoard, and Weights & Biases where somebody wants it.

The only place that imports tensorboardX and wandb, and only when they are used. Neither is needed to go on:
the truth of a run is `metrics.jsonl`, and the recorder drops a sink that fails.
"""

import importlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from macura.core import UserError
from macura.runs.files import JSON, write_atomically
from macura.runs.folder import RunFolder
from macura.runs.recorder import Row, Sink

if TYPE_CHECKING:
    from tensorboardX.event_file_writer import EventsWriter

MOST_CURVES = 32
"""A list of at most so many numbers becomes a curve for each index; a longer one a histogram."""


def tensorboard(folder: RunFolder, step: int) -> Sink:
    """Event files for TensorBoard; what an earlier session wrote after `step` is hidden."""
    return TensorBoard(folder, step)


def wandb(folder: RunFolder, config: Mapping[str, JSON], step: int) -> Sink:
    """A run of Weights & Biases that a resumed session continues; `UserError` if it is not installed."""
    return WeightsAndBiases(folder, config, step)


def import_wandb() -> Any:
    """The module, or a `UserError` that says how to install it."""
    try:
        return importlib.import_module("wandb")
    except ImportError as error:
        raise UserError(
            f'Weights & Biases cannot be imported ({error}); install it with pip install "macura[wandb]",'
            " or leave --wandb out."
        ) from error


class TensorBoard:
    """One event file a session, written at once.

    The writer of tensorboardX hands events to a thread that blocks the run for ever once a full disk kills it.
    """

    def __init__(self, folder: RunFolder, step: int):
        self._folder = folder.tensorboard
        self._resumed_at = step
        self._writer: EventsWriter | None = None

    def write(self, step: int, metrics: Row) -> None:
        """One event with every number of the row."""
        values = [value for name, metric in metrics.items() for value in _summaries(name, metric)]
        if values:
            summary = _messages("summary").Summary(value=values)
            event = _messages("event").Event(wall_time=time.time(), step=step, summary=summary)
            self._open().write_event(event)

    def progress(self, step: int) -> None:
        """Nothing to show between rows."""

    def flush(self) -> None:
        """Force the events onto the disk."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Force the events onto the disk and close the file."""
        if self._writer is not None:
            self._writer.close()

    def _open(self) -> "EventsWriter":
        if self._writer is None:
            from tensorboardX.event_file_writer import EventsWriter

            self._folder.mkdir(parents=True, exist_ok=True)
            # Sessions may begin within one second of each other, and the name holds no more than seconds.
            suffix = f".{self._resumed_at}.{os.getpid()}.{time.monotonic_ns()}"
            self._writer = EventsWriter(str(self._folder / "events"), suffix)
            # Rows of the checkpoint's own step were written before it and stay.
            first = self._resumed_at + 1 if self._resumed_at else 0
            messages = _messages("event")
            start = messages.SessionLog(status=messages.SessionLog.START)
            self._writer.write_event(messages.Event(wall_time=time.time(), step=first, session_log=start))
        return self._writer


class WeightsAndBiases:
    """A run of the service, whose id is kept in the run folder so that a resumed session goes on in it."""

    def __init__(self, folder: RunFolder, config: Mapping[str, JSON], step: int):
        module = import_wandb()
        note = folder.path / "wandb" / "id"
        if not note.exists():
            note.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(note, os.urandom(8).hex().encode())
        self._run = module.init(
            project="macura",
            name=folder.path.name,
            id=note.read_text(),
            resume="allow",
            config=dict(config),
            dir=str(folder.path),
        )
        # Steps that a resumed session repeats would be refused under the service's own step.
        self._run.define_metric("*", step_metric="step")

    def write(self, step: int, metrics: Row) -> None:
        """Log the row under its own step."""
        named = {name: value for name, metric in metrics.items() for name, value in _curves(name, metric)}
        self._run.log({"step": step} | named)

    def progress(self, step: int) -> None:
        """Nothing to show between rows."""

    def flush(self) -> None:
        """The service uploads on its own."""

    def close(self) -> None:
        """Finish the upload."""
        self._run.finish()


def _curves(name: str, metric: Any) -> Iterator[tuple[str, float]]:
    """A number under its name, a short list under its name and each index; nothing for what is not finite."""
    if isinstance(metric, list):
        places = cast(list[Any], metric)
        digits = len(str(len(places) - 1))
        if len(places) <= MOST_CURVES:
            for index, value in enumerate(places):
                yield from _curves(f"{name}/{index:0{digits}}", value)
    elif metric is not None:
        yield name, metric


def _summaries(name: str, metric: Any) -> Iterator[Any]:
    """TensorBoard's values for one metric: curves, or a histogram of a long list."""
    from tensorboardX.summary import make_histogram

    messages = _messages("summary")
    if isinstance(metric, list) and len(cast(list[Any], metric)) > MOST_CURVES:
        values = np.ravel(np.array(metric, float))  # None becomes NaN
        values = values[np.isfinite(values)]
        if values.size:
            yield messages.Summary.Value(tag=name, histo=make_histogram(values, bins=30))
    for curve, value in _curves(name, metric):
        yield messages.Summary.Value(tag=curve, simple_value=value)


def _messages(name: str) -> Any:
    """The generated module of TensorBoard's message types, which no type checker can look into."""
    return importlib.import_module(f"tensorboardX.proto.{name}_pb2")
