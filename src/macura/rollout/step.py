"""One step of imagination: act, predict, draw a member, sample, and say how unsure the members are."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from macura import dynamics, uncertainty
from macura.core import PRNGKey, Transition
from macura.dynamics import ModelConfig, ModelState, Outputs
from macura.rollout.config import RolloutConfig

PolicySample = Callable[[Float[Array, "batch obs"], PRNGKey], Float[Array, "batch act"]]
Terminate = Callable[[Array], Array]
Reward = Callable[[Array, Array, Array], Array]


class Imagined(NamedTuple):
    """One imagined transition of every row, and what the members say about it; 0 where they were not asked."""

    transition: Transition
    uncertainty: Float[Array, "batch"]
    mean_variance: Float[Array, "batch"]


ImaginedStep = Callable[[Float[Array, "batch obs"], PRNGKey], Imagined]


class Drawn(NamedTuple):
    """The Gaussian of the member drawn for each row, and the probability that the episode ends, if it is learned."""

    mean: Float[Array, "batch out"]
    logvar: Float[Array, "batch out"]
    termination: Float[Array, "batch"] | None
    uncertainty: Float[Array, "batch"]
    mean_variance: Float[Array, "batch"]


def model_step(
    config: RolloutConfig,
    model_config: ModelConfig,
    outputs: Outputs,
    model: ModelState,
    policy_sample: PolicySample,
    terminate: Terminate | None,
    reward: Reward | None,
) -> ImaginedStep:
    """s' and r from N(mu_e, sigma_e^2) of a member e that is drawn for every row and step, a from the policy.

    Termination and reward come from the functions given, else from the model. A reward is stored with its penalty.
    """

    def step(obs: Float[Array, "batch obs"], key: PRNGKey) -> Imagined:
        action_key, member_key, sample_key, end_key = jax.random.split(key, 4)
        action = policy_sample(obs, action_key)
        draw = one_member if config.measure is None else all_members
        drawn = draw(config, model_config, outputs, model, obs, action, member_key)
        noise = jax.random.normal(sample_key, drawn.mean.shape, jnp.float32)
        sample = drawn.mean + jnp.exp(0.5 * drawn.logvar) * noise
        next_obs, learned_reward = dynamics.to_transition(model_config, outputs, obs, sample)
        gain = learned_reward if reward is None else reward(obs, action, next_obs)
        assert gain is not None, "a model without a reward output needs a reward function"
        if terminate is not None:
            ends = terminate(next_obs)
        else:
            assert drawn.termination is not None, (
                "a model without a termination head needs a termination function"
            )
            ends = jax.random.uniform(end_key, drawn.termination.shape) < drawn.termination
        if config.penalty:
            gain = gain - config.penalty * drawn.uncertainty
        transition = Transition(obs, action, gain, next_obs, ends)
        return Imagined(transition, drawn.uncertainty, drawn.mean_variance)

    return step


def all_members(
    config: RolloutConfig,
    model_config: ModelConfig,
    outputs: Outputs,
    model: ModelState,
    obs: Float[Array, "batch obs"],
    action: Float[Array, "batch act"],
    key: PRNGKey,
) -> Drawn:
    """Every member predicts every row; each row draws one of them, independently. It ends by their mean probability."""
    assert config.measure is not None
    draw_key, measure_key = jax.random.split(key)
    rows = obs.shape[0]
    prediction = dynamics.predict(outputs, model, obs, action)
    gaussians = prediction.gaussians
    member = jax.random.randint(draw_key, (rows,), 0, gaussians.mean.shape[0])
    own = jax.tree.map(lambda of_all: of_all[member, jnp.arange(rows)], gaussians)
    ends = prediction.termination
    return Drawn(
        *own,
        termination=None if ends is None else jnp.mean(jax.nn.sigmoid(ends), axis=0),
        uncertainty=uncertainty.measure(config.measure)(gaussians, member, measure_key),
        mean_variance=uncertainty.mean_variance(*gaussians),
    )


def one_member(
    config: RolloutConfig,
    model_config: ModelConfig,
    outputs: Outputs,
    model: ModelState,
    obs: Float[Array, "batch obs"],
    action: Float[Array, "batch act"],
    key: PRNGKey,
) -> Drawn:
    """Rows are dealt out at random in equal shares, and every member (every elite, if there are) predicts its own."""
    if model_config.elites is not None:
        networks = jax.tree.map(lambda leaf: leaf[model.elites], model.parameters.networks)
        model = model._replace(parameters=model.parameters._replace(networks=networks))
    rows, members = obs.shape[0], model.elites.shape[0]
    share = -(-rows // members)
    seat = jax.random.permutation(key, members * share)[:rows]
    dealt = jnp.zeros(members * share, jnp.int32).at[seat].set(jnp.arange(rows), unique_indices=True)

    def deal(x: Float[Array, "batch column"]) -> Float[Array, "member share column"]:
        return x[dealt].reshape(members, share, -1)

    prediction = dynamics.predict_own(outputs, model, deal(obs), deal(action))

    def collect(y: Float[Array, "member share ..."]) -> Float[Array, "batch ..."]:
        return y.reshape(members * share, *y.shape[2:])[seat]

    ends = prediction.termination
    nothing = jnp.zeros(rows, jnp.float32)
    return Drawn(
        mean=collect(prediction.gaussians.mean),
        logvar=collect(prediction.gaussians.logvar),
        termination=None if ends is None else jax.nn.sigmoid(collect(ends)),
        uncertainty=nothing,
        mean_variance=nothing,
    )
