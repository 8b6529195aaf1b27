"""The pendulum against other means: an adaptive integrator, the linear closed loop, reference vectors."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy.integrate import solve_ivp

from macura.envs import pendulum

START = np.array([3.0, 0.0])


def test_controller_and_first_step_match_the_reference_vector():
    torque = pendulum.controller(START)
    np.testing.assert_allclose(torque, [-7.6384387279], rtol=1e-10)
    np.testing.assert_allclose(pendulum.mean_step(START, torque), [2.99626277, -0.74614170], atol=5e-9)


def test_noise_free_spiral_ends_where_the_reference_says():
    state = START
    for _ in range(170):
        state = pendulum.mean_step(state, pendulum.controller(state))
    np.testing.assert_allclose(state, [-0.731215, -6.013512], atol=1e-6)


@pytest.mark.parametrize("state", [(3.0, 0.0), (-2.0, 15.0), (0.1, -7.0)])
def test_one_rk4_step_is_as_good_as_an_adaptive_integrator(state):
    state, torque = np.asarray(state), np.asarray([4.0])

    def slope(_, x):
        push = 4.0 + 0.1 * 9.81 * np.sin(x[0]) - 0.1 * x[1]
        return [x[1], push / 0.1]

    exact = solve_ivp(slope, (0.0, 0.01), state, rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(pendulum.mean_step(state, torque), exact, atol=1e-8)
    np.testing.assert_allclose(pendulum.mean_step(state, torque, substeps=100), exact, atol=1e-11)


def test_the_controller_makes_a_damped_spring_of_the_pendulum():
    states = np.random.default_rng(0).uniform([-3, -16], [3, 16], (200, 2))
    slopes = pendulum.derivative(states, pendulum.controller(states))
    np.testing.assert_allclose(slopes[:, 1], -25 * states[:, 0] - states[:, 1], atol=1e-12)
    assert np.abs(pendulum.controller(states)).max() < pendulum.TORQUE_LIMIT


def test_noise_has_the_covariance_of_the_paper():
    states = jnp.tile(jnp.asarray([1.0, 2.0]), (200_000, 1))
    torque = jnp.zeros((200_000, 1))
    drawn = jax.jit(pendulum.step)(states, torque, jax.random.key(0))
    noise = np.asarray(drawn, np.float64) - np.asarray(pendulum.mean_step(states, torque), np.float64)
    covariance = np.cov(noise.T)
    np.testing.assert_allclose(np.diag(covariance), [1e-6, 1e-3], rtol=0.02)
    assert abs(covariance[0, 1]) < 1e-2 * np.sqrt(1e-9)
    np.testing.assert_allclose(noise.mean(0), 0.0, atol=3e-4)


def test_jax_and_numpy_agree_and_batches_are_rows():
    states = np.random.default_rng(1).uniform([-3, -16], [3, 16], (4, 5, 2))
    together = pendulum.mean_step(jnp.asarray(states), pendulum.controller(jnp.asarray(states)))
    alone = pendulum.mean_step(states[2, 3], pendulum.controller(states[2, 3]))
    np.testing.assert_allclose(together[2, 3], alone, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*symmetric and normalized space.*")  # the action is a torque in N m
@pytest.mark.filterwarnings("ignore:.*maximum value is infinity.*")
@pytest.mark.filterwarnings("ignore:.*minimum value is -infinity.*")
def test_gymnasium_wrapper_passes_the_checker_and_repeats_under_a_seed():
    pendulum.register()
    pendulum.register()
    env = gymnasium.make("macura/Pendulum-v0")
    check_env(env.unwrapped, skip_render_check=True)

    def episode(seed):
        obs, _ = env.reset(seed=seed)
        rows, truncated = [obs], False
        while not truncated:
            obs, reward, terminated, truncated, _ = env.step(pendulum.controller(obs).astype(np.float32))
            assert not terminated
            assert reward == pytest.approx((1 + np.cos(obs[0])) / 2)
            rows.append(obs)
        return np.stack(rows)

    first, again, other = episode(3), episode(3), episode(4)
    assert first.shape == (171, 2)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3
    np.testing.assert_array_equal(first[0], [3.0, 0.0])
