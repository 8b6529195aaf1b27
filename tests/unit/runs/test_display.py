import io
import json

import pytest
from rich.console import Console

from macura import runs
from macura.runs import display

CONFIG = {"algorithm": "macura", "env": {"id": "Hopper-v5"}, "seed": 3, "steps": 2000}
ROUND = {"rollout/mean_length": 3.25, "rollout/kappa": 12.0, "updates/count": 4, "model/epochs": 20}
EVALUATION = {"eval/return_mean": 123.4, "sac/alpha": 0.25, "sac/critic_loss": None}


@pytest.fixture
def folder(tmp_path):
    made = runs.RunFolder(tmp_path / "run")
    made.path.mkdir()
    return made


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    return now


def plain(folder, step=0):
    lines = []
    return display.PlainLines(display.Status(folder, CONFIG, step), lines.append), lines


def test_plain_lines_tell_evaluations_with_speed_and_time_left(folder, clock):
    sink, lines = plain(folder)
    sink.write(250, ROUND)
    clock[0] = 20.0
    sink.progress(1000)
    sink.write(1000, EVALUATION)
    assert lines == [
        f"MACURA on Hopper-v5, seed 3, in {folder.path}: 2,000 steps",
        "step 1,000 of 2,000: return 123.4, best 123.4, alpha 0.25, mean length 3.25, kappa 12, G 4, epochs 20,"
        " 50.0 steps/s, 20 s left",
    ]


def test_plain_lines_break_a_long_silence_and_nothing_else(folder, clock):
    sink, lines = plain(folder)
    for step in range(1, 100):
        clock[0] = float(step)
        sink.write(step, {"train/episode_return": 5.0})
    assert len(lines) == 1 + 3
    assert lines[1] == "step 30 of 2,000: episode return 5, 1.0 steps/s, 33 min left"


def test_the_best_evaluation_survives_a_resume(folder, clock):
    rows = [{"step": 500, "eval/return_mean": 200.0}, {"step": 1500, "eval/return_mean": 900.0}]
    folder.metrics_file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sink, lines = plain(folder, step=1000)
    sink.write(1000, EVALUATION)
    assert "going on from step 1,000" in lines[0]
    assert "return 123.4, best 200" in lines[1]


def test_the_live_display_shows_bar_and_numbers(folder):
    stream = io.StringIO()
    screen = Console(file=stream, force_terminal=True, width=100)
    sink = display.LiveDisplay(display.Status(folder, CONFIG, 0), screen)
    sink.progress(1999)
    sink.write(2000, ROUND | EVALUATION)
    sink.flush()
    sink.close()
    shown = stream.getvalue()
    for part in (
        "MACURA on Hopper-v5",
        "2,000 of 2,000 steps",
        "return 123.4",
        "best 123.4",
        "kappa 12",
        "alpha 0.25",
    ):
        assert part in shown


def test_without_a_terminal_the_console_is_plain(folder, capsys):
    sink = runs.console(folder, CONFIG, 0)
    sink.write(1000, EVALUATION)
    sink.close()
    assert "\x1b" not in capsys.readouterr().err
    assert isinstance(sink, display.PlainLines)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(5.0, "5 s"), (89.0, "89 s"), (90.0, "2 min"), (3600.0, "60 min"), (7300.0, "2 h 2 min")],
)
def test_durations_in_words(seconds, said):
    assert display.duration(seconds) == said
