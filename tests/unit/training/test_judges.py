"""Termination and reward: built in, never, given, named, for JAX or for NumPy, and refused when they are wrong."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import presets
from macura.core import UserError
from macura.envs import Task
from macura.training import Judges
from macura.training.judges import resolve

HERE = __name__
HOPPER = presets.build("macura", "Hopper-v5")
OBS = jnp.array([[1.25] + [0.0] * 10, [0.1] + [0.0] * 10])


def low(next_obs):
    return next_obs[..., 0] < 0.7


def low_in_numpy(next_obs):
    return np.array([row[0] < 0.7 for row in np.asarray(next_obs).tolist()])


def number(next_obs):
    return next_obs[..., 0]


def single(next_obs):
    return jnp.any(next_obs < 0.7)


def broken(next_obs):
    raise RuntimeError("out of order")


def pay(obs, action, next_obs):
    return next_obs[..., 0] - jnp.sum(jnp.square(action), -1)


def judged(given=None, config=HOPPER, **named):
    imagination = replace(config.imagination, **named)
    config = replace(config, imagination=imagination)
    return resolve(config, Task(config.env), 11, 3, given)


def test_plain_sac_judges_nothing():
    config = presets.build("sac", "Hopper-v5")
    assert resolve(config, Task(config.env), 11, 3) == Judges()


def test_a_known_task_brings_its_termination():
    assert judged().terminate(OBS).tolist() == [False, True]
    assert judged().reward is None


def test_an_unknown_task_learns_it():
    config = presets.build("macura", "MountainCarContinuous-v0")
    assert resolve(config, Task(config.env), 2, 1) == Judges()


def test_learned_and_never():
    assert judged(termination="learned").terminate is None
    never = judged(termination="never").terminate
    assert never(OBS).tolist() == [False, False]


@pytest.mark.parametrize("function", [low, low_in_numpy])
def test_a_function_given_in_python(function):
    """One written for NumPy is called back from the compiled program."""
    terminate = judged(Judges(terminate=function)).terminate
    assert jax.jit(terminate)(OBS).tolist() == [False, True]


def test_a_numpy_function_may_write_into_what_it_is_given():
    def shifted(next_obs):
        next_obs -= np.float32(0.7)
        return low_in_numpy(next_obs + 0.7)

    def in_numpy(next_obs):
        return shifted(next_obs) if isinstance(next_obs, np.ndarray) else np.asarray(next_obs)

    assert jax.jit(judged(Judges(terminate=in_numpy)).terminate)(OBS).tolist() == [False, True]


def test_functions_by_name(tmp_path, monkeypatch):
    (tmp_path / "my_judges.py").write_text(
        "def ends(next_obs):\n    return next_obs[..., 0] < 0.7\n\n\n"
        "def pays(obs, action, next_obs):\n    return next_obs[..., 0] + action[..., 0]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    judges = judged(termination="my_judges:ends", reward="my_judges:pays")
    assert jax.jit(judges.terminate)(OBS).tolist() == [False, True]
    np.testing.assert_allclose(jax.jit(judges.reward)(OBS, jnp.ones((2, 3)), OBS), [2.25, 1.1])


def test_a_reward_given_in_python():
    reward = judged(Judges(reward=pay)).reward
    np.testing.assert_allclose(jax.jit(reward)(OBS, jnp.ones((2, 3)), OBS), [-1.75, -2.9], rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "named", "answer"),
    [
        (Judges(terminate=number), {}, "returns float32"),
        (Judges(terminate=single), {}, "returns shape ()"),
        (Judges(terminate=broken), {}, "out of order"),
        (Judges(reward=lambda o, a, n: n), {}, "returns shape (2, 11)"),
        (None, {"termination": "no_such_module:f"}, "cannot be imported"),
        (None, {"termination": "math:no_such_function"}, "cannot be imported"),
        (None, {"reward": "math:pi"}, "is not a function"),
        (None, {"reward": ":f"}, "cannot be imported"),
    ],
    ids=["number", "one_for_all", "fails", "shape", "no_module", "no_name", "no_function", "half_a_path"],
)
def test_refused_in_one_line(given, named, answer):
    with pytest.raises(UserError) as caught:
        judged(given, **named)
    assert answer in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["returns numbers", "returns one for all", "fails"])
def test_a_numpy_function_is_refused_alike(kind):
    answers = {"returns numbers": np.zeros(2), "returns one for all": np.bool_(True)}

    def function(next_obs):
        first = float(next_obs[0, 0])  # JAX cannot trace this
        return answers[kind] if kind in answers else 1 / (first - first)

    with pytest.raises(UserError) as caught:
        judged(Judges(terminate=function))
    assert "\n" not in str(caught.value)
