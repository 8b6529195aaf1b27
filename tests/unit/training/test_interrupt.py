"""The first signal is noted, the second acts; afterwards everything is as it was."""

import os
import signal
import threading

import pytest

from macura.training.interrupt import SIGNALS, Interrupted, listening


@pytest.mark.parametrize("signum", SIGNALS, ids=lambda s: s.name)
def test_the_first_signal_waits_until_it_is_asked_for(signum):
    with listening() as stop:
        stop.raise_if_asked()
        os.kill(os.getpid(), signum)
        with pytest.raises(Interrupted) as caught:
            stop.raise_if_asked()
    assert caught.value.signum == signum
    assert signum.name in str(caught.value)


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["as usual", "ignored"])
def begun_with(request):
    """What SIGINT did before: shells that start a command in the background have it ignored."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("begun_with")
def test_the_second_signal_acts_at_once():
    with pytest.raises(KeyboardInterrupt), listening():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)


def test_handlers_come_back():
    before = [signal.getsignal(signum) for signum in SIGNALS]
    with listening():
        os.kill(os.getpid(), signal.SIGINT)
        assert [signal.getsignal(signum) for signum in SIGNALS] != before
    assert [signal.getsignal(signum) for signum in SIGNALS] == before


def test_another_thread_listens_to_nothing():
    found = []

    def body():
        with listening() as stop:
            stop.raise_if_asked()
            found.append([signal.getsignal(signum) for signum in SIGNALS])

    before = [signal.getsignal(signum) for signum in SIGNALS]
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert found == [before]
