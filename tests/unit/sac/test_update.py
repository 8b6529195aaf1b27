"""The update against its twin in NumPy: losses, gradients, optimisers, and the order of things."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import sac
from macura.core import Transition
from macura.nn import mlp
from tests.oracles import sac as oracle

OBS, ACT, ROWS, UPDATES = 3, 2, 16, 7
SCALE = np.array([0.4, 1.5], np.float32)
update = jax.jit(sac.update, static_argnums=0)
init = jax.jit(sac.init, static_argnums=(0, 1))


def batches(seed):
    rng = np.random.default_rng(seed)
    for _ in range(UPDATES):
        batch = Transition(
            obs=rng.normal(size=(ROWS, OBS)).astype(np.float32),
            action=rng.uniform(-1, 1, (ROWS, ACT)).astype(np.float32),
            reward=rng.normal(size=ROWS).astype(np.float32),
            next_obs=rng.normal(size=(ROWS, OBS)).astype(np.float32),
            terminated=rng.random(ROWS) < 0.3,
        )
        yield batch, rng.normal(size=(2, ROWS, ACT)).astype(np.float32)


def as_numpy(network):
    return [np.float64(w) for w in network.weights], [np.float64(b) for b in network.biases]


def members(critics):
    return [as_numpy(mlp.member(critics, i)) for i in range(2)]


def twin_of(config, learner):
    return oracle.Agent(
        as_numpy(learner.policy.actor),
        members(learner.critics),
        SCALE,
        rate=config.learning_rate,
        discount=config.discount,
        tau=config.target_rate,
        interval=config.target_interval,
        entropy=-float(ACT) if config.target_entropy is None else config.target_entropy,
        fixed_alpha=config.fixed_alpha,
    )


def assert_networks_equal(network, expected):
    for got, want in zip((*network.weights, *network.biases), (*expected[0], *expected[1]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        dict(),
        dict(target_interval=4, target_rate=0.3, target_entropy=-0.5),
        dict(fixed_alpha=0.2, discount=0.8, hidden_layers=1),
    ],
    ids=["learned temperature", "target interval", "fixed temperature"],
)
def test_every_update_matches_the_twin(settings):
    config = sac.SACConfig(width=8, learning_rate=1e-2, batch_size=ROWS, **settings)
    learner = init(config, OBS, jnp.asarray(SCALE), jax.random.key(3))
    twin = twin_of(config, learner)
    for batch, epsilon in batches(5):
        learner, info = update(config, learner, jax.tree.map(jnp.asarray, batch), jnp.asarray(epsilon))
        expected = twin.update(*map(np.asarray, batch), epsilon)
        got = [float(info[name]) for name in sac.no_metrics()]
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-5)
        assert_networks_equal(learner.policy.actor, twin.actor)
        for i in range(2):
            assert_networks_equal(mlp.member(learner.critics, i), twin.critics[i])
            assert_networks_equal(mlp.member(learner.target_critics, i), twin.targets[i])
        assert float(learner.log_alpha) == pytest.approx(twin.log_alpha, abs=1e-5)
    assert int(learner.updates) == UPDATES


def test_the_twins_gradients_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    sizes = (3, 5, 4, 2)
    pairs = list(itertools.pairwise(sizes))
    network = [rng.normal(size=p) for p in pairs], [rng.normal(size=p[1]) for p in pairs]
    x, direction = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))

    def loss(network, x):
        return (oracle.forward(network, x)[0] * direction).sum()

    (d_weights, d_biases), d_x = oracle.backward(network, oracle.forward(network, x)[1], direction)
    for array, gradient in zip((*network[0], *network[1], x), (*d_weights, *d_biases, d_x), strict=True):
        for place in np.ndindex(array.shape):
            before = array[place]
            array[place] = before + 1e-6
            up = loss(network, x)
            array[place] = before - 1e-6
            down = loss(network, x)
            array[place] = before
            assert (up - down) / 2e-6 == pytest.approx(gradient[place], abs=1e-6)


def test_truncation_is_no_termination():
    """Only `terminated` cuts the bootstrap: the target of a terminated row is its reward."""
    config = sac.SACConfig(width=8, batch_size=ROWS)
    learner = init(config, OBS, jnp.asarray(SCALE), jax.random.key(0))
    batch, epsilon = next(batches(1))
    batch = jax.tree.map(jnp.asarray, batch)._replace(terminated=jnp.arange(ROWS) < 4)
    target = sac.learner.bellman_target(config, learner, batch, jnp.asarray(epsilon[0]))
    np.testing.assert_array_equal(target[:4], batch.reward[:4])
    assert np.all(np.abs(target[4:] - batch.reward[4:]) > 1e-4)


def test_a_terminated_row_with_a_nonsense_next_state_does_no_harm():
    config = sac.SACConfig(width=8, batch_size=ROWS)
    learner = init(config, OBS, jnp.asarray(SCALE), jax.random.key(0))
    batch, epsilon = next(batches(1))
    batch = jax.tree.map(jnp.asarray, batch)
    nonsense = batch.next_obs.at[0].set(jnp.inf)
    batch = batch._replace(terminated=jnp.arange(ROWS) < 1, next_obs=nonsense)
    learner, info = update(config, learner, batch, jnp.asarray(epsilon))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((learner, info)))


@pytest.mark.parametrize("normalised", ["features", "critics", "all"])
def test_layer_norm_changes_the_networks_it_names_and_still_learns(normalised):
    config = sac.SACConfig(width=8, batch_size=ROWS, layer_norm=normalised)
    plain = sac.SACConfig(width=8, batch_size=ROWS)
    learner = init(config, OBS, jnp.asarray(SCALE), jax.random.key(0))
    batch, epsilon = next(batches(1))
    batch = jax.tree.map(jnp.asarray, batch)
    x = batch.obs, batch.action
    assert not np.allclose(
        sac.q_values(config, learner.critics, *x), sac.q_values(plain, learner.critics, *x)
    )
    silence = jnp.zeros((ROWS, len(SCALE)))
    counts = config.normalised_in_actor, plain.normalised_in_actor
    actions = [sac.act(learner.policy.actor, batch.obs, silence, count) for count in counts]
    assert np.allclose(*actions) == (normalised != "all")
    after, info = update(config, learner, batch, jnp.asarray(epsilon))
    assert np.isfinite(list(map(float, info.values()))).all()
    assert not np.allclose(after.policy.actor.weights[0], learner.policy.actor.weights[0])


def test_init():
    """Xavier bounds, zero biases, equal targets, two different critics, alpha = 1 or the fixed one."""
    config = sac.SACConfig(width=32)
    learner = init(config, OBS, jnp.asarray(SCALE), jax.random.key(0))
    actor, critics = learner.policy.actor, learner.critics
    assert [w.shape for w in actor.weights] == [(OBS, 32), (32, 32), (32, 2 * ACT)]
    assert [w.shape for w in critics.weights] == [(2, OBS + ACT, 32), (2, 32, 32), (2, 32, 1)]
    assert not any(np.any(b) for b in (*actor.biases, *critics.biases))
    for weight, fans in zip(actor.weights, ((OBS, 32), (32, 32), (32, ACT)), strict=True):
        limit = np.sqrt(6 / sum(fans))
        assert np.abs(weight).max() <= limit and np.abs(weight).max() > 0.9 * limit
    assert not np.allclose(critics.weights[0][0], critics.weights[0][1])
    for a, b in zip(jax.tree.leaves(critics), jax.tree.leaves(learner.target_critics), strict=True):
        np.testing.assert_array_equal(a, b)
    assert float(learner.log_alpha) == 0.0
    fixed = init(sac.SACConfig(width=4, fixed_alpha=0.2), OBS, jnp.asarray(SCALE), jax.random.key(0))
    assert float(jnp.exp(fixed.log_alpha)) == pytest.approx(0.2)


def test_target_entropy_is_minus_the_number_of_actions_unless_given():
    assert sac.target_entropy(sac.SACConfig(), 6) == -6.0
    assert sac.target_entropy(sac.SACConfig(target_entropy=0.0), 3) == 0.0
