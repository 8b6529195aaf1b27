import json

import jax.numpy as jnp
import numpy as np
import pytest

from macura.core import RunError
from macura.runs import Recorder, read_metrics


class Listener:
    """A sink that remembers what it was told, and may fail at one of its calls."""

    def __init__(self, fails_at=None):
        self.told, self.fails_at = [], fails_at

    def _note(self, call, *arguments):
        if call == self.fails_at:
            raise OSError(5, "the terminal is gone")
        self.told.append((call, *arguments))

    def write(self, step, metrics):
        self._note("write", step, metrics)

    def progress(self, step):
        self._note("progress", step)

    def flush(self):
        self._note("flush")

    def close(self):
        self._note("close")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "metrics.jsonl"


def test_rows_come_back_as_plain_numbers(path):
    with Recorder(path) as recorder:
        recorder.record(1, {"a": 1.5, "b": np.int64(2), "c": jnp.float32(0.5), "d": [1.0, 2.0]})
        recorder.record(1, {"flag": np.True_, "low": jnp.bfloat16(1.0), "array": np.arange(4).reshape(2, 2)})
    assert read_metrics(path) == [
        {"step": 1, "a": 1.5, "b": 2, "c": 0.5, "d": [1.0, 2.0]},
        {"step": 1, "flag": 1, "low": 1.0, "array": [[0, 1], [2, 3]]},
    ]


def test_what_is_not_finite_becomes_null_and_stays_json(path):
    with Recorder(path) as recorder:
        recorder.record(3, {"bad": float("nan"), "worse": [float("inf"), 1.0]})
    line = path.read_text()
    assert json.loads(line, parse_constant=pytest.fail) == {"step": 3, "bad": None, "worse": [None, 1.0]}


def test_steps_never_go_back(path):
    with Recorder(path) as recorder:
        recorder.record(5, {})
        with pytest.raises(ValueError, match="step 4 after step 5"):
            recorder.record(4, {})


def test_resuming_drops_later_rows_and_a_torn_last_line(path):
    rows = [{"step": step, "x": step} for step in (1, 2, 2, 3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 4, "x"')
    with Recorder(path, resume_step=2) as recorder:
        recorder.record(3, {"x": -3})
    assert read_metrics(path) == [
        {"step": 1, "x": 1},
        {"step": 2, "x": 2},
        {"step": 2, "x": 2},
        {"step": 3, "x": -3},
    ]


def test_a_run_without_a_checkpoint_begins_with_an_empty_file(path):
    path.write_text('{"step": 1}\n')
    Recorder(path, resume_step=None).close()
    assert path.read_text() == ""


def test_a_torn_line_is_not_read(path):
    path.write_text('{"step": 1}\nnonsense\n[1]\n{"no": "step"}\n{"step": 2}')
    assert read_metrics(path) == [{"step": 1}]
    assert read_metrics(path.with_name("absent")) == []


def test_sinks_are_told_everything_in_order(path):
    sink = Listener()
    with Recorder(path, [sink]) as recorder:
        recorder.progress(1)
        recorder.record(1, {"x": 1})
        recorder.sync()
    assert sink.told == [("progress", 1), ("write", 1, {"x": 1}), ("flush",), ("close",)]


@pytest.mark.parametrize("call", ["write", "progress", "flush", "close"])
def test_a_failing_sink_is_dropped_with_a_warning_and_the_file_goes_on(path, call):
    broken, whole, warnings = Listener(fails_at=call), Listener(), []
    with Recorder(path, [broken, whole], warn=warnings.append) as recorder:
        for step in (1, 2):
            recorder.progress(step)
            recorder.record(step, {"x": step})
            recorder.sync()
    assert warnings == [f"Listener failed and is switched off (the terminal is gone); {path} goes on"]
    assert [row["step"] for row in read_metrics(path)] == [1, 2]
    assert [told[0] for told in whole.told] == ["progress", "write", "flush"] * 2 + ["close"]


def test_a_file_that_cannot_be_written_is_a_failure_of_the_run(tmp_path):
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(RunError, match="cannot write"):
        Recorder(tmp_path / "metrics.jsonl")
