from dataclasses import dataclass
from pathlib import Path

import pytest
import tyro

from macura.cli import arguments
from macura.core import UserError


@dataclass(frozen=True)
class Options:
    names: tyro.conf.Positional[tuple[str, ...]] = ()
    number: int | None = None
    out: str = "here"
    loud: bool = False


def parsed(*words):
    return arguments.parse(Options, arguments.take_apart(words, arguments.switches(Options)), "try", "names")


def test_words_and_flags_in_any_order():
    assert parsed("a", "--number", "3", "--loud", "b", "--out=7") == Options(("a", "b"), 3, "7", True)


def test_a_negative_number_is_a_value():
    assert parsed("a", "--number", "-3").number == -3


def test_texts_stay_texts_and_numbers_become_numbers():
    assert arguments.scalar("7", str) == "7"
    assert arguments.scalar("none", str | None) is None
    assert arguments.scalar("1e-3", float) == 0.001
    assert arguments.scalar("-2.5E4", float | None) == -25_000.0
    assert arguments.scalar("None", float | None) is None
    assert arguments.scalar("true", bool) is True
    assert arguments.scalar("[1", int) == "[1"


def test_a_positional_that_is_left_out_is_named():
    with pytest.raises(UserError, match="`macura try` needs names: macura try NAMES"):
        parsed("--loud")


def test_a_file_of_settings_becomes_dotted_keys(tmp_path):
    file = Path(tmp_path / "f.yaml")
    file.write_text("a:\n  some-rate: 3e-4\n  gate: {kind: ranked, quantile: 1}\nb: null\n")
    assert arguments.read_file(file) == {
        "a.some_rate": 3e-4,
        "a.gate.kind": "ranked",
        "a.gate.quantile": 1,
        "b": None,
    }
    file.write_text("")
    assert arguments.read_file(file) == {}
