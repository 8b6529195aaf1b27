"""How wrong the model is about what it has not seen."""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool

from macura.core import Metrics, Transition
from macura.dynamics.config import ModelConfig, Outputs
from macura.dynamics.model import ModelState, predict


def error(
    config: ModelConfig,
    outputs: Outputs,
    model: ModelState,
    transitions: Transition,
    valid: Bool[Array, "batch"],
) -> Metrics:
    """Errors of the members' mean prediction on real transitions, in the units of the environment.

    Of a learned termination: the share of transitions on which "more likely than not" is wrong, and the mean
    cross-entropy of its probability.
    """
    rows = jnp.maximum(jnp.sum(valid), 1)
    prediction = predict(outputs, model, transitions.obs, transitions.action)
    happened = transitions.next_obs - transitions.obs if config.targets == "delta" else transitions.next_obs
    if outputs.reward:
        happened = jnp.concatenate([happened, transitions.reward[:, None]], axis=-1)
    squared = jnp.square(jnp.mean(prediction.gaussians.mean, axis=0) - happened)
    per_output = jnp.sum(jnp.where(valid[:, None], squared, 0.0), axis=0) / rows
    metrics: Metrics = {"model/true_mse": jnp.mean(per_output), "model/true_per_output": per_output}
    if outputs.reward:
        metrics["model/reward_rmse"] = jnp.sqrt(per_output[-1])
    if prediction.termination is not None:
        probability = jnp.mean(jax.nn.sigmoid(prediction.termination), axis=0)
        wrong = (probability > 0.5) != transitions.terminated
        metrics["model/termination_disagreement"] = jnp.sum(wrong & valid) / rows
        surprise = optax.sigmoid_binary_cross_entropy(
            jax.scipy.special.logit(jnp.clip(probability, 1e-6, 1 - 1e-6)),
            transitions.terminated.astype(jnp.float32),
        )
        metrics["model/termination_surprise"] = jnp.sum(jnp.where(valid, surprise, 0.0)) / rows
    return metrics
