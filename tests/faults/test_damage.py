"""Checkpoints of a real run, cut short or with flipped bytes."""

import random
import shutil

import pytest

from macura import runs
from macura.core import RunError

from .conftest import command, finish, require_same, start


def cut(content, rng):
    return content[: rng.randrange(len(content))]


def flip(content, rng):
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ rng.randrange(1, 256)]) + content[place + 1 :]


def files(checkpoint):
    return sorted(path for path in checkpoint.rglob("*") if path.is_file() and path.stat().st_size)


@pytest.mark.parametrize("harm", [cut, flip])
def test_any_file_of_the_newest_checkpoint_may_be_damaged_anywhere(harm, unfinished):
    warnings = []
    checkpoints = runs.Checkpoints(unfinished / "checkpoints", warn=warnings.append)
    before, newest = checkpoints.steps()
    rng = random.Random(harm.__name__)
    for path in files(checkpoints.folder / str(newest)):
        content = path.read_bytes()
        for _ in range(3):
            path.write_bytes(harm(content, rng))
            assert checkpoints.restore().step == before, path
            assert f"the checkpoint of step {newest} is damaged and skipped" in warnings.pop()
        path.write_bytes(content)
    assert checkpoints.restore().step == newest
    assert not warnings


def test_the_run_goes_on_from_the_checkpoint_before_with_a_warning(unfinished, whole):
    newest = max((unfinished / "checkpoints").iterdir(), key=lambda path: int(path.name))
    largest = max(files(newest), key=lambda path: path.stat().st_size)
    largest.write_bytes(cut(largest.read_bytes(), random.Random(0)))
    code, _, err = finish(start(command("sac", unfinished)))
    assert code == 0, err
    assert f"warning: the checkpoint of step {newest.name} is damaged and skipped: arrays/" in err
    require_same(unfinished, whole("sac")[0])


def test_where_all_are_damaged_the_run_fails_in_one_line_and_overwrites_nothing(unfinished):
    for checkpoint in (unfinished / "checkpoints").iterdir():
        path = random.Random(checkpoint.name).choice(files(checkpoint))
        path.write_bytes(flip(path.read_bytes(), random.Random(0)))
    kept = shutil.copytree(unfinished, unfinished.with_name("kept"))
    code, out, err = finish(start(command("sac", unfinished)))
    assert (code, out) == (1, "")
    told = [line for line in err.splitlines() if line.startswith("macura: ")]
    assert told == [
        f"macura: no checkpoint in {unfinished / 'checkpoints'} is intact; start the run again with another --out."
    ]
    assert "Traceback" not in err
    for path in kept.rglob("*"):
        if path.is_file() and path.name not in ("manifest.json", "lock"):
            assert (unfinished / path.relative_to(kept)).read_bytes() == path.read_bytes(), path
    with pytest.raises(RunError, match="no checkpoint"):
        runs.Checkpoints(unfinished / "checkpoints", warn=lambda line: None).restore()
