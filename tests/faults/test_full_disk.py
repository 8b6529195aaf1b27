"""A disk that is full while a run saves, played by a limit on the size of every file."""

import resource

import pytest

from macura import runs

from .conftest import command, finish, require_same, start


def start_limited(arguments, size):
    """A process that can write no file beyond `size` bytes; the limit holds before it has imported anything of ours."""
    process = start(arguments)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
    return process


# The largest files of a checkpoint have over 6,000 bytes, the manifest and the policies of the run below 4,000.
@pytest.mark.parametrize("size", [5500, 4500])
def test_a_checkpoint_that_does_not_fit_fails_in_one_line_and_the_earlier_stays(size, unfinished, whole):
    before = runs.Checkpoints(unfinished / "checkpoints").restore()
    code, out, err = finish(start_limited(command("sac", unfinished), size))
    assert (code, out) == (1, ""), err
    told = [line for line in err.splitlines() if line.startswith("macura: ")]
    assert len(told) == 1
    assert "File too large" in told[0]
    run = runs.RunFolder(unfinished)
    assert run.state() == "unfinished"
    checkpoints = runs.Checkpoints(run.checkpoints, warn=pytest.fail)
    assert checkpoints.restore().step == before.step
    assert {path.name for path in run.checkpoints.iterdir()} == {str(step) for step in checkpoints.steps()}
    code, _, err = finish(start(command("sac", unfinished)))
    assert code == 0, err
    require_same(unfinished, whole("sac")[0])
