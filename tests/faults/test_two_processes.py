"""Two processes and one run folder."""

from .conftest import command, finish, require_same, start
from .test_interrupt import meet


def test_the_second_is_refused_and_the_first_goes_on_undisturbed(whole, tmp_path):
    reference, counts = whole("sac")
    folder, meeting = tmp_path / "run", tmp_path / "meeting"
    number = counts["improve"] // 2
    first = start(["improve", number, meeting, *command("sac", folder)], "tests.faults.moments")
    meet(meeting, first)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    others = [start(command("sac", folder)), start(["train", "--resume", folder])]
    for second in others:
        code, out, err = finish(second)
        assert code == 2
        assert out == ""
        assert err == (
            f"macura: {folder} is in use by another process (pid {first.pid});"
            " wait until it ends, or choose another --out.\n"
        )
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    meeting.unlink()
    code, _, err = finish(first)
    assert code == 0, err
    require_same(folder, reference)
