"""Soft actor-critic's three losses and one update of everything."""

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from macura.core import Metrics, PRNGKey, Transition
from macura.nn import MLP, descend, mlp, xavier_uniform
from macura.sac.config import SACConfig
from macura.sac.policy import Policy, act_with_log_prob, init_actor

METRICS = ("sac/critic_loss", "sac/actor_loss", "sac/entropy", "sac/q_mean")
"""What `update` reports, each the mean over its batch."""


def no_metrics() -> Metrics:
    """Zeros, to which the reports of updates are added."""
    return {name: jnp.zeros((), jnp.float32) for name in METRICS}


class Learner(NamedTuple):
    """All that soft actor-critic remembers between updates."""

    policy: Policy
    critics: MLP
    target_critics: MLP
    log_alpha: Float[Array, ""]
    actor_opt: optax.OptState
    critic_opt: optax.OptState
    alpha_opt: optax.OptState
    updates: Int[Array, ""]


def optimiser(config: SACConfig) -> optax.GradientTransformation:
    """Adam on one flat vector: a handful of large operations instead of some for every layer."""
    return optax.flatten(optax.adam(config.learning_rate))


def init(config: SACConfig, obs_dim: int, action_scale: Float[Array, "act"], key: PRNGKey) -> Learner:
    """A fresh learner; alpha starts at 1 unless it is fixed."""
    act_dim = action_scale.shape[0]
    hidden = [config.width] * config.hidden_layers
    actor_key, critic_key = jax.random.split(key)
    actor = init_actor(actor_key, obs_dim, act_dim, hidden)
    critics = mlp.init_ensemble(critic_key, 2, [obs_dim + act_dim, *hidden, 1], xavier_uniform)
    log_alpha = jnp.log(jnp.float32(config.fixed_alpha or 1.0))
    adam = optimiser(config)
    return Learner(
        policy=Policy(actor, action_scale),
        critics=critics,
        target_critics=jax.tree.map(jnp.copy, critics),
        log_alpha=log_alpha,
        actor_opt=adam.init(cast(Any, actor)),
        critic_opt=adam.init(cast(Any, critics)),
        alpha_opt=adam.init(log_alpha),
        updates=jnp.int32(0),
    )


def update(
    config: SACConfig, learner: Learner, batch: Transition, epsilon: Float[Array, "2 batch act"]
) -> tuple[Learner, Metrics]:
    """One update on one batch: critics, then actor, then temperature, then target critics.

    `epsilon` is standard normal: for the actions in the targets, and for those of the actor's loss.
    """
    adam = optimiser(config)
    alpha = jnp.exp(learner.log_alpha)

    target = bellman_target(config, learner, batch, epsilon[0])
    critic_loss, gradient = jax.value_and_grad(critic_objective)(learner.critics, config, batch, target)
    critics, critic_opt = descend(adam, gradient, learner.critic_opt, learner.critics)

    def actor_objective(actor: MLP) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """mean(alpha log pi(a|s) - min_i Q_i(s, a)), a ~ pi(.|s)."""
        policy = Policy(actor, learner.policy.action_scale)
        action, log_pi = act_with_log_prob(policy, batch.obs, epsilon[1], config.normalised_in_actor)
        return jnp.mean(alpha * log_pi - q_min(config, critics, batch.obs, action)), -jnp.mean(log_pi)

    (actor_loss, entropy), gradient = jax.value_and_grad(actor_objective, has_aux=True)(learner.policy.actor)
    actor, actor_opt = descend(adam, gradient, learner.actor_opt, learner.policy.actor)

    # The gradient of -mean(log_alpha (log pi + H)) in log_alpha, with log pi held fixed.
    alpha_gradient = entropy - target_entropy(config, batch.action.shape[-1])
    if config.fixed_alpha is None:
        log_alpha, alpha_opt = descend(adam, alpha_gradient, learner.alpha_opt, learner.log_alpha)
    else:
        log_alpha, alpha_opt = learner.log_alpha, learner.alpha_opt

    rate = jnp.where(learner.updates % config.target_interval == 0, config.target_rate, 0.0)

    def follow(old: Array, new: Array) -> Array:
        return old + rate * (new - old)

    targets = jax.tree.map(follow, learner.target_critics, critics)
    learner = Learner(
        policy=Policy(actor, learner.policy.action_scale),
        critics=critics,
        target_critics=targets,
        log_alpha=log_alpha,
        actor_opt=actor_opt,
        critic_opt=critic_opt,
        alpha_opt=alpha_opt,
        updates=learner.updates + 1,
    )
    info = {
        "sac/critic_loss": critic_loss,
        "sac/actor_loss": actor_loss,
        "sac/entropy": entropy,
        "sac/q_mean": jnp.mean(target),
    }
    return learner, info


def bellman_target(
    config: SACConfig, learner: Learner, batch: Transition, epsilon: Float[Array, "batch act"]
) -> Float[Array, "batch"]:
    """y = r + gamma (1 - terminated) (min_i Q'_i(s', a') - alpha log pi(a'|s')), a' ~ pi(.|s')."""
    action, log_pi = act_with_log_prob(learner.policy, batch.next_obs, epsilon, config.normalised_in_actor)
    value = (
        q_min(config, learner.target_critics, batch.next_obs, action) - jnp.exp(learner.log_alpha) * log_pi
    )
    return batch.reward + config.discount * jnp.where(batch.terminated, 0.0, value)


def critic_objective(
    critics: MLP, config: SACConfig, batch: Transition, target: Float[Array, "batch"]
) -> Float[Array, ""]:
    """mean (Q_1 - y)^2 + mean (Q_2 - y)^2, without a factor of one half."""
    q = q_values(config, critics, batch.obs, batch.action)
    return jnp.sum(jnp.mean(jnp.square(q - target), axis=-1))


def q_values(
    config: SACConfig, critics: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch act"]
) -> Float[Array, "2 *batch"]:
    """Q_1 and Q_2 at the same states and actions."""
    x = jnp.concatenate([obs, action], axis=-1)
    normalised = config.normalised_in_critics
    members = [mlp.apply(mlp.member(critics, i), x, jax.nn.relu, normalised)[..., 0] for i in range(2)]
    return jnp.stack(members)


def q_min(
    config: SACConfig, critics: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch act"]
) -> Float[Array, "*batch"]:
    """min(Q_1, Q_2)."""
    return jnp.min(q_values(config, critics, obs, action), axis=0)


def target_entropy(config: SACConfig, act_dim: int) -> float:
    """The entropy that the temperature aims at."""
    return -float(act_dim) if config.target_entropy is None else config.target_entropy
