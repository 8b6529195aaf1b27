"""Where the time of a run goes."""

import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager


class Clock:
    """Seconds spent under each name since they were last read."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, name: str) -> Generator[None]:
        """Count the time of the `with` block under `time/name`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[f"time/{name}"] += time.perf_counter() - began

    def read(self) -> dict[str, float]:
        """Everything counted since the last reading."""
        seconds = dict(self._seconds)
        self._seconds.clear()
        return seconds
