"""Tiny environments, good and bad. Import them, or name them on the command line: `tests.fakes.envs:raises`.

Every factory makes a `Point` of 50-step episodes; the bad ones go wrong in step `FAULT_STEP` since they were made,
which lies in the second epoch of a run with epochs of 100 steps, and in the third evaluation of one episode each.
"""

import gymnasium
import numpy as np
from gymnasium import spaces

FAULT_STEP = 150
EPISODE_STEPS = 50


class Point(gymnasium.Env):
    """A damped point on a line, pushed by the action and paid for staying near 0."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (the shape Gymnasium asks for)

    def __init__(self, observation_space=None, action_space=None, render_mode=None):
        self.observation_space = observation_space or spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = action_space or spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.render_mode = render_mode
        self.steps = 0
        self.episode_steps = 0
        self.closed = False
        self.received = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = self.np_random.uniform(-1.0, 1.0, 2)
        self.episode_steps = 0
        return self.observe(), {}

    def step(self, action):
        self.received = action
        self.steps += 1
        self.episode_steps += 1
        position, velocity = self.state
        push = float(np.sum(action)) if isinstance(action, np.ndarray) else 0.0
        self.state = np.array([position + 0.1 * velocity, 0.9 * velocity + 0.1 * push])
        return self.observe(), self.reward(), self.terminated(), self.truncated(), {}

    def observe(self):
        return self.state.copy()

    def reward(self):
        return float(-(self.state[0] ** 2))

    def terminated(self):
        return False

    def truncated(self):
        return self.episode_steps >= EPISODE_STEPS

    def render(self):
        return np.zeros((4, 4, 3), np.uint8) if self.render_mode == "rgb_array" else None

    def close(self):
        self.closed = True

    @property
    def faulty(self):
        return self.steps >= FAULT_STEP


point = Point


class Raises(Point):
    def observe(self):
        if self.faulty:
            raise OSError("the motor\ndoes not answer")
        return super().observe()


class NanObservation(Point):
    def observe(self):
        return np.array([self.state[0], np.nan]) if self.faulty else super().observe()


class InfObservation(Point):
    def observe(self):
        return np.array([-np.inf, 0.0]) if self.faulty else super().observe()


class HugeObservation(Point):
    def observe(self):
        return np.array([1e300, 0.0]) if self.faulty else super().observe()


class NanReward(Point):
    def reward(self):
        return np.nan if self.faulty else super().reward()


class InfReward(Point):
    def reward(self):
        return np.inf if self.faulty else super().reward()


class NoReward(Point):
    def reward(self):
        return None if self.faulty else super().reward()


class ChangesShape(Point):
    def observe(self):
        return np.zeros(3) if self.faulty else super().observe()


class ObservesText(Point):
    def observe(self):
        return np.array(["left", "right"]) if self.faulty else super().observe()


class Endless(Point):
    def truncated(self):
        return False


class OldStep(Point):
    def step(self, action):
        return super().step(action)[:4]


class FailsToReset(Point):
    def reset(self, *, seed=None, options=None):
        if self.faulty:
            raise RuntimeError("the arm is stuck")
        return super().reset(seed=seed, options=options)


class TimeLimitAsEnd(Point):
    """Reports its time limit as an end of the task."""

    def terminated(self):
        return super().truncated()

    def truncated(self):
        return False


class Unseeded(Point):
    """Draws from a generator that no seed reaches."""

    _rng = np.random.default_rng(0)

    def observe(self):
        return self.state + 1e-3 * self._rng.standard_normal(2)


class BadlyScaled(Point):
    """One number never moves, another is a million times as large as the third; rewards are large too."""

    def __init__(self):
        super().__init__(observation_space=spaces.Box(-np.inf, np.inf, (3,), np.float64))

    def observe(self):
        return np.array([7.0, 1e3 * self.state[0], 1e-3 * self.state[1]])

    def reward(self):
        return 1e4 * super().reward()


class Overpaid(Point):
    """Its rewards are finite, but their squares are not."""

    def reward(self):
        return 1e30 * super().reward()


class Unpaid(Point):
    def reward(self):
        return 0.0


class Nested(Point):
    """A dictionary of boxes with one, two and no axes, nested, and a tuple."""

    def __init__(self):
        box = spaces.Box
        super().__init__(
            observation_space=spaces.Dict(
                {
                    "point": box(-9, 9, (2,), np.float64),
                    "grid": box(-9, 9, (2, 3), np.float32),
                    "more": spaces.Dict({"count": box(0, 100, (), np.int64)}),
                    "pair": spaces.Tuple((box(-9, 9, (1,), np.float64), box(0, 1, (2,), np.int8))),
                }
            )
        )

    def observe(self):
        return {
            "point": self.state.copy(),
            "grid": np.arange(6, dtype=np.float32).reshape(2, 3) / 7,
            "more": {"count": np.int64(self.episode_steps)},
            "pair": (self.state[:1] ** 2, np.array([0, 1], np.int8)),
        }


class NestedChangesShape(Nested):
    def observe(self):
        obs = super().observe()
        return obs | {"grid": obs["grid"].T} if self.faulty else obs


class NestedLosesKey(Nested):
    def observe(self):
        obs = super().observe()
        if self.faulty:
            del obs["grid"]
        return obs


def discrete():
    return Point(action_space=spaces.Discrete(3))


def multi_discrete():
    return Point(action_space=spaces.MultiDiscrete([3, 3]))


def whole_number_actions():
    return Point(action_space=spaces.Box(0, 3, (1,), np.int64))


def unbounded():
    return Point(action_space=spaces.Box(-np.inf, np.inf, (1,), np.float32))


def half_bounded():
    return Point(action_space=spaces.Box(0.0, np.inf, (1,), np.float32))


def as_good_as_unbounded():
    return Point(action_space=spaces.Box(-3.4e38, 3.4e38, (1,), np.float32))


def frozen_action():
    return Point(action_space=spaces.Box(np.array([-1.0, 2.0]), np.array([1.0, 2.0]), dtype=np.float64))


def no_actions():
    return Point(action_space=spaces.Box(-1.0, 1.0, (0,), np.float32))


def images():
    return Point(observation_space=spaces.Box(0, 255, (8, 8, 3), np.uint8))


def images_inside():
    return Point(observation_space=spaces.Dict({"camera": spaces.Box(0, 255, (8, 8, 3), np.uint8)}))


def discrete_observation():
    return Point(observation_space=spaces.Discrete(5))


def sees_nothing():
    return Point(observation_space=spaces.Box(-1.0, 1.0, (0,), np.float32))


def fails():
    raise ValueError("no such\nrobot")


def makes_nothing():
    return None


not_a_function = 3

raises, nan_observation, inf_observation, huge_observation = (
    Raises,
    NanObservation,
    InfObservation,
    HugeObservation,
)
nan_reward, inf_reward, changes_shape, endless = NanReward, InfReward, ChangesShape, Endless
overpaid = Overpaid
