"""What the report of a round means: news of broken outputs by name, and the end for plainly wrong functions."""

import numpy as np
import pytest

from macura.core import RunError
from macura.training import Imagination, health
from macura.training.state import Shape

SHAPE = Shape(obs=7, act=1, learned_reward=True, learned_termination=False)


def test_a_sound_model_is_not_worth_a_word():
    assert health.after_fit(SHAPE, "round 1", {"model/diverged": np.zeros(8, bool)}) is None
    report = {"rollout/nonfinite": 0, "rollout/nonfinite_outputs": np.zeros(8, int)}
    assert health.after_rollouts(SHAPE, "round 1", report) is None


def test_broken_outputs_are_named():
    diverged = np.isin(np.arange(8), (1, 7))
    told = health.after_fit(SHAPE, "round 3 (step 750)", {"model/diverged": diverged})
    assert "round 3 (step 750)" in told and "(observation[1], reward)" in told


@pytest.mark.parametrize(
    ("counts", "named"),
    [
        ([0, 0, 4, 0, 0, 0, 0, 1], "observation[2], reward"),
        ([1, 1, 1, 1, 1, 1, 1, 1], "observation[4] and 3 more"),
        ([0, 0, 0, 0, 0, 0, 0, 0], "uncertainty"),
    ],
)
def test_broken_predictions_are_counted_and_named(counts, named):
    report = {"rollout/nonfinite": 4, "rollout/nonfinite_outputs": np.array(counts)}
    told = health.after_rollouts(SHAPE, "round 2", report)
    assert told.startswith("4 rollouts of round 2") and f"{named})" in told


def judged(rows=1000, termination="a:b", reward="learned", **report):
    report = {"model/terminations": 0} | {f"model/{name}": value for name, value in report.items()}
    health.refuse_wrong_judges(Imagination(termination=termination, reward=reward), rows, report)


@pytest.mark.parametrize(
    "report",
    [
        {"termination_disagreement": 0.02},
        {"reward": "a:b", "reward_disagreement": 0.5},
        {"termination_disagreement": 0.006, "terminations": 6, "terminations_missed": 6},
    ],
    ids=["termination", "reward", "rare ends"],
)
def test_a_plainly_wrong_function_stops_the_run(report):
    with pytest.raises(RunError) as caught:
        judged(**report)
    assert "a:b" in str(caught.value) and "learned" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "report",
    [
        {"termination_disagreement": 0.009},
        {"rows": 100, "termination_disagreement": 0.5},
        {"termination": "auto", "termination_disagreement": 0.5, "terminations": 9, "terminations_missed": 9},
        {"termination_disagreement": 0.001, "terminations": 8, "terminations_missed": 4},
        {"termination_disagreement": 0.004, "terminations": 4, "terminations_missed": 4},
        {"reward_disagreement": 0.5},
    ],
    ids=["nearly right", "too early to tell", "built in", "half are seen", "too few ends", "learned reward"],
)
def test_anything_less_does_not(report):
    judged(**report)
