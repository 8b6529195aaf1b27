"""An environment as an id, a path, an instance or a function; noise, time limits, and what is known of it."""

import sys

import gymnasium
import numpy as np
import pytest

from macura.core import UserError
from macura.envs import EnvConfig, Task, resolve, termination
from tests.fakes import envs as fakes


def episode(bridge, seed, action=0.3):
    rows = [bridge.reset(seed)]
    for _ in range(30):
        outcome = bridge.step(np.full(bridge.act_dim, action, np.float32))
        rows.append(np.append(outcome.obs, np.float64(outcome.reward)))
    return np.concatenate(rows)


def test_an_environment_comes_as_id_path_instance_class_or_function():
    instance = fakes.Point()
    config = EnvConfig("tests.fakes.envs:point")
    tasks = [
        Task(config),
        Task(config, instance),
        Task(config, fakes.Point),
        Task(config, lambda: fakes.Point()),
    ]
    assert [task.independent for task in tasks] == [True, False, True, True]
    first, *others = (episode(task.make(), seed=4) for task in tasks)
    for other in others:
        np.testing.assert_array_equal(first, other)
    assert Task(EnvConfig("Pendulum-v1")).make().obs_dim == 3


def test_a_task_that_is_not_installed_here_fails_only_when_it_is_made():
    task = Task(EnvConfig("NobodyKnows-v7"))
    assert task.independent
    assert task.builtin_termination is None
    for use in (task.resolved, task.make, task.physics):
        with pytest.raises(UserError, match="There is no environment 'NobodyKnows-v7'"):
            use()


def test_one_instance_is_shared_and_never_closed():
    instance = fakes.Point()
    task = Task(EnvConfig("mine:Point"), instance)
    one, two = task.make(), task.make()
    one.reset(0)
    two.reset(0)
    one.step(np.zeros(1, np.float32))
    assert instance.steps == 1
    one.close()
    two.close()
    assert not instance.closed
    made = Task(EnvConfig("tests.fakes.envs:point")).make()
    made.close()
    assert made.env.unwrapped.closed


@pytest.mark.parametrize(
    ("config", "given", "message"),
    [
        (
            EnvConfig("HalfCheta-v5"),
            None,
            "There is no environment 'HalfCheta-v5'. Did you mean 'HalfCheetah-v5'?",
        ),
        (EnvConfig("Hopper"), None, "Did you mean 'Hopper-v5'?"),
        (EnvConfig("Hopper-v2"), None, "Did you mean 'Hopper-v5'?"),
        (EnvConfig("macura/Pendulum"), None, "Did you mean 'macura/Pendulum-v0'?"),
        (EnvConfig("dm_control/cartpole-swing-v0"), None, "Did you mean 'dm_control/cartpole-swingup-v0'?"),
        (EnvConfig("no_such_module:make"), None, "No module named 'no_such_module'"),
        (EnvConfig("no_such_module:Thing-v0"), None, "No module named 'no_such_module'"),
        (EnvConfig("tests.fakes.envs:pointt"), None, "Did you mean 'point'?"),
        (EnvConfig("tests.fakes.envs:not_a_function"), None, "is not a function"),
        (
            EnvConfig("tests.fakes.envs:fails"),
            None,
            "failed to make an environment (ValueError: no such robot)",
        ),
        (EnvConfig("tests.fakes.envs:makes_nothing"), None, "returned NoneType, not an environment"),
        (EnvConfig("mine"), 3, "A int is not an environment"),
        (EnvConfig("mine"), fakes.fails, "no such robot"),
        (EnvConfig("CartPole-v1"), None, "The actions of CartPole-v1 are Discrete(2)"),
        (EnvConfig("tests.fakes.envs:discrete", action_noise=0.1), None, "Discrete(3)"),
        (EnvConfig("Hopper-v5", action_noise=-0.1), None, "--env.action-noise 0.1"),
        (EnvConfig("Hopper-v5", action_noise=float("nan")), None, "--env.action-noise 0.1"),
        (EnvConfig("Hopper-v5", time_limit=0), None, "--env.time-limit 1000"),
        (EnvConfig("Hopper-v5", contact_cost=True), None, "only Ant and Humanoid"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(config, given, message):
    with pytest.raises(UserError) as caught:
        Task(config, given).make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_function_in_the_current_directory_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != ""])
    (tmp_path / "my_robot_here.py").write_text(
        "from tests.fakes.envs import Point\ndef build():\n    return Point()\n"
    )
    assert Task(EnvConfig("my_robot_here:build")).make().obs_dim == 2


def test_a_module_that_registers_an_id_is_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    lines = "import gymnasium\ngymnasium.register('Mine-v3', 'tests.fakes.envs:Point', max_episode_steps=7)\n"
    (tmp_path / "my_registered.py").write_text(lines)
    try:
        assert Task(EnvConfig("my_registered:Mine-v3")).make().time_limit == 7
    finally:
        gymnasium.registry.pop("Mine-v3", None)


def test_defaults_are_filled_in_and_nothing_else():
    assert resolve(EnvConfig("Ant-v5")).contact_cost is False
    assert resolve(EnvConfig("Humanoid-v4", contact_cost=True)).contact_cost is True
    for env_id in ("Hopper-v5", "some.module:function"):
        assert resolve(EnvConfig(env_id)) == EnvConfig(env_id)
    for env_id in ("Ant-v4", "Hopper-v4"):
        assert resolve(resolve(EnvConfig(env_id))) == resolve(EnvConfig(env_id))


@pytest.mark.parametrize("given", [None, fakes.Endless, "instance"])
def test_a_time_limit_of_ones_own_cuts_but_does_not_terminate(given):
    env = fakes.Endless() if given == "instance" else given
    bridge = Task(EnvConfig("Pendulum-v1" if given is None else "mine:env", time_limit=5), env).make()
    assert bridge.time_limit == 5
    bridge.reset(0)
    ends = [bridge.step(np.zeros(1, np.float32))[2:] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]


def test_a_time_limit_may_be_longer_than_the_usual_one():
    assert Task(EnvConfig("Hopper-v5", time_limit=5000)).make().time_limit == 5000


def test_action_noise_has_the_asked_for_size_in_units_of_half_the_range():
    bounds = gymnasium.spaces.Box(np.array([-4.0, 10.0]), np.array([4.0, 30.0]), dtype=np.float64)
    env = fakes.Point(action_space=bounds)
    bridge = Task(EnvConfig("mine:env", action_noise=0.1), env).make()
    bridge.reset(0)
    received = []
    for _ in range(5000):
        bridge.step(np.array([0.2, -0.3], np.float32))
        received.append(env.received)
    np.testing.assert_allclose(np.mean(received, axis=0), [0.8, 17.0], atol=0.06)
    np.testing.assert_allclose(np.std(received, axis=0), [0.4, 1.0], rtol=0.04)
    assert abs(np.corrcoef(np.transpose(received))[0, 1]) < 0.05


def test_action_noise_stays_within_the_bounds_and_repeats_under_a_seed():
    task = Task(EnvConfig("tests.fakes.envs:point", action_noise=0.5))
    one, two, clean = task.make(), task.make(), Task(EnvConfig("tests.fakes.envs:point")).make()
    episode(one, seed=1)  # whatever happened before does not matter
    np.testing.assert_array_equal(episode(one, seed=3), episode(two, seed=3))
    assert np.abs(episode(one, seed=3) - episode(one, seed=4)).max() > 1e-3
    assert np.abs(episode(one, seed=3) - episode(clean, seed=3)).max() > 1e-3
    one.reset(0)
    for _ in range(50):
        one.step(np.ones(1, np.float32))
        assert one.env.unwrapped.received.dtype == np.float32
        assert -1.0 <= one.env.unwrapped.received.item() <= 1.0


def test_the_built_in_termination_is_used_only_where_it_holds():
    def known(config, given=None):
        return Task(config, given).builtin_termination

    hopper = EnvConfig("Hopper-v5")
    assert known(hopper) is termination("Hopper-v5")
    assert known(hopper, gymnasium.make("Hopper-v5")) is termination("Hopper-v5")
    assert known(hopper, gymnasium.make("Hopper-v5", ctrl_cost_weight=0.1)) is termination("Hopper-v5")
    assert known(hopper, gymnasium.make("Hopper-v5", terminate_when_unhealthy=False)) is None
    assert known(hopper, gymnasium.wrappers.FlattenObservation(gymnasium.make("Hopper-v5"))) is None
    assert known(hopper, lambda: gymnasium.make("Hopper-v5")) is None
    assert known(EnvConfig("mine:env"), fakes.Point()) is None
    assert known(EnvConfig("MountainCarContinuous-v0")) is None
    with pytest.raises(
        UserError, match=r"no built-in termination function for 'Hoper-v5'\. Did you mean 'Hopper-v5'"
    ):
        termination("Hoper-v5")


def test_the_physics_version_is_known_where_mujoco_computes():
    import mujoco

    assert Task(EnvConfig("Hopper-v5")).physics() == {"mujoco": mujoco.__version__}
    task = Task(EnvConfig("Pendulum-v1"))
    task.make()
    assert task.physics() == {}
