"""A typo is answered with the nearest known word, and with nothing where none is near."""

import pytest

from macura.core import did_you_mean

KNOWN = ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5")


@pytest.mark.parametrize(
    ("word", "near"),
    [("HalfCheeta-v5", "HalfCheetah-v5"), ("hopper-v5", "Hopper-v5"), ("Walker-v5", "Walker2d-v5")],
)
def test_near(word, near):
    assert did_you_mean(word, KNOWN) == f" Did you mean {near!r}?"


@pytest.mark.parametrize("word", ["", "xyz", "Pong"])
def test_far(word):
    assert did_you_mean(word, KNOWN) == ""
