"""Numbers that stand for many seeds, against values worked out by hand or by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from macura.analysis import statistics
from macura.analysis.loading import Series

FEW = arrays(float, st.integers(1, 6), elements=st.integers(-3, 3).map(float))


def curve(*values, every=100):
    return Series(np.arange(1, len(values) + 1) * every, np.array(values, float))


def test_iqm_leaves_out_the_lowest_and_highest_quarter():
    assert statistics.iqm(np.array([100.0, 1, 2, 3, 4, 5, 6, -50])) == np.mean([2, 3, 4, 5])


def test_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(200):
        found = statistics.bootstrap([rng.normal(size=30), rng.normal(size=30)], _mean, 400, trial)
        hits += found.low <= 0 <= found.high
    assert 0.88 <= hits / 200 <= 0.99


def _mean(values):
    return np.mean(values, axis=-1)


def test_bootstrap_resamples_within_tasks():
    """Two tasks of constant scores: however seeds are drawn within them, the mean stays."""
    found = statistics.bootstrap([np.zeros(4), np.full(4, 10.0)], _mean)
    assert found == (5.0, 5.0, 5.0)


def test_one_seed_has_no_interval():
    assert np.isnan(statistics.bootstrap([np.array([3.0])]).low)
    assert np.isnan(statistics.mean_interval(np.array([3.0])).high)


def test_mean_interval_is_students():
    found = statistics.mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    assert found.point == 2.5
    assert found.high - found.point == pytest.approx(3.182446 * np.sqrt(5 / 3) / 2, rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(FEW, FEW)
def test_chance_is_what_counting_pairs_gives(x, y):
    pairs = list(itertools.product(x, y))
    counted = sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)
    assert statistics.chance(x, y) == pytest.approx(counted)
    assert statistics.chance(x, y) + statistics.chance(y, x) == pytest.approx(1)


@settings(max_examples=30, deadline=None)
@given(FEW, FEW)
def test_improvement_holds_its_point_and_stays_a_probability(x, y):
    found = statistics.improvement([x], [y], resamples=200)
    assert found.point == pytest.approx(statistics.chance(x, y))
    assert -1e-9 <= found.low <= found.high <= 1 + 1e-9


def test_improvement_averages_tasks_and_leaves_out_those_without_rivals():
    found = statistics.improvement(
        [np.ones(3), np.ones(3), np.ones(3)], [np.zeros(3), np.full(3, 2.0), np.zeros(0)]
    )
    assert found == pytest.approx((0.5, 0.5, 0.5))


def test_a_value_at_a_step_is_the_last_one_measured():
    assert statistics.at_step(curve(1, 2, 3), 250) == 2
    assert np.isnan(statistics.at_step(curve(1, 2, 3), 50)) and np.isnan(
        statistics.at_step(curve(1, 2, 3), 301)
    )


def test_the_final_value_is_the_mean_of_the_last_tenth():
    assert statistics.final(curve(*range(1, 21))) == np.mean([18, 19, 20])


def test_the_area_of_a_straight_line_is_its_middle():
    assert statistics.area(curve(0, 1, 2, 3, 4)) == pytest.approx(2)
    assert statistics.area(Series(np.array([0, 100, 300]), np.array([0.0, 1.0, 1.0]))) == pytest.approx(
        2.5 / 3
    )


def test_a_threshold_is_reached_by_three_values_not_by_one():
    assert statistics.steps_to(curve(0, 9, 0, 4, 5, 6, 7), 5.0) == 400
    assert statistics.steps_to(curve(0, 1, 2), 5.0) == np.inf and np.isnan(statistics.steps_to(curve(), 5.0))


def test_collapse_is_the_loss_of_half_a_gain():
    assert statistics.collapsed(curve(0, 10, 10, 10, 10, 2), typical_gain=10.0)
    assert not statistics.collapsed(curve(0, 10, 10, 10, 10, 7), typical_gain=10.0)
    assert not statistics.collapsed(curve(0, 1, 1, 1, 0), typical_gain=10.0), (
        "what never learned cannot collapse"
    )
