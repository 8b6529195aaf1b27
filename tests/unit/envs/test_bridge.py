"""The border to an environment: scaling, flattening, and every fault with its step and value."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from macura.core import RunError, UserError
from macura.envs import Bridge, EnvConfig, Outcome, Task, bridge
from tests.fakes import envs as fakes

STEP = fakes.FAULT_STEP
ZERO = np.zeros(1, np.float32)


def walk(env, steps):
    """Reset and step as a run does; the last outcome."""
    there = Bridge(env, "Fake")
    there.reset(0)
    for _ in range(steps):
        outcome = there.step(ZERO)
        if outcome.terminated or outcome.truncated:
            there.reset(1)
    return outcome


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_actions_are_scaled_to_the_bounds_and_never_leave_them(dtype):
    low = np.array([[-1.0, 0.0], [-2.0, 5.0]], dtype)
    high = np.array([[1.0, 4.0], [8.0, 5.5]], dtype)
    env = fakes.Point(action_space=spaces.Box(low, high, dtype=dtype))
    there = Bridge(env, "Fake")
    assert there.act_dim == 4
    np.testing.assert_array_equal(there.action_low, low.ravel())
    np.testing.assert_array_equal(there.action_scale, [1.0, 2.0, 5.0, 0.25])
    there.reset(0)
    for inside, outside in [(-1.0, low), (1.0, high), (0.0, (low + high) / 2), (3.0, high), (-1.5, low)]:
        there.step(np.full(4, inside, np.float32))
        assert env.received.dtype == dtype
        np.testing.assert_allclose(env.received, outside, rtol=1e-6)
        assert env.action_space.contains(env.received)


def test_nested_observations_are_flattened_in_gymnasiums_order():
    env = fakes.Nested()
    there = Bridge(env, "Fake")
    assert there.obs_dim == spaces.utils.flatdim(env.observation_space) == 12
    for show in (lambda: there.reset(3), lambda: there.step(ZERO).obs):
        obs = show()
        assert obs.dtype == np.float32
        assert obs.shape == (12,)
        np.testing.assert_allclose(obs, spaces.utils.flatten(env.observation_space, env.observe()), rtol=1e-6)


def test_terminated_and_truncated_stay_apart():
    assert walk(fakes.Point(), fakes.EPISODE_STEPS)[2:] == (False, True)
    assert walk(fakes.TimeLimitAsEnd(), fakes.EPISODE_STEPS)[2:] == (True, False)
    assert walk(fakes.Point(), 3)[2:] == (False, False)
    assert Outcome._fields == ("obs", "reward", "terminated", "truncated")


def test_an_observation_that_the_environment_overwrites_is_kept():
    class Reuses(fakes.Point):
        def observe(self):
            self.shown = getattr(self, "shown", np.zeros(2, np.float32))
            self.shown[:] = self.state
            return self.shown

    there = Bridge(Reuses(), "Fake")
    first = there.reset(0)
    before = first.copy()
    there.step(ZERO)
    np.testing.assert_array_equal(first, before)


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (fakes.Raises, "step raised OSError: the motor does not answer"),
        (fakes.NanObservation, "observation[1] is nan"),
        (fakes.InfObservation, "observation[0] is -inf"),
        (fakes.HugeObservation, "observation[0] is inf"),
        (fakes.NanReward, "the reward is nan"),
        (fakes.InfReward, "the reward is inf"),
        (fakes.NoReward, "the reward is None, not a number"),
        (fakes.ChangesShape, "the observation has shape (3,), but its space says (2,)"),
        (fakes.ObservesText, "could not convert string to float"),
        (fakes.NestedChangesShape, "the observation['grid'] has shape (3, 2), but its space says (2, 3)"),
        (fakes.NestedLosesKey, "KeyError 'grid'"),
    ],
)
def test_a_fault_names_the_step_and_the_value(fake, message):
    walk(fake(), STEP - 1)
    with pytest.raises(RunError) as caught:
        walk(fake(), STEP)
    line = str(caught.value)
    assert line.startswith(f"Fake, step {STEP} (step {fakes.EPISODE_STEPS} of its episode): ")
    assert message in line
    assert "\n" not in line


def test_a_fault_in_reset_and_an_old_step_are_told_too():
    with pytest.raises(RunError, match=rf"step {STEP} .*reset raised RuntimeError: the arm is stuck"):
        walk(fakes.FailsToReset(), STEP)
    with pytest.raises(RunError, match=r"step 1 .*step returned 4 values"):
        walk(fakes.OldStep(), 1)


@pytest.mark.parametrize("reward", [np.float32(2.5), np.array(2.5), np.array([2.5]), 2.5, np.array([[2.5]])])
def test_rewards_in_any_wrapping_are_numbers(reward):
    env = fakes.Point()
    env.reward = lambda: reward
    assert walk(env, 1).reward == 2.5


def test_an_episode_without_end_stops_the_run_unless_it_has_a_time_limit(monkeypatch):
    with pytest.raises(RunError, match=r"step 20000 .*not ended after 20000 steps.*--env\.time-limit 1000"):
        walk(fakes.Endless(), bridge.LONGEST_EPISODE + 1)
    monkeypatch.setattr(bridge, "LONGEST_EPISODE", fakes.EPISODE_STEPS)
    assert walk(fakes.Point(), fakes.EPISODE_STEPS).truncated  # an end in the last moment is an end
    assert walk(fakes.TimeLimitAsEnd(), fakes.EPISODE_STEPS).terminated
    monkeypatch.setattr(bridge, "LONGEST_EPISODE", 5)
    limited = gymnasium.wrappers.TimeLimit(fakes.Endless(), 9)
    assert walk(limited, 9).truncated


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (fakes.discrete, "The actions of Fake are Discrete(3)"),
        (fakes.multi_discrete, "The actions of Fake are MultiDiscrete([3 3])"),
        (fakes.whole_number_actions, "int64"),
        (fakes.unbounded, "unbounded"),
        (fakes.half_bounded, "unbounded"),
        (fakes.as_good_as_unbounded, "unbounded"),
        (fakes.frozen_action, "Action 1 of Fake can only be 2.0"),
        (fakes.no_actions, "has no actions"),
        (fakes.images, "images (8, 8, 3)"),
        (fakes.images_inside, "images (8, 8, 3)"),
        (fakes.discrete_observation, "The observations of Fake hold Discrete(5)"),
        (fakes.sees_nothing, "empty"),
    ],
)
def test_spaces_that_cannot_be_used_are_refused_in_one_line(fake, message):
    with pytest.raises(UserError) as caught:
        Bridge(fake(), "Fake")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pictures_need_a_render_mode():
    assert Task(EnvConfig("tests.fakes.envs:point")).make(render_mode="rgb_array").render().shape == (4, 4, 3)
    with pytest.raises(UserError, match="draws no pictures"):
        Task(EnvConfig("tests.fakes.envs:point")).make().render()
