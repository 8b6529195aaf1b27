"""The pendulum of the paper's appendix "Toy Example": known dynamics, two states, one torque.

State (phi, phi'): the angle from the upper fixed point in rad and its velocity in rad/s. Action: the torque
in N m. All functions are pure and take one state or a batch; the noise-free ones also take NumPy arrays.
"""

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from macura.core import PRNGKey

MASS, LENGTH, GRAVITY, FRICTION = 0.1, 1.0, 9.81, 0.1
TIME_STEP = 0.01
SUBSTEPS = 1
"""RK4 steps between two samples; one is accurate to 1e-8, far below the process noise."""
NOISE_VARIANCE = (1e-6, 1e-3)
"""Diagonal of the process noise covariance Sigma, added once per sample."""
GAIN_P, GAIN_D = 25.0, 1.0
ANGLE_LIMIT, VELOCITY_LIMIT = 3.0, 16.0
"""The box over which the paper draws its heat maps."""
TORQUE_LIMIT = 10.0
"""Half range of the Gymnasium action; the controller asks for at most 7.7 N m inside the box."""
START = (3.0, 0.0)
EPISODE_STEPS = 170

AnyArray = Array | np.ndarray


def derivative(state: Float[AnyArray, "*batch 2"], torque: Float[AnyArray, "*batch 1"]) -> AnyArray:
    """x' = (phi', (u + m g l sin phi - b phi') / (m l^2))."""
    xp = state.__array_namespace__()
    angle, velocity = state[..., 0], state[..., 1]
    push = torque[..., 0] + MASS * GRAVITY * LENGTH * xp.sin(angle) - FRICTION * velocity
    return xp.stack([velocity, push / (MASS * LENGTH**2)], axis=-1)


def mean_step(
    state: Float[AnyArray, "*batch 2"], torque: Float[AnyArray, "*batch 1"], substeps: int = SUBSTEPS
) -> AnyArray:
    """mu(s, a): the state one sample later without noise; RK4, the torque held between samples."""
    h = TIME_STEP / substeps
    for _ in range(substeps):
        k1 = derivative(state, torque)
        k2 = derivative(state + h / 2 * k1, torque)
        k3 = derivative(state + h / 2 * k2, torque)
        k4 = derivative(state + h * k3, torque)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def step(
    state: Float[Array, "*batch 2"], torque: Float[Array, "*batch 1"], key: PRNGKey
) -> Float[Array, "*batch 2"]:
    """A draw of s' ~ N(mu(s, a), Sigma)."""
    noise = jax.random.normal(key, state.shape, state.dtype)
    return jnp.asarray(mean_step(state, torque)) + jnp.sqrt(jnp.asarray(NOISE_VARIANCE, state.dtype)) * noise


def controller(state: Float[AnyArray, "*batch 2"]) -> AnyArray:
    """pi_FL: u = m l^2 (-K_D phi' - K_P phi) - m g l sin phi + b phi'; then phi'' = -K_P phi - K_D phi'."""
    xp = state.__array_namespace__()
    angle, velocity = state[..., 0], state[..., 1]
    spring = MASS * LENGTH**2 * (-GAIN_D * velocity - GAIN_P * angle)
    return (spring - MASS * GRAVITY * LENGTH * xp.sin(angle) + FRICTION * velocity)[..., None]


def reward(state: Float[AnyArray, "*batch 2"]) -> AnyArray:
    """(1 + cos phi) / 2, in [0, 1]: one when upright, nothing when hanging."""
    xp = state.__array_namespace__()
    return xp.asarray((1.0 + xp.cos(state[..., 0])) / 2.0)


class PendulumEnv(gymnasium.Env[NDArray[Any], NDArray[Any]]):
    """The same pendulum for Gymnasium: starts at (3, 0), paid for being upright, never terminates."""

    metadata = {"render_modes": []}  # noqa: RUF012 (the shape Gymnasium asks for)

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = gymnasium.spaces.Box(-TORQUE_LIMIT, TORQUE_LIMIT, (1,), np.float32)
        self._state = np.asarray(START)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Back to (3, 0); the seed is that of the process noise."""
        super().reset(seed=seed)
        self._state = np.asarray(START)
        return self._state.copy(), {}

    def step(self, action: NDArray[Any]) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """One sample of the dynamics; the reward is that of the state reached."""
        torque = np.clip(np.asarray(action, np.float64), -TORQUE_LIMIT, TORQUE_LIMIT)
        noise = self.np_random.normal(size=2) * np.sqrt(NOISE_VARIANCE)
        self._state = np.asarray(mean_step(self._state, torque)) + noise
        return self._state.copy(), float(reward(self._state)), False, False, {}


def register() -> None:
    """Make the id `macura/Pendulum-v0` known to Gymnasium; calling it again changes nothing."""
    if "macura/Pendulum-v0" not in gymnasium.registry:
        gymnasium.register(
            "macura/Pendulum-v0",
            entry_point="macura.envs.pendulum:PendulumEnv",
            max_episode_steps=EPISODE_STEPS,
        )
