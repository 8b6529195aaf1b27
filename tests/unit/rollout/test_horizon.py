import pytest

from macura.core import UserError
from macura.rollout import FixedHorizon, LinearHorizon
from tests.oracles.rollout import linear_horizon

# First epoch (counted from 0) with length 2, 5, 10 and the last one, for each schedule of MBPO.
FIRST_EPOCHS = {
    (20, 300, 1, 25): {2: 31, 5: 66, 10: 124, 25: 299},
    (20, 100, 1, 25): {2: 23, 5: 33, 10: 49, 25: 99},
    (20, 150, 1, 15): {2: 29, 5: 57, 10: 103, 15: 149},
    (20, 100, 1, 15): {2: 25, 5: 42, 10: 71, 15: 99},
}


@pytest.mark.parametrize("schedule", FIRST_EPOCHS)
def test_known_schedules(schedule):
    horizon = LinearHorizon(*schedule)
    lengths = [horizon.at(epoch) for epoch in range(400)]
    assert {length: lengths.index(length) for length in FIRST_EPOCHS[schedule]} == FIRST_EPOCHS[schedule]
    assert lengths == sorted(lengths)
    assert horizon.longest() == max(lengths) == schedule[3]


def test_linear_horizon_is_the_formula_in_exact_numbers():
    for a in (0, 1, 7, 20):
        for b in (a + 1, a + 3, a + 30):
            for c in (1, 2, 9):
                for d in (1, 5, 25):
                    horizon = LinearHorizon(a, b, c, d)
                    for epoch in range(60):
                        assert horizon.at(epoch) == linear_horizon(a, b, c, d, epoch)
                        assert 1 <= horizon.at(epoch) <= horizon.longest()


def test_fixed_horizon():
    assert FixedHorizon(3).at(0) == FixedHorizon(3).at(1000) == FixedHorizon(3).longest() == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: FixedHorizon(0),
        lambda: LinearHorizon(5, 5),
        lambda: LinearHorizon(-1, 5),
        lambda: LinearHorizon(1, 5, 0, 3),
        lambda: LinearHorizon(1, 5, 3, 0),
    ],
)
def test_refusals_are_one_line(make):
    with pytest.raises(UserError) as refusal:
        make()
    assert "horizon." in str(refusal.value) and "\n" not in str(refusal.value)
