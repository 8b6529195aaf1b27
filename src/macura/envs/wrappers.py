"""What we put around an environment: noise on its actions, a shorter observation, the contact cost, a time limit."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from macura.core import Stream, host_rng

Env = gymnasium.Env[Any, Any]
Wrapper = gymnasium.Wrapper[Any, Any, Any, Any]


class ActionNoise(Wrapper):
    """a~ = a + N(0, sigma^2 I), clipped to the bounds; sigma is in units of half the range of each action.

    The agent never sees a~: what it stores is the action it chose. The noise derives from the seed of the reset.
    """

    def __init__(self, env: Env, sigma: float) -> None:
        super().__init__(env)
        space = env.action_space
        assert isinstance(space, gymnasium.spaces.Box)
        self._low, self._high = space.low, space.high
        self._deviation = sigma * (space.high.astype(np.float64) - space.low) / 2
        self._rng = np.random.default_rng()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; a seed also starts the noise anew."""
        if seed is not None:
            self._rng = host_rng(seed, Stream.ENV_NOISE)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: NDArray[Any]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step with the disturbed action."""
        disturbed = action + self._deviation * self._rng.standard_normal(self._deviation.shape)
        return self.env.step(np.clip(disturbed, self._low, self._high).astype(self._low.dtype))


class ObservationCut(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Only the first numbers of the observation."""

    def __init__(self, env: Env, length: int) -> None:
        super().__init__(env)
        space = env.observation_space
        assert isinstance(space, gymnasium.spaces.Box)
        self._length = length
        self.observation_space = gymnasium.spaces.Box(
            space.low[:length], space.high[:length], dtype=np.float64
        )

    def observation(self, observation: NDArray[Any]) -> NDArray[Any]:
        """Cut one observation."""
        return observation[: self._length]


class HumanoidContactCost(Wrapper):
    """Charges min(5e-7 sum force^2, 10) for external contact forces, which Humanoid-v4 does not."""

    def step(self, action: NDArray[Any]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and charge for the contacts after it."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        forces = self.env.get_wrapper_attr("data").cfrc_ext
        cost = min(5e-7 * float(np.sum(np.square(forces))), 10.0)
        return obs, float(reward) - cost, terminated, truncated, info | {"reward_contact": -cost}


def wrap(env: Env, action_noise: float, time_limit: int | None) -> Env:
    """The environment with noise on its actions, and cut after `time_limit` steps, where asked for."""
    if action_noise > 0.0 and isinstance(env.action_space, gymnasium.spaces.Box):  # others are refused later
        env = ActionNoise(env, action_noise)
    return env if time_limit is None else gymnasium.wrappers.TimeLimit(env, time_limit)
