"""Stopping politely: the first SIGINT or SIGTERM is noted and obeyed after the current step, the second at once."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

AT_ONCE = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
"""What each signal that asks to stop does by itself."""
SIGNALS = tuple(AT_ONCE)


class Interrupted(Exception):
    """The run was asked to stop; `signum` is the signal that asked. Exit code 128 + signum."""

    def __init__(self, signum: int):
        super().__init__(f"interrupted by {signal.Signals(signum).name}")
        self.signum = signum


class StopRequest:
    """Remembers whether, and by which signal, the run was asked to stop."""

    def __init__(self) -> None:
        self.signum: int | None = None

    def raise_if_asked(self) -> None:
        """Raise `Interrupted` if a signal has arrived since the last call."""
        if self.signum is not None:
            raise Interrupted(self.signum)


@contextmanager
def listening() -> Generator[StopRequest]:
    """Catch the signals while the context lasts; does nothing outside the main thread, which alone may."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    before = {signum: signal.getsignal(signum) for signum in SIGNALS}

    def note(signum: int, frame: FrameType | None) -> None:
        request.signum = signum
        handler = before[signal.Signals(signum)]
        # The second one acts at once, also where a shell that started us in the background had it ignored.
        signal.signal(signum, AT_ONCE[signal.Signals(signum)] if handler == signal.SIG_IGN else handler)

    for signum in SIGNALS:
        signal.signal(signum, note)
    try:
        yield request
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
