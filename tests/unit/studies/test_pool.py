"""The local pool and its schedule, with work that takes no time."""

import io
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from macura.analysis import report
from macura.studies import catalogue, cores, declare
from macura.studies.board import Board
from macura.studies.pool import Pool
from macura.studies.schedule import execute, plan
from macura.training import Interrupted

pytestmark = pytest.mark.usefixtures("fake_work")


def run(jobs, name, processes=1, **options):
    with Pool(processes, work=f"fake_work:{name}") as pool:
        return execute(plan(jobs, **options), pool)


def test_finished_runs_are_skipped_and_the_others_done(jobs):
    assert len(run(jobs(2), "instant").done) == 2
    again = run(jobs(3), "instant")
    assert [len(again.done), len(again.skipped)] == [1, 2]


def test_a_run_that_fails_leaves_the_others_alone_and_says_why(jobs):
    summary = run(jobs(2), "fails")
    assert [failure.message for failure in summary.failed] == ["seed 0 fails", "seed 1 fails"]
    crashed = run(jobs(1), "crashes").failed[0]
    assert crashed.message == "ZeroDivisionError: by zero"
    assert "Traceback" in crashed.job.log.read_text()


def test_failed_runs_are_reported_and_tried_again_on_request_only(jobs):
    (one,) = jobs(1)
    one.folder.mkdir(parents=True)
    (one.folder / "config.json").write_text("{}")
    (one.folder / "manifest.json").write_text('{"status": "failed", "message": "the disk is full"}')
    assert plan([one]).failed[0].message == "the disk is full" and not plan([one]).todo
    assert plan([one], retry=True).todo == [one]


def test_a_folder_that_is_no_run_is_a_failure_of_that_run_alone(jobs):
    first, second = jobs(2)
    first.folder.mkdir(parents=True)
    (first.folder / "thesis.tex").touch()
    planned = plan([first, second])
    assert planned.todo == [second] and "holds other things" in planned.failed[0].message


def test_a_killed_process_is_replaced_and_its_run_goes_on(jobs):
    (one,) = jobs(1)
    assert run([one], "dies_once").done == [one]
    assert (one.folder / "cores").read_text() == "1"


def test_a_run_that_kills_every_process_fails_at_last(jobs):
    summary = run(jobs(1), "dies_always")
    assert len(summary.failed) == 1 and "SIGKILL" in summary.failed[0].message


def test_an_interrupt_stops_running_runs_and_begins_no_other(jobs):
    todo = jobs(3)
    asked = threading.Event()

    def interrupt_once(event):
        if not asked.is_set() and (todo[0].folder / "waiting").exists():
            asked.set()
            signal.raise_signal(signal.SIGTERM)

    with Pool(1, work="fake_work:waits") as pool, pytest.raises(Interrupted) as stopped:
        execute(plan(todo), pool, interrupt_once)
    assert stopped.value.signum == signal.SIGTERM
    assert not todo[1].folder.exists()


def test_an_interrupt_while_processes_are_started_begins_no_other(jobs):
    todo = jobs(2)
    with Pool(2, work="fake_work:waits") as pool:
        events = pool.run(todo)
        assert next(events).kind == "started"
        pool.interrupt()
        later = [event for event in events if event is not None]
    assert [(event.job, event.kind) for event in later] == [(todo[0], "ended")]
    assert not todo[1].folder.exists()


def test_when_the_pool_is_killed_its_runs_stop_as_if_interrupted(jobs):
    """Nobody is left behind who would go on training unseen, or hold on to the folder."""
    (one,) = jobs(1)
    code = (
        "import json, sys; from pathlib import Path; from macura.studies.pool import Pool\n"
        "from macura.studies.record import Job, Record\n"
        "folder, log = map(Path, sys.argv[1:])\n"
        "job = Job('x', 'x', Record('macura', 'Hopper-v5', 'quick'), folder, log, 1)\n"
        "with Pool(1, work='fake_work:waits') as pool: list(pool.run([job]))"
    )
    pool = subprocess.Popen([sys.executable, "-c", code, str(one.folder), str(one.log)])
    wait_for(lambda: (one.folder / "waiting").exists() and (one.folder / "waiting").read_text())
    pool.kill()
    pool.wait()
    wait_for((one.folder / "stopped").exists)
    worker = int((one.folder / "waiting").read_text())
    wait_for(lambda: not Path(f"/proc/{worker}").exists())


def wait_for(condition):
    """Until it holds; the time limit of the test ends what never will."""
    while not condition():
        time.sleep(0.02)


def test_whatever_a_run_prints_is_in_its_log(jobs, capfd):
    (one,) = jobs(1)
    run([one], "prints")
    assert one.log.read_text() == "from C\nfrom Python\n"
    assert "from" not in capfd.readouterr().out


def test_the_board_tells_every_event_in_a_line(jobs):
    stream = io.StringIO()
    with Pool(1, work="fake_work:instant") as pool, Board(2, 0, 0, Console(file=stream, width=80)) as board:
        execute(plan(jobs(2)), pool, board)
    assert [line.split(" in ")[0] for line in stream.getvalue().splitlines()] == [
        "finished  macura-Hopper-v5-0",
        "finished  macura-Hopper-v5-1",
    ]


def test_the_live_table_shows_what_runs(jobs):
    (one,) = jobs(1)
    board = Board(1, 3, 0, Console(file=io.StringIO()))
    with Pool(1, work="fake_work:instant") as pool:
        for event in pool.run([one]):
            if event is not None and event.kind == "started":
                board(event)
    assert "1 running, 0 waiting, 3 skipped" in str(board.table().title)


def test_a_thousand_instant_runs_and_their_report(tmp_path):
    """The scheduling itself and the report stay in proportion; the times are measured in benchmarks/studies.py."""
    study = replace(catalogue.BENCHMARK, name="thousand")
    size = declare.Scale(("Hopper-v5", "Ant-v5"), "quick", seeds=125)
    study = replace(study, scales={"smoke": size})
    entries = declare.entries(study, "smoke", tmp_path)
    assert len({entry.job.name for entry in entries}) == 1000
    declare.write(study, "smoke", tmp_path, entries, declare.command(study, "smoke"))
    began = time.perf_counter()
    with Pool(2, work="fake_work:instant") as pool:
        summary = execute(plan(entry.job for entry in entries), pool)
    print(f"{time.perf_counter() - began:.2f} s for 1,000 runs")
    assert len(summary.done) == 1000
    began = time.perf_counter()
    written = report.report(tmp_path)
    print(f"{time.perf_counter() - began:.2f} s for their report")
    page = written.page.read_text()
    assert "1000 of 1000" in page and "supported" in page and not written.notes


def test_cores_are_not_shared_while_there_are_free_ones(tmp_path, monkeypatch):
    """Two processes pin themselves: to different cores if the machine has two."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where the locks are: those of other tests do not count
    code = "from macura.studies import cores; print(*cores.pin(1), flush=True); input()"
    two = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    taken = [process.stdout.readline().split() for process in two]
    for process in two:
        process.communicate("\n")
    assert [len(cores_) for cores_ in taken] == [1, 1]
    assert len(cores.usable()) < 2 or taken[0] != taken[1]


def test_the_same_job_in_two_studies_is_done_once(jobs):
    assert len(plan(jobs(1) + jobs(1)).todo) == 1
