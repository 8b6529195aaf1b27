"""Seconds are counted by name, through failures too, and start over when read."""

import pytest

from macura.training import clock as clock_module
from macura.training.clock import Clock


def test_counts(monkeypatch):
    moments = iter([0.0, 2.0, 10.0, 11.5, 20.0, 20.25])
    monkeypatch.setattr(clock_module.time, "perf_counter", lambda: next(moments))
    clock = Clock()
    with clock("act"):
        pass
    with clock("act"):
        pass
    with pytest.raises(ValueError), clock("env"):
        raise ValueError
    assert clock.read() == {"time/act": 3.5, "time/env": 0.25}
    assert clock.read() == {}
