"""What is true and what the ensemble believes, state by state under the controller."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from macura import dynamics
from macura.core import Gaussians, PRNGKey
from macura.dynamics import ModelConfig, ModelState
from macura.envs import pendulum
from macura.studies.pendulum.settings import OUTPUTS
from macura.uncertainty import MeasureName, geometric_js_dual, measure

MEASURES: tuple[MeasureName, ...] = (
    "geometric_js",
    "geometric_js_dual",
    "one_vs_rest",
    "mean_variance",
    "ensemble_variance",
)


class Assessment(NamedTuple):
    """For every state: how wrong the ensemble is, and how unsure each measure calls it."""

    misalignment: Float[Array, "batch"]
    measures: dict[str, Float[Array, "batch"]]


def axes(points: int) -> tuple[Float[np.ndarray, "points"], Float[np.ndarray, "points"]]:
    """The angles (rad) and velocities (rad/s) of the grid."""
    angle, velocity = pendulum.ANGLE_LIMIT, pendulum.VELOCITY_LIMIT
    return np.linspace(-angle, angle, points), np.linspace(-velocity, velocity, points)


def grid_states(points: int) -> Float[Array, "batch 2"]:
    """All states of the grid, angle by angle."""
    pairs = np.stack(np.meshgrid(*axes(points), indexing="ij"), axis=-1)
    return jnp.asarray(pairs.reshape(-1, 2), jnp.float32)


def truth(states: Float[Array, "batch 2"]) -> tuple[Float[Array, "batch 2"], Float[Array, "batch 2"]]:
    """Mean and log-variance of the change of state under the controller."""
    change = jnp.asarray(pendulum.mean_step(states, pendulum.controller(states))) - states
    return change, jnp.broadcast_to(jnp.log(jnp.asarray(pendulum.NOISE_VARIANCE)), change.shape)


def members(model: ModelState, states: Float[Array, "batch 2"]) -> Gaussians:
    """What the members predict of that change."""
    action = jnp.asarray(pendulum.controller(states))
    return dynamics.predict(OUTPUTS, model, states, action).gaussians


def misalignment(
    mean: Float[Array, "batch out"], logvar: Float[Array, "batch out"], predicted: Gaussians
) -> Float[Array, "batch"]:
    """d = mean over members of sqrt(2) H(p, p_e), at least the total variation between p and the mixture of all.

    H^2 = 1 - exp(-B) with B the Bhattacharyya distance of p and p_e, which is the dual geometric
    Jensen-Shannon divergence of the two.
    """

    def distance(
        mean_e: Float[Array, "batch out"], logvar_e: Float[Array, "batch out"]
    ) -> Float[Array, "batch"]:
        return geometric_js_dual(jnp.stack([mean, mean_e]), jnp.stack([logvar, logvar_e]))

    return jnp.mean(jnp.sqrt(-2 * jnp.expm1(-jax.vmap(distance)(*predicted))), axis=0)


@functools.partial(jax.jit, static_argnums=0)
def assess(
    networks: ModelConfig, model: ModelState, states: Float[Array, "batch 2"], key: PRNGKey
) -> Assessment:
    """Misalignment and all measures; `key` draws the member that one-vs-rest singles out at each state."""
    predicted = members(model, states)
    member = jax.random.randint(key, states.shape[:1], 0, networks.members)
    values = {name: measure(name)(predicted, member, key) for name in MEASURES}
    return Assessment(misalignment(*truth(states), predicted), values)
