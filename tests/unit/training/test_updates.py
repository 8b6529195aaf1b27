"""How many updates follow a step."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macura.core import UserError
from macura.training import FixedUpdates, ProportionalUpdates

CAPACITY = 12_000_000  # Walker2d


@pytest.mark.parametrize(
    ("stored", "nearest", "down"),
    [
        (5_000_000, 25, 25),
        (5_150_000, 26, 25),
        (0, 0, 0),
        (CAPACITY, 60, 60),
        (99_999, 0, 0),
        (100_000, 1, 0),
    ],
)
def test_the_noted_numbers(stored, nearest, down):
    assert ProportionalUpdates(60).at(stored, CAPACITY) == nearest
    assert ProportionalUpdates(60, "down").at(stored, CAPACITY) == down


@given(most=st.integers(0, 100), stored=st.integers(0, 30_000_000), capacity=st.integers(1, 30_000_000))
def test_exact_and_within_bounds(most, stored, capacity):
    stored = min(stored, capacity)
    exact = Fraction(most * stored, capacity)
    nearest, down = (
        ProportionalUpdates(most, rounding).at(stored, capacity) for rounding in ("nearest", "down")
    )
    assert 0 <= down <= exact < down + 1
    assert abs(nearest - exact) <= Fraction(1, 2)
    assert max(nearest, down) <= ProportionalUpdates(most).most()


@given(stored=st.integers(0, 10**8))
def test_fixed(stored):
    assert FixedUpdates(7).at(stored, 10**8) == 7 == FixedUpdates(7).most()


@pytest.mark.parametrize("rule", [FixedUpdates, ProportionalUpdates])
def test_refused(rule):
    with pytest.raises(UserError, match="cannot be negative; try --updates"):
        rule(-1)
