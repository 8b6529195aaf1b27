"""Killed at random moments and begun again by the same command, a run ends as if it had never been stopped."""

import random
import signal
import time

import pytest

from macura.runs import RunFolder

from .conftest import ALGORITHMS, command, finish, require_same, start

ONCE_A_PROCESS = ("begin", "restore", "end")


def moments(counts, rng):
    """Endless random moments, most of them within the next two epochs; every phase comes up before one comes again."""
    while True:
        phases = sorted(counts)
        rng.shuffle(phases)
        for phase in phases:
            yield phase, rng.randint(1, counts[phase] if phase in ONCE_A_PROCESS else counts[phase] // 4)


def kill_and_resume(algorithm, kills, rng, whole, tmp_path):
    """Runs that die `kills` times in all; every one that reaches its end must be the same as `whole`."""
    reference, counts = whole(algorithm)
    chosen = moments(counts, rng)
    killed = finished = 0
    code = None
    while killed < kills or code != 0:
        phase, number = next(chosen) if killed < kills else ("any", 0)
        folder = tmp_path / f"run{finished}"
        moment = [phase, number, "kill", *command(algorithm, folder)]
        code, _, err = finish(start(moment, "tests.faults.moments"))
        assert code in (0, -signal.SIGKILL), err
        killed += code == -signal.SIGKILL
        if RunFolder(folder).state() == "finished":  # killed after its last word, it is finished all the same
            require_same(folder, reference)
            finished += 1
        assert finished <= kills, "moments that are never reached"


@pytest.mark.parametrize("seed", range(5))
def test_sac_killed_twenty_times_in_all(seed, whole, tmp_path):
    """Four times for every seed; every phase gets its turn."""
    kill_and_resume("sac", 4, random.Random(seed), whole, tmp_path)


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
def test_kappa_ring_normaliser_and_optimisers_come_back(algorithm, whole, tmp_path):
    """Three kills: in a save, in a round, and in the updates, each after the first round."""
    reference, counts = whole(algorithm)
    rng = random.Random(algorithm)
    folder = tmp_path / "run"
    for phase in ("save", "imagine", "improve"):
        number = rng.randint(counts[phase] // 4, counts[phase] // 2)
        code, _, err = finish(
            start([phase, number, "kill", *command(algorithm, folder)], "tests.faults.moments")
        )
        assert code == -signal.SIGKILL, err
    code, _, err = finish(start(command(algorithm, folder)))
    assert code == 0, err
    require_same(folder, reference)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_twenty_kills_from_outside_at_any_time(algorithm, whole, tmp_path):
    """Not at counted events, but whenever it happens: while importing, compiling, computing, writing."""
    began = time.monotonic()
    code, _, err = finish(start(command(algorithm, tmp_path / "timed")))
    assert code == 0, err
    seconds = time.monotonic() - began
    rng = random.Random(algorithm)
    killed = finished = 0
    while killed < 20:
        process = start(command(algorithm, tmp_path / f"run{finished}"))
        time.sleep(rng.uniform(0.2, 1.0) * seconds)
        process.kill()
        code, _, err = finish(process)
        killed += code == -signal.SIGKILL
        if code == 0:
            require_same(tmp_path / f"run{finished}", whole(algorithm)[0])
            finished += 1
    code, _, err = finish(start(command(algorithm, tmp_path / f"run{finished}")))
    assert code == 0, err
    require_same(tmp_path / f"run{finished}", whole(algorithm)[0])
