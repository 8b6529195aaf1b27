"""Each termination function against the simulator's `terminated`, on both sides of every bound of the task."""

import jax
import numpy as np
import pytest

from macura.envs import TERMINATIONS, make
from tests.domain.transitions import BOUNDS, collect, disagreement

NEAR = [(env_id, bound) for env_id in TERMINATIONS for bound in BOUNDS.get(env_id[:-3], [])]
ENDLESS = [env_id for env_id in TERMINATIONS if env_id[:-3] not in BOUNDS]


def named(parameter):
    return parameter if isinstance(parameter, str) else f"{parameter.name} {parameter.value:g}"


@pytest.mark.parametrize(("env_id", "bound"), NEAR, ids=named)
def test_near_a_bound_the_function_agrees_with_the_simulator(env_id, bound):
    seen = collect(env_id, 1000, bound)
    near = np.abs(seen.measured - bound.value) < 2 * bound.width
    assert np.sum(near & (seen.measured < bound.value)) >= 30
    assert np.sum(near & (seen.measured > bound.value)) >= 30
    assert seen.terminated[near].any()
    differs = disagreement(env_id, seen)
    if bound.name == "velocity":
        # Hopper ends at velocities of 100, but shows them clipped to 10: exactly those ends cannot be seen.
        seen_to_end = np.asarray(TERMINATIONS[env_id](seen.next_obs))
        np.testing.assert_array_equal(seen.terminated, seen_to_end | (seen.fastest >= 100.0))
        assert 10 < differs.sum() < 100
        assert seen.terminated[differs].all()
    else:
        assert not seen.terminated[near].all()
        assert differs.sum() == 0


@pytest.mark.parametrize("env_id", TERMINATIONS)
def test_in_ordinary_play_the_function_agrees_with_the_simulator(env_id):
    seen = collect(env_id, 1500, seed=1)
    assert disagreement(env_id, seen).sum() == 0
    assert seen.terminated.any() == (env_id in {*TERMINATIONS} - {*ENDLESS})


def test_every_task_with_an_end_has_its_bounds_tested():
    tasks = {env_id[:-3] for env_id in TERMINATIONS if TERMINATIONS[env_id].__name__ != "never"}
    assert tasks == BOUNDS.keys()
    assert {"HalfCheetah-v5", "Swimmer-v4", "Reacher-v5", "Pusher-v5", "Pendulum-v1"} <= {*ENDLESS}


@pytest.mark.parametrize("env_id", TERMINATIONS)
def test_one_observation_a_batch_and_a_compiled_batch_give_the_same(env_id):
    function = TERMINATIONS[env_id]
    width = make(env_id).observation_space.shape[0]
    rows = np.random.default_rng(0).uniform(-2.0, 2.0, (4, 5, width)).astype(np.float32)
    rows[..., 0] = np.random.default_rng(1).uniform(0.0, 2.2, (4, 5))
    rows[..., 1] /= 5
    together = function(rows)
    assert together.shape == (4, 5)
    assert together.dtype == np.bool_
    np.testing.assert_array_equal(jax.jit(function)(rows), together)
    np.testing.assert_array_equal(function(rows[2, 3]), together[2, 3])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("env_id", TERMINATIONS)
def test_a_broken_state_has_ended_wherever_a_task_can_end(env_id, bad):
    width = make(env_id).observation_space.shape[0]
    broken = np.full((width,), bad, np.float32)
    with np.errstate(invalid="ignore"):
        assert bool(TERMINATIONS[env_id](broken)) == (env_id not in ENDLESS)
