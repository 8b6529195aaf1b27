"""The ensemble: its state, and what its members predict."""

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from macura.core import Gaussians, PRNGKey
from macura.dynamics.config import ModelConfig, Outputs
from macura.dynamics.normaliser import Normaliser, identity, normalise
from macura.nn import MLP, ensemble, mlp, truncated_normal


class Parameters(NamedTuple):
    """What gradients act on: the members' networks, and the soft bounds of the log-variances they share."""

    networks: MLP
    min_logvar: Float[Array, "out"]
    max_logvar: Float[Array, "out"]


class ModelState(NamedTuple):
    """All that the model remembers between refits."""

    parameters: Parameters
    optimiser: optax.OptState
    inputs: Normaliser
    targets: Normaliser
    elites: Int[Array, "elite"]


class Prediction(NamedTuple):
    """What every member predicts, in the units of the environment."""

    gaussians: Gaussians
    termination: Float[Array, "member batch"] | None
    """Logits of the probability that the episode ends with this step, if a head for it is learned."""


def optimiser(config: ModelConfig) -> optax.GradientTransformation:
    """Adam with L2 in the gradient of weights and biases (not decoupled)."""

    def decayed(parameters: Any) -> Any:
        return Parameters(
            jax.tree.map(lambda _: True, parameters.networks), cast(Any, False), cast(Any, False)
        )

    return optax.chain(
        optax.add_decayed_weights(config.weight_decay, mask=decayed), optax.adam(config.learning_rate)
    )


def init(config: ModelConfig, outputs: Outputs, key: PRNGKey) -> ModelState:
    """Fresh members, independent of each other; every one is an elite."""
    sizes = (outputs.inputs, *[config.width] * config.hidden_layers, outputs.network)
    parameters = Parameters(
        networks=mlp.init_ensemble(key, config.members, sizes, truncated_normal),
        min_logvar=jnp.full(outputs.gaussians, config.min_logvar, jnp.float32),
        max_logvar=jnp.full(outputs.gaussians, config.max_logvar, jnp.float32),
    )
    return ModelState(
        parameters=parameters,
        optimiser=optimiser(config).init(cast(Any, parameters)),
        inputs=identity(outputs.inputs),
        targets=identity(outputs.gaussians),
        elites=jnp.arange(config.elites or config.members, dtype=jnp.int32),
    )


def predict(
    outputs: Outputs,
    state: ModelState,
    obs: Float[Array, "batch obs"],
    action: Float[Array, "batch act"],
) -> Prediction:
    """Every member on the same inputs."""
    x = normalise(state.inputs, jnp.concatenate([obs, action], axis=-1))
    return _in_raw_units(outputs, state, ensemble.apply_shared(state.parameters.networks, x, jax.nn.silu))


def predict_own(
    outputs: Outputs,
    state: ModelState,
    obs: Float[Array, "member batch obs"],
    action: Float[Array, "member batch act"],
) -> Prediction:
    """Every member on inputs of its own."""
    x = normalise(state.inputs, jnp.concatenate([obs, action], axis=-1))
    return _in_raw_units(outputs, state, ensemble.apply_own(state.parameters.networks, x, jax.nn.silu))


def to_transition(
    config: ModelConfig, outputs: Outputs, obs: Float[Array, "*batch obs"], sample: Float[Array, "*batch out"]
) -> tuple[Float[Array, "*batch obs"], Float[Array, "*batch"] | None]:
    """The next observation and, if it is learned, the reward that a sample of the outputs stands for."""
    change = sample[..., : outputs.obs]
    next_obs = obs + change if config.targets == "delta" else change
    return next_obs, sample[..., -1] if outputs.reward else None


def heads(
    outputs: Outputs, parameters: Parameters, y: Float[Array, "*batch network"]
) -> tuple[Gaussians, Float[Array, "*batch"] | None]:
    """What one output row of a network, or of all, says: bounded Gaussians, and the logit of termination."""
    mean, logvar = y[..., : outputs.gaussians], y[..., outputs.gaussians : 2 * outputs.gaussians]
    bounded = soft_bound(logvar, parameters.min_logvar, parameters.max_logvar)
    return Gaussians(mean, bounded), y[..., -1] if outputs.termination else None


def soft_bound(
    logvar: Float[Array, "*batch out"], lowest: Float[Array, "out"], highest: Float[Array, "out"]
) -> Float[Array, "*batch out"]:
    """v <- max - softplus(max - v), then v <- min + softplus(v - min)."""
    logvar = highest - softplus(highest - logvar)
    return lowest + softplus(logvar - lowest)


def softplus(x: Float[Array, "*batch out"]) -> Float[Array, "*batch out"]:
    """log(1 + e^x), right to 1e-7: all that a logarithm of a variance needs.

    With `log1p`, which keeps more of the smallest values, a CPU spends a fifth of a gradient step on the bounds.
    """
    return jnp.maximum(x, 0) + jnp.log(1 + jnp.exp(-jnp.abs(x)))


def _in_raw_units(outputs: Outputs, state: ModelState, y: Float[Array, "member batch network"]) -> Prediction:
    (mean, logvar), logit = heads(outputs, state.parameters, y)
    mean = mean * state.targets.std + state.targets.mean
    return Prediction(Gaussians(mean, logvar + 2 * jnp.log(state.targets.std)), logit)
