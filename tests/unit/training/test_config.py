"""When rounds are due, how many updates follow, and which numbers are refused."""

import pytest

from macura.core import UserError
from macura.replay import RingConfig
from macura.rollout import LinearHorizon, RolloutConfig
from macura.training import FixedUpdates, Imagination, ProportionalUpdates, RunConfig

SMALL = Imagination(rollout=RolloutConfig(rollouts=100), ring=RingConfig(rounds_kept=4), every=250)


def test_rounds_are_due_from_the_end_of_the_warm_up_on():
    config = RunConfig(warmup_steps=1000, imagination=SMALL)
    assert [step for step in range(2001) if config.is_round(step)] == [1000, 1250, 1500, 1750, 2000]
    assert not any(RunConfig(warmup_steps=1000).is_round(step) for step in range(2001))


def test_no_round_before_there_is_data_to_split():
    config = RunConfig(warmup_steps=0, imagination=SMALL)
    assert [step for step in range(501) if config.is_round(step)] == [250, 500]


def test_updates_begin_after_the_warm_up():
    config = RunConfig(warmup_steps=10, updates=FixedUpdates(3))
    assert [config.updates_after(step, 0) for step in (0, 9, 10, 11)] == [0, 0, 3, 3]
    modelled = RunConfig(warmup_steps=10, updates=ProportionalUpdates(20), imagination=SMALL)
    assert SMALL.capacity == 10 * 100 * 4
    found = [
        modelled.updates_after(step, rows) for step, rows in ((9, 4000), (10, 0), (10, 2000), (11, 4000))
    ]
    assert found == [0, 0, 10, 20]


def test_with_a_model_nothing_is_learned_before_something_is_imagined():
    config = RunConfig(warmup_steps=0, updates=FixedUpdates(5), imagination=SMALL)
    assert config.updates_after(100, 0) == 0
    assert config.updates_after(100, 1) == 5


def test_the_schedule_of_the_horizon_begins_after_the_warm_up():
    config = RunConfig(warmup_steps=5000, epoch_steps=1000)
    assert [config.epoch_of(step) for step in (0, 4999, 5000, 5999, 6000, 24_999, 25_000)] == [
        0,
        0,
        0,
        0,
        1,
        19,
        20,
    ]


def test_capacity_follows_the_longest_horizon_and_the_limit_the_current_one():
    rollout = RolloutConfig(rollouts=100, horizon=LinearHorizon(20, 100, 1, 5))
    imagination = Imagination(rollout=rollout, ring=RingConfig(rounds_kept=4, capacity_share=0.25))
    assert imagination.capacity == 500
    assert [imagination.limit_at(epoch) for epoch in (0, 19, 39, 99, 200)] == [100, 100, 200, 500, 500]


@pytest.mark.parametrize(
    "settings",
    [
        dict(steps=0),
        dict(epoch_steps=0),
        dict(evaluation_episodes=0),
        dict(checkpoints_kept=0),
        dict(warmup_steps=-1),
        dict(seed=-1),
        dict(seed=2**32),
    ],
    ids=str,
)
def test_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))) as caught:
        RunConfig(**settings)
    assert "\n" not in str(caught.value) and "--" in str(caught.value)


@pytest.mark.parametrize(
    "settings", [dict(every=0), dict(termination="somehow"), dict(reward="auto")], ids=str
)
def test_imagination_refused(settings):
    with pytest.raises(UserError, match=f"imagination.{next(iter(settings))}"):
        Imagination(**settings)
