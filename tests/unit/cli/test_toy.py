"""`macura toy` refuses in one line, with exit code 2, before anything is computed."""

import pytest

from macura.cli.main import main


@pytest.mark.parametrize(
    "flags, names",
    [
        (["--grid", "0"], "--grid is 0"),
        (["--grid", "fine"], "grid"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--seed", "-3"], "--seed is -3"),
        (["--threshold-scale", "-1"], "--threshold-scale"),
        (["--gird", "5"], "--grid"),
        (["surplus"], "surplus"),
    ],
)
def test_bad_flags(flags, names, tmp_path, capsys):
    assert main(["toy", *flags, "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert names in told.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file(tmp_path, capsys):
    (tmp_path / "out").write_text("in the way")
    assert main(["toy", "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be written" in told


def test_help_shows_every_flag_with_its_default(capsys):
    assert main(["toy", "--help"]) == 0
    told = capsys.readouterr().out
    for flag in ("--seed", "--seeds", "--grid", "--out", "--threshold-scale", "--epochs"):
        assert flag in told
    assert "61" in told
