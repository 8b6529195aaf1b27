"""What a run measured: one JSON object a line, and whoever wants to see it on the way."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from jaxtyping import ArrayLike

from macura.core import RunError
from macura.runs.files import JSON, reason, write_atomically
from macura.runs.warning import Warn, print_warning

Number = float | int | None
Row = dict[str, Number | list[Any]]
"""Plain numbers (None where a number was not finite) and lists of them."""


@runtime_checkable
class Sink(Protocol):
    """Somebody who is shown every row; a sink that fails is dropped, the file goes on."""

    def write(self, step: int, metrics: Row) -> None:
        """Take one row."""
        ...

    def progress(self, step: int) -> None:
        """Know that the run has reached `step`; called after every step, so it must cost next to nothing."""
        ...

    def flush(self) -> None:
        """Put all rows taken so far where they outlive the process."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Recorder:
    """Appends rows to `metrics.jsonl` and shows them to the sinks.

    `resume_step` is the step of the checkpoint from which the run goes on: later rows, and a last line torn
    by a kill, are removed, so that a curve never splits. None (no checkpoint) begins with an empty file.
    Therefore record the rows of a step before its checkpoint is saved.
    """

    def __init__(
        self,
        path: Path,
        sinks: Sequence[Sink] = (),
        resume_step: int | None = None,
        warn: Warn = print_warning,
    ):
        self.path = path
        self._sinks = list(sinks)
        self._warn = warn
        self._last = -1 if resume_step is None else resume_step
        try:
            _keep_rows(path, self._last)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise RunError(f"cannot write {path}: {reason(error)}.") from error

    def record(self, step: int, metrics: Mapping[str, ArrayLike | Sequence[float]]) -> None:
        """Append one row; NaN and infinity become null. Steps never go back."""
        if step < self._last:
            raise ValueError(f"step {step} after step {self._last}")
        self._last = step
        row: Row = {name: _plain(value) for name, value in metrics.items()}
        self._append((json.dumps({"step": step} | row, allow_nan=False) + "\n").encode())
        self._each("write", step, row)

    def progress(self, step: int) -> None:
        """Tell the sinks, but not the file, how far the run has come."""
        self._each("progress", step)

    def sync(self) -> None:
        """Force all rows onto the disk; call it before saving the checkpoint that continues them."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RunError(f"cannot write {self.path}: {reason(error)}.") from error
        self._each("flush")

    def close(self) -> None:
        """Close the file and the sinks."""
        if not self._file.closed:
            self._file.close()
            self._each("close")

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: bytes) -> None:
        try:
            while line:  # a disk about to be full takes a part
                line = line[self._file.write(line) :]
        except OSError as error:
            raise RunError(
                f"cannot write {self.path}: {reason(error)}; make room and go on with: "
                f"macura train --resume {self.path.parent}"
            ) from error

    def _each(self, action: str, *arguments: object) -> None:
        for sink in tuple(self._sinks):
            try:
                getattr(sink, action)(*arguments)
            except Exception as error:  # a dead terminal or an unreachable server must not end a run of days
                self._sinks.remove(sink)
                self._warn(
                    f"{type(sink).__name__} failed and is switched off ({reason(error)}); {self.path} goes on"
                )


def read_metrics(path: Path) -> list[dict[str, JSON]]:
    """The rows of a `metrics.jsonl`, without a torn last line and other unreadable ones."""
    return [row for _, row in _rows(path)]


def _rows(path: Path) -> list[tuple[bytes, dict[str, JSON]]]:
    if not path.exists():
        return []
    rows: list[tuple[bytes, dict[str, JSON]]] = []
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            row = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int):
            rows.append((line, cast(dict[str, JSON], row)))
    return rows


def _keep_rows(path: Path, last: int) -> None:
    kept = b"".join(line for line, row in _rows(path) if cast(int, row["step"]) <= last)
    if path.exists() and path.stat().st_size != len(kept):
        write_atomically(path, kept)


def _plain(value: object) -> Number | list[Any]:
    """Arrays and scalars of NumPy or JAX as Python numbers, nested in lists as their axes are."""
    array = np.asarray(value)
    if array.dtype == bool:
        array = array.astype(int)
    if array.dtype.kind not in "iuf":
        array = array.astype(float)  # bfloat16; refuses what is no number
    return _finite(array.tolist())


def _finite(value: Any) -> Number | list[Any]:
    if isinstance(value, list):
        return [_finite(one) for one in cast(list[Any], value)]
    return value if math.isfinite(value) else None
