"""The imagined step on ensembles whose predictions are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import dynamics, uncertainty
from macura.dynamics import ModelConfig, Outputs
from macura.rollout import KeepAll, RolloutConfig, model_step

OBS, ACT, MEMBERS, ROWS = 3, 2, 5, 4000
CERTAIN = ModelConfig(members=MEMBERS, width=8, hidden_layers=1, min_logvar=-40.0, max_logvar=-39.0)
OUTPUTS = Outputs(OBS, ACT)
ALL = RolloutConfig(rollouts=ROWS, gate=KeepAll(), measure="geometric_js_dual")
ONE = RolloutConfig(rollouts=ROWS, gate=KeepAll(), measure=None)


def policy(obs, key):
    return jnp.tanh(obs[:, :ACT] + jax.random.normal(key, (obs.shape[0], ACT)))


def never(next_obs):
    return jnp.zeros(next_obs.shape[0], jnp.bool_)


def imagine(config, model_config, model, outputs=OUTPUTS, terminate=never, reward=None, rows=ROWS, seed=0):
    step = model_step(config, model_config, outputs, model, policy, terminate, reward)
    obs = jax.random.normal(jax.random.key(9), (rows, OBS))
    return jax.jit(step)(obs, jax.random.key(seed))


def drawn_members(model_config, model, imagined):
    """Which member's mean each transition is, if the members are certain; exactly one must fit."""
    transition = imagined.transition
    means = dynamics.predict(OUTPUTS, model, transition.obs, transition.action).gaussians.mean
    sampled = jnp.concatenate([transition.next_obs - transition.obs, transition.reward[:, None]], axis=1)
    fits = np.asarray(jnp.max(jnp.abs(means - sampled), axis=-1) < 1e-5)
    assert (fits.sum(axis=0) == 1).all()
    return fits.argmax(axis=0)


@pytest.mark.parametrize("config", [ALL, ONE], ids=["all members", "one member"])
def test_each_row_follows_one_member_drawn_uniformly_and_anew(config):
    model = dynamics.init(CERTAIN, OUTPUTS, jax.random.key(0))
    first, second = (
        drawn_members(CERTAIN, model, imagine(config, CERTAIN, model, seed=seed)) for seed in (0, 1)
    )
    for member in (first, second):
        share = np.bincount(member, minlength=MEMBERS) / ROWS
        np.testing.assert_allclose(share, 1 / MEMBERS, atol=0.0 if config is ONE else 0.03)
    assert abs(np.mean(first == second) - 1 / MEMBERS) < 0.03  # drawn anew
    assert abs(np.mean(first[1:] == first[:-1]) - 1 / MEMBERS) < 0.03  # whatever the neighbour draws


@pytest.mark.parametrize("rows", [1, 4, 11])
def test_rows_need_not_divide_among_members(rows):
    model = dynamics.init(CERTAIN, OUTPUTS, jax.random.key(0))
    member = drawn_members(CERTAIN, model, imagine(ONE, CERTAIN, model, rows=rows))
    assert member.shape == (rows,) and np.bincount(member).max() <= -(-rows // MEMBERS)


def test_only_elites_predict_where_one_member_does():
    config = ModelConfig(**{**CERTAIN.__dict__, "elites": 2})
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))._replace(elites=jnp.asarray([3, 1]))
    member = drawn_members(config, model, imagine(ONE, config, model))
    assert np.bincount(member).tolist() == [0, ROWS // 2, 0, ROWS // 2]


def test_sample_has_the_variance_of_the_member():
    config = ModelConfig(members=2, width=8, hidden_layers=1, min_logvar=-1.01, max_logvar=-1.0)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    config_one = RolloutConfig(rollouts=ROWS, gate=KeepAll(), measure=None)
    for rollouts in (ALL, config_one):
        transition = imagine(rollouts, config, model).transition
        prediction = dynamics.predict(OUTPUTS, model, transition.obs, transition.action).gaussians
        expected = jnp.mean(jnp.exp(prediction.logvar)) + jnp.mean(jnp.var(prediction.mean, axis=0))
        sampled = jnp.concatenate([transition.next_obs - transition.obs, transition.reward[:, None]], axis=1)
        noise = sampled - jnp.mean(prediction.mean, axis=0)
        np.testing.assert_allclose(jnp.var(noise), expected, rtol=0.05)
        correlation = np.corrcoef(np.asarray(noise).T) - np.eye(OBS + 1)
        assert np.abs(correlation).max() < 0.1


def test_uncertainty_is_the_measure_of_all_outputs_and_lowers_the_reward():
    config = ModelConfig(members=MEMBERS, width=8, hidden_layers=1)
    model = dynamics.init(config, OUTPUTS, jax.random.key(0))
    plain = imagine(ALL, config, model)
    prediction = dynamics.predict(OUTPUTS, model, plain.transition.obs, plain.transition.action).gaussians
    assert prediction.mean.shape[-1] == OBS + 1
    np.testing.assert_allclose(plain.uncertainty, uncertainty.geometric_js_dual(*prediction), rtol=1e-4)
    np.testing.assert_allclose(plain.mean_variance, uncertainty.mean_variance(*prediction), rtol=1e-4)
    penalised = imagine(RolloutConfig(gate=KeepAll(), measure=ALL.measure, penalty=3.0), config, model)
    lower = plain.transition.reward - 3.0 * plain.uncertainty
    np.testing.assert_allclose(penalised.transition.reward, lower, rtol=1e-5, atol=1e-6)


def test_one_vs_rest_is_that_of_the_member_drawn():
    model_config = ModelConfig(members=MEMBERS, width=8, hidden_layers=1, min_logvar=-16.0, max_logvar=-15.0)
    model = dynamics.init(model_config, OUTPUTS, jax.random.key(0))
    imagined = imagine(RolloutConfig(gate=KeepAll(), measure="one_vs_rest"), model_config, model)
    transition = imagined.transition
    prediction = dynamics.predict(OUTPUTS, model, transition.obs, transition.action).gaussians
    sampled = jnp.concatenate([transition.next_obs - transition.obs, transition.reward[:, None]], axis=1)
    nearest = jnp.argmin(jnp.sum(jnp.square(prediction.mean - sampled), axis=-1), axis=0)
    expected = uncertainty.one_vs_rest(*prediction, nearest)
    assert (
        np.mean(np.isclose(imagined.uncertainty, expected, rtol=1e-3)) > 0.97
    )  # rows between two members aside


def test_a_reward_function_replaces_the_output():
    outputs = Outputs(OBS, ACT, reward=False)
    model = dynamics.init(CERTAIN, outputs, jax.random.key(0))

    def reward(obs, action, next_obs):
        return obs[:, 0] + 10 * action[:, 1] + 100 * next_obs[:, 2]

    transition = imagine(ALL, CERTAIN, model, outputs, reward=reward).transition
    expected = reward(transition.obs, transition.action, transition.next_obs)
    np.testing.assert_allclose(transition.reward, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("config", [ALL, ONE], ids=["all members", "one member"])
def test_learned_termination_comes_as_often_as_the_members_say(config):
    outputs = Outputs(OBS, ACT, termination=True)
    model = dynamics.init(CERTAIN, outputs, jax.random.key(0))
    networks = model.parameters.networks
    logits = jax.scipy.special.logit(jnp.asarray([0.1, 0.2, 0.3, 0.4, 0.5]))
    weights = (*networks.weights[:-1], networks.weights[-1].at[..., -1].set(0.0))
    biases = (*networks.biases[:-1], networks.biases[-1].at[:, -1].set(logits))
    networks = type(networks)(weights, biases)
    model = model._replace(parameters=model.parameters._replace(networks=networks))
    transition = imagine(config, CERTAIN, model, outputs, terminate=None).transition
    assert transition.terminated.dtype == jnp.bool_
    np.testing.assert_allclose(jnp.mean(transition.terminated), 0.3, atol=0.03)


def test_a_termination_function_judges_the_next_observation():
    model = dynamics.init(CERTAIN, OUTPUTS, jax.random.key(0))
    transition = imagine(ALL, CERTAIN, model, terminate=lambda next_obs: next_obs[:, 0] > 0).transition
    assert transition.terminated.tolist() == (transition.next_obs[:, 0] > 0).tolist()
