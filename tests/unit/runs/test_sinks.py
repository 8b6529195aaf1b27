import importlib
import struct
import sys
import types

import pytest

from macura import runs
from macura.core import UserError

event_pb2 = importlib.import_module("tensorboardX.proto.event_pb2")


@pytest.fixture
def folder(tmp_path):
    made = runs.RunFolder(tmp_path / "run")
    made.path.mkdir()
    return made


def events(folder):
    """Everything in the event files, oldest first: length, checksum, message, checksum."""
    found = []
    for path in sorted(folder.tensorboard.iterdir(), key=lambda path: path.stat().st_mtime_ns):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            found.append(event_pb2.Event.FromString(data[12 : 12 + length]))
            data = data[16 + length :]
    return found


def scalars(folder):
    return [
        (event.step, value.tag, pytest.approx(value.simple_value))
        for event in events(folder)
        for value in event.summary.value
        if value.WhichOneof("value") == "simple_value"
    ]


def test_tensorboard_gets_every_number_of_a_row(folder):
    sink = runs.tensorboard(folder, 0)
    sink.progress(1)
    sink.write(1, {"sac/alpha": 0.5, "bad": None, "eval/returns": [1.0, None, 3.0]})
    sink.write(2, {"sac/alpha": 0.25})
    sink.flush()
    sink.close()
    assert scalars(folder) == [
        (1, "sac/alpha", 0.5),
        (1, "eval/returns/0", 1.0),
        (1, "eval/returns/2", 3.0),
        (2, "sac/alpha", 0.25),
    ]


def test_a_long_list_is_a_histogram(folder):
    sink = runs.tensorboard(folder, 0)
    sink.write(1, {"model/per_output": [*map(float, range(45)), None]})
    sink.close()
    (histogram,) = [value.histo for event in events(folder) for value in event.summary.value]
    assert histogram.num == 45
    assert histogram.max == 44


def test_a_resumed_session_hides_what_came_after_its_checkpoint(folder):
    for step in (0, 500):
        sink = runs.tensorboard(folder, step)
        sink.write(step + 1, {"x": 1.0})
        sink.close()
    starts = [event.step for event in events(folder) if event.HasField("session_log")]
    assert starts == [0, 501]
    assert len(list(folder.tensorboard.iterdir())) == 2


def test_nothing_to_write_makes_no_file(folder):
    sink = runs.tensorboard(folder, 0)
    sink.flush()
    sink.close()
    assert not folder.tensorboard.exists()


def test_a_folder_that_cannot_be_made_costs_tensorboard_and_not_the_run(folder):
    folder.tensorboard.write_text("in the way")
    warnings = []
    with runs.Recorder(folder.metrics_file, [runs.tensorboard(folder, 0)], warn=warnings.append) as recorder:
        recorder.record(1, {"x": 1.0})
    assert "TensorBoard failed and is switched off (File exists)" in warnings[0]
    assert runs.read_metrics(folder.metrics_file) == [{"step": 1, "x": 1.0}]


class Service:
    """What of the wandb module is used."""

    def __init__(self):
        self.calls = []
        self.module = types.ModuleType("wandb")
        self.module.init = self.init

    def init(self, **options):
        self.calls.append(("init", options))
        return self

    def define_metric(self, name, step_metric):
        self.calls.append(("define_metric", name, step_metric))

    def log(self, row):
        self.calls.append(("log", row))

    def finish(self):
        self.calls.append(("finish",))


def test_wandb_gets_rows_under_their_own_step_and_one_run_a_folder(folder, monkeypatch):
    service = Service()
    monkeypatch.setitem(sys.modules, "wandb", service.module)
    for step in (0, 10):
        sink = runs.wandb(folder, {"seed": 1}, step)
        sink.progress(step + 1)
        sink.write(step + 1, {"x": 1.0, "list": [1.0, 2.0], "bad": None})
        sink.flush()
        sink.close()
    first, second = [call[1] for call in service.calls if call[0] == "init"]
    assert first == second
    assert first["config"] == {"seed": 1}
    assert first["resume"] == "allow"
    rows = [call[1] for call in service.calls if call[0] == "log"]
    assert rows[0] == {"step": 1, "x": 1.0, "list/0": 1.0, "list/1": 2.0}
    assert service.calls[-1] == ("finish",)


def test_wandb_that_is_not_installed_is_named_with_the_command(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UserError, match=r'pip install "macura\[wandb\]"'):
        runs.wandb(folder, {}, 0)
