"""Asked to stop in the middle of an epoch, a run finishes its step, says so, and can go on."""

import signal
import time

import pytest

from macura import runs

from .conftest import command, finish, require_same, start

MOMENTS = {"in an action": ("act", 0.6), "in a save": ("save", 0.4)}


def meet(meeting, process):
    """Wait until the process has reached its moment."""
    while not meeting.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
def test_a_signal_ends_the_run_within_seconds_and_it_goes_on_exactly(signum, moment, whole, tmp_path):
    reference, counts = whole("sac")
    (phase, share), folder, meeting = MOMENTS[moment], tmp_path / "run", tmp_path / "meeting"
    number = int(share * counts[phase])
    process = start([phase, number, meeting, *command("sac", folder)], "tests.faults.moments")
    meet(meeting, process)
    process.send_signal(signum)
    asked = time.monotonic()
    time.sleep(0.05)
    meeting.unlink()
    code, _, err = finish(process)
    assert time.monotonic() - asked < 10
    assert code == 128 + signum, err
    assert err.splitlines()[-1] == (
        f"macura: interrupted by {signum.name}; go on with: macura train --resume {folder}"
    )
    run = runs.RunFolder(folder)
    assert run.read_manifest()["status"] == "interrupted"
    assert run.policy_file.exists()
    code, _, err = finish(start(["train", "--resume", folder]))
    assert code == 0, err
    require_same(folder, reference)


def test_asked_twice_it_stops_at_once_and_still_goes_on_exactly(whole, tmp_path):
    reference, counts = whole("sac")
    folder, meeting = tmp_path / "run", tmp_path / "meeting"
    number = counts["improve"] // 2
    process = start(["improve", number, meeting, *command("sac", folder)], "tests.faults.moments")
    meet(meeting, process)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    code, _, err = finish(process)
    assert code == 128 + signal.SIGINT, err
    assert err.splitlines()[-1] == "macura: interrupted"
    assert "Traceback" not in err
    assert runs.RunFolder(folder).read_manifest()["status"] == "interrupted"
    code, _, err = finish(start(command("sac", folder)))
    assert code == 0, err
    require_same(folder, reference)
