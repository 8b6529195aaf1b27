"""The border to an environment: flat float32 observations, actions in [-1, 1], and faults that name step and value."""

from contextlib import suppress
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from jaxtyping import Float
from numpy.typing import NDArray

from macura.core import RunError, UserError
from macura.envs.registry import one_line
from macura.envs.spaces import Misfit, spaces_of

Env = gymnasium.Env[Any, Any]
Vector = NDArray[np.float32]

LONGEST_EPISODE = 20_000
"""Steps after which an episode without a time limit is taken to have no end."""
LARGEST_BOUND = 1e30
"""Action bounds beyond this are a way of writing that there is none."""


class Outcome(NamedTuple):
    """What one step brought. `terminated` ends the task, `truncated` is only a time limit."""

    obs: Vector
    reward: float
    terminated: bool
    truncated: bool


class Bridge:
    """One environment as the rest of the library sees it.

    `UserError` if its spaces cannot be used, `RunError` when it fails on the way.
    """

    def __init__(self, env: Env, name: str, keep_open: bool = False) -> None:
        self.env = env
        self.name = name
        box = _bounded(env.action_space, name)
        self.spaces = spaces_of(env.observation_space, box, name)
        self.obs_dim = self.spaces.obs_dim
        self.action_low = box.low.astype(np.float32).ravel()
        self.action_high = box.high.astype(np.float32).ravel()
        self.action_scale = (self.action_high - self.action_low) / 2
        self.act_dim = self.action_low.size
        self.steps = 0
        self.episode_steps = 0
        self.time_limit = time_limit_of(env)
        self._middle = (self.action_high + self.action_low) / 2
        self._action_space = box
        self._keep_open = keep_open

    def reset(self, seed: int | None = None) -> Vector:
        """Start an episode; the seed decides it, and everything after it."""
        self.episode_steps = 0
        try:
            obs, _ = self.env.reset(seed=seed)
        except Exception as error:
            raise self._fault(f"reset raised {type(error).__name__}: {one_line(error)}") from error
        return self._flat(obs)

    def step(self, action: Float[np.ndarray, "act"]) -> Outcome:
        """Step with an action in [-1, 1], scaled to the environment's bounds."""
        self.steps += 1
        self.episode_steps += 1
        try:
            result: tuple[Any, ...] = self.env.step(self.to_env(action))
        except Exception as error:
            raise self._fault(f"step raised {type(error).__name__}: {one_line(error)}") from error
        if len(result) != 5:
            raise self._fault(
                f"step returned {len(result)} values, not obs, reward, terminated, truncated, info"
            )
        outcome = Outcome(self._flat(result[0]), self._number(result[1]), bool(result[2]), bool(result[3]))
        self._refuse_endless(outcome)
        return outcome

    def to_env(self, action: Float[np.ndarray, "act"]) -> NDArray[Any]:
        """An action in [-1, 1] in the shape and units of the environment, inside its bounds."""
        scaled = np.clip(self._middle + self.action_scale * action, self.action_low, self.action_high)
        return scaled.astype(self._action_space.dtype).reshape(self._action_space.shape)

    def render(self) -> NDArray[Any]:
        """The picture of the current state; the environment must have been made with a render mode."""
        try:
            picture = self.env.render()
        except NotImplementedError:  # what gymnasium.Env does
            picture = None
        if not isinstance(picture, np.ndarray):
            raise UserError(
                f"{self.name} draws no pictures; leave --video out, or let what makes it take render_mode='rgb_array'."
            )
        return picture

    def close(self) -> None:
        """Let go of the environment, unless it belongs to somebody else."""
        if not self._keep_open:
            with suppress(Exception):  # nothing is lost any more, and a run that is saved must not fail here
                self.env.close()

    def _flat(self, obs: Any) -> Vector:
        try:
            with np.errstate(over="ignore"):  # what does not fit float32 is refused below
                flat = self.spaces.flat(obs)
        except Misfit as misfit:
            raise self._fault(str(misfit)) from None
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise self._fault(
                f"the observation does not fit {self.env.observation_space}: {type(error).__name__} {one_line(error)}"
            ) from error
        if not np.isfinite(flat).all():
            place = int(np.argmin(np.isfinite(flat)))
            raise self._fault(f"observation[{place}] is {flat[place]}")
        return flat

    def _number(self, reward: Any) -> float:
        try:
            if reward is None:  # NumPy would read it as nan
                raise TypeError
            value = np.asarray(reward, np.float64).reshape(()).item()
        except (TypeError, ValueError):
            raise self._fault(f"the reward is {reward!r}, not a number") from None
        if not abs(value) <= np.finfo(np.float32).max:
            raise self._fault(f"the reward is {value}")
        return value

    def _refuse_endless(self, outcome: Outcome) -> None:
        over = outcome.terminated or outcome.truncated
        if self.time_limit is None and self.episode_steps >= LONGEST_EPISODE and not over:
            raise self._fault(
                f"the episode has not ended after {self.episode_steps} steps, and there is no time limit;"
                " set one with --env.time-limit 1000"
            )

    def _fault(self, what: str) -> RunError:
        return RunError(f"{self.name}, step {self.steps} (step {self.episode_steps} of its episode): {what}")


def time_limit_of(env: Env) -> int | None:
    """Steps after which the environment itself cuts an episode, as far as it says."""
    layer: Any = env
    limits: list[int] = []
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, gymnasium.wrappers.TimeLimit):
            limits.append(int(layer._max_episode_steps))  # pyright: ignore[reportPrivateUsage]  it has no other name
        layer = layer.env
    return min(limits, default=None)


def _bounded(space: Any, name: str) -> spaces.Box:
    """The action space, if it is a Box with two finite bounds for every number."""
    if not isinstance(space, spaces.Box) or not np.issubdtype(space.dtype, np.floating):
        raise UserError(
            f"The actions of {name} are {space}, but continuous ones (a bounded float Box) are needed;"
            " give another environment, such as InvertedPendulum-v5."
        )
    if space.low.size == 0:
        raise UserError(f"{name} has no actions (shape {space.shape}); give another environment.")
    bounded = (space.low > -LARGEST_BOUND) & (space.high < LARGEST_BOUND)
    if not bounded.all():
        raise UserError(
            f"The actions of {name} are unbounded ({space}), so they cannot be scaled to [-1, 1];"
            " bound them with gymnasium.wrappers.RescaleAction or in the environment's action_space."
        )
    if not (space.low < space.high).all():
        place = int(np.argmin((space.low < space.high).ravel()))
        raise UserError(
            f"Action {place} of {name} can only be {space.low.ravel()[place]}; leave it out of the action_space."
        )
    return space
