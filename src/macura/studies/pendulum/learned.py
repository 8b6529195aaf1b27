"""The data D_env and the ensemble trained on it."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura import dynamics
from macura.core import PRNGKey, Stream, Transition, root_key, stream_key
from macura.dynamics import ModelConfig, ModelState
from macura.envs import pendulum
from macura.studies.pendulum.settings import OUTPUTS

TRAJECTORIES = 10
NEVER = 1.0
"""An improvement that no positive error can make: a refit then ends after its patience, with its last weights."""

_fit = jax.jit(dynamics.fit, static_argnums=(0, 1))


def trajectories(seed: int) -> Float[Array, "trajectory time 2"]:
    """Ten times 171 states from (3, 0) under the controller, each with noise of its own."""
    key = stream_key(root_key(seed), Stream.ENV_NOISE)
    return _trajectories(jax.random.split(key, TRAJECTORIES))


@jax.jit
@jax.vmap
def _trajectories(key: PRNGKey) -> Float[Array, "time 2"]:
    def move(state: Float[Array, "2"], noise_key: PRNGKey) -> tuple[Float[Array, "2"], Float[Array, "2"]]:
        following = pendulum.step(state, jnp.asarray(pendulum.controller(state)), noise_key)
        return following, following

    start = jnp.asarray(pendulum.START, jnp.float32)
    states = jax.lax.scan(move, start, jax.random.split(key, pendulum.EPISODE_STEPS))[1]
    return jnp.concatenate([start[None], states])


def transitions(states: Float[Array, "trajectory time 2"]) -> Transition:
    """The trajectories as rows of a buffer, without rewards: none is learned."""
    before, after = states[:, :-1].reshape(-1, 2), states[:, 1:].reshape(-1, 2)
    nothing = jnp.zeros(before.shape[0])
    return Transition(before, jnp.asarray(pendulum.controller(before)), nothing, after, nothing > 0)


def train(networks: ModelConfig, epochs: int, data: Transition, seed: int) -> ModelState:
    """The ensemble after a fixed number of epochs.

    Stopping at the lowest squared error, as a run does, would end while variances are still too wide and all
    members alike in being wrong; the bound and the figure ask for members that have learned what the data say.
    """
    config = replace(networks, improvement=NEVER, patience=epochs)
    root = root_key(seed)
    model = dynamics.init(config, OUTPUTS, stream_key(root, Stream.MODEL_INIT))
    rows = jnp.int32(data.reward.shape[0])
    return _fit(config, OUTPUTS, model, data, rows, stream_key(root, Stream.FIT_MODEL))[0]
