import importlib
import subprocess
import sys

import pytest

from macura import __version__
from macura.cli import main as program
from macura.cli.main import COMMANDS, main
from macura.core import RunError
from macura.training import Interrupted


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_command(argv, capsys):
    assert main(argv) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}" in shown and summary in shown for name, summary in COMMANDS.items())


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"macura {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_exists_and_has_help(name, capsys):
    assert callable(importlib.import_module(f"macura.cli.{name}").run)
    assert main([name, "--help"]) == 0
    assert f"usage: macura {name}" in capsys.readouterr().out


def test_the_first_help_loads_nothing_heavy():
    check = (
        "import sys; from macura.cli.main import main; code = main(['--help']);"
        "sys.exit(code or any(name in sys.modules for name in ('jax', 'numpy', 'rich', 'tyro', 'matplotlib')))"
    )
    subprocess.run([sys.executable, "-c", check], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RunError("the disk\nis full"), 1, "macura: the disk is full\n"),
        (KeyboardInterrupt(), 130, "macura: interrupted\n"),
    ],
)
def test_failures_are_one_line_and_an_exit_code(error, code, said, monkeypatch, capsys):
    def fail(argv):
        raise error

    monkeypatch.setattr(importlib.import_module("macura.cli.doctor"), "run", fail)
    assert main(["doctor"]) == code
    assert capsys.readouterr().err == said


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    def fail(argv):
        raise ZeroDivisionError

    monkeypatch.setattr(importlib.import_module("macura.cli.doctor"), "run", fail)
    with pytest.raises(ZeroDivisionError):
        main(["doctor"])


def test_an_interrupted_run_says_how_to_go_on(monkeypatch, capsys, tmp_path):
    def stop(*arguments, **options):
        raise Interrupted(15)

    monkeypatch.setattr(importlib.import_module("macura.cli.train"), "train", stop)
    assert main(["train", "--out", str(tmp_path / "x")]) == 143
    assert capsys.readouterr().err == (
        f"macura: interrupted by SIGTERM; go on with: macura train --resume {tmp_path / 'x'}\n"
    )


def test_a_reader_who_leaves_is_no_failure():
    command = [sys.executable, "-m", "macura.cli.main", "train", "--print-config"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == program.BROKEN_PIPE
