"""The paper's tasks: what is observed, what contacts cost, and that making them is quiet and repeatable."""

import importlib

import gymnasium
import numpy as np
import pytest

from macura.core import UserError
from macura.envs import EnvConfig, Task, make

MUJOCO = ("HalfCheetah", "Hopper", "Walker2d", "Ant", "Humanoid")
SIZES = {"HalfCheetah": (17, 6), "Hopper": (11, 3), "Walker2d": (17, 6), "Ant": (27, 8), "Humanoid": (45, 17)}
IDS = [f"{task}-v{version}" for task in MUJOCO for version in (4, 5)]


def steps(env, count, seed=0):
    """Random steps from a reset; (obs, reward) after each, episodes begun anew where they end."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(count):
        action = rng.uniform(env.action_space.low, env.action_space.high).astype(np.float32)
        obs, reward, terminated, truncated, _ = env.step(action)
        yield obs, reward, action, terminated
        if terminated or truncated:
            env.reset()


@pytest.mark.parametrize("env_id", IDS)
def test_sizes_are_those_of_the_paper(env_id):
    bridge = Task(EnvConfig(env_id)).make()
    assert (bridge.obs_dim, bridge.act_dim) == SIZES[env_id[:-3]]
    assert bridge.time_limit == 1000
    limit = 0.4 if env_id.startswith("Humanoid") else 1.0
    np.testing.assert_allclose(bridge.action_high, limit, rtol=1e-6)
    np.testing.assert_allclose(bridge.action_low, -limit, rtol=1e-6)


@pytest.mark.parametrize("contact_cost", [False, True])
@pytest.mark.parametrize("env_id", ["Ant-v4", "Ant-v5", "Humanoid-v4", "Humanoid-v5"])
def test_ant_and_humanoid_show_positions_and_velocities_only(env_id, contact_cost):
    env = make(env_id, contact_cost=contact_cost)
    obs, _ = env.reset(seed=0)
    seen = [obs]
    data = env.unwrapped.data
    np.testing.assert_array_equal(obs, np.concatenate([data.qpos[2:], data.qvel]))
    for obs, *_, terminated in steps(env, 100):
        seen.append(obs)
        if not terminated:
            np.testing.assert_array_equal(obs, np.concatenate([data.qpos[2:], data.qvel]))
        assert env.observation_space.contains(obs)
    assert np.std(seen, axis=0).min() > 0


@pytest.mark.parametrize("env_id", ["Ant-v4", "Ant-v5", "Humanoid-v4", "Humanoid-v5"])
def test_contacts_cost_what_the_formula_says_or_nothing(env_id):
    free, charged = make(env_id), make(env_id, contact_cost=True)
    costs = []
    for (obs, reward, *_), (same, lower, *_) in zip(steps(free, 150), steps(charged, 150), strict=True):
        forces = charged.unwrapped.data.cfrc_ext
        if env_id.startswith("Ant"):
            cost = 5e-4 * np.sum(np.clip(forces, -1, 1) ** 2)
        else:
            cost = min(5e-7 * np.sum(forces**2), 10.0)
        np.testing.assert_array_equal(obs, same)
        # Both environments reset themselves alike, so the forces are those of this very step, unless it was the last.
        if np.array_equal(
            obs, np.concatenate([charged.unwrapped.data.qpos[2:], charged.unwrapped.data.qvel])
        ):
            assert reward - lower == pytest.approx(cost, abs=1e-12)
            costs.append(cost)
    assert len(costs) > 100
    assert max(costs) > 1e-3


@pytest.mark.parametrize("env_id", ["Ant-v5", "Humanoid-v5"])
def test_without_contact_cost_the_reward_is_forward_plus_alive_minus_control(env_id):
    env = make(env_id)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    before = env.unwrapped.data.qpos[0]
    for _ in range(20):
        action = rng.uniform(env.action_space.low, env.action_space.high)
        _, reward, _, _, info = env.step(action)
        assert reward == pytest.approx(info["reward_forward"] + info["reward_survive"] + info["reward_ctrl"])
        weight = 0.5 if env_id.startswith("Ant") else 0.1
        assert info["reward_ctrl"] == pytest.approx(-weight * np.sum(action**2))
    assert env.unwrapped.data.qpos[0] != before


@pytest.mark.parametrize(
    "env_id", [*IDS, "InvertedPendulum-v5", "Pendulum-v1", "dm_control/cartpole-swingup-v0"]
)
def test_a_seeded_reset_forgets_everything_before_it(env_id):
    task = Task(EnvConfig(env_id, action_noise=0.1))

    def rows(bridge):
        rng = np.random.default_rng(0)
        yield bridge.reset(7)
        for _ in range(40):
            outcome = bridge.step(rng.uniform(-1, 1, bridge.act_dim).astype(np.float32))
            yield np.append(outcome.obs, outcome.reward)

    used, fresh = task.make(), task.make()
    used.reset(1)
    for _ in range(60):
        used.step(np.ones(used.act_dim, np.float32))
    for first, again in zip(rows(used), rows(fresh), strict=True):
        np.testing.assert_array_equal(first, again)


def test_options_reach_the_constructor():
    assert make("Hopper-v5", reset_noise_scale=0.5).unwrapped._reset_noise_scale == 0.5
    assert make("Pendulum-v1", render_mode="rgb_array").render_mode == "rgb_array"
    assert make("Ant-v5", contact_cost_weight=0.25).unwrapped._contact_cost_weight == 0.25
    with pytest.raises(UserError, match=r"Hopper-v5 cannot be made: .*gravitas"):
        make("Hopper-v5", gravitas=3)


def test_making_the_tasks_says_nothing(capfd, recwarn):
    for env_id in ("HalfCheetah-v5", "HalfCheetah-v4", "Ant-v4", "dm_control/cartpole-swingup-v0"):
        Task(EnvConfig(env_id)).make()
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""
    assert [str(warning.message) for warning in recwarn] == []


def test_other_warnings_of_mujoco_still_arrive(monkeypatch):
    import mujoco

    gymnasium_make = gymnasium.make

    def make_with_trouble(*arguments, **options):
        mujoco.get_mju_user_warning()("settotalmass is deprecated")
        mujoco.get_mju_user_warning()("the model is odd")
        return gymnasium_make(*arguments, **options)

    monkeypatch.setattr(gymnasium, "make", make_with_trouble)
    with pytest.warns(RuntimeWarning, match="MuJoCo: the model is odd") as caught:
        make("HalfCheetah-v5")
    assert len(caught) == 1


def test_deepmind_control_is_flattened_and_cut_after_a_thousand_steps():
    bridge = Task(EnvConfig("dm_control/cartpole-swingup-v0")).make()
    assert (bridge.obs_dim, bridge.act_dim) == (5, 1)
    obs = bridge.reset(0)
    inner = bridge.env.unwrapped
    outcomes = [bridge.step(np.full(1, np.sin(k / 20), np.float32)) for k in range(1000)]
    shown = inner.physics.bounded_position(), inner.physics.velocity()
    np.testing.assert_allclose(outcomes[-1].obs, np.concatenate(shown), rtol=1e-6)
    assert obs.shape == (5,)
    assert all(0.0 <= outcome.reward <= 1.0 for outcome in outcomes)
    assert [outcome.truncated for outcome in outcomes] == [False] * 999 + [True]
    assert not any(outcome.terminated for outcome in outcomes)
    bridge.close()


def test_what_is_not_installed_is_named_with_what_to_type(monkeypatch):
    def without(missing):
        real = importlib.import_module

        def refuse(name, *arguments):
            if name.startswith(missing):
                raise ModuleNotFoundError(f"No module named {name!r}")
            return real(name, *arguments)

        return refuse

    for missing in ("dm_control", "shimmy"):
        monkeypatch.setattr(importlib, "import_module", without(missing))
        with pytest.raises(UserError, match=r"pip install 'macura\[dmc\]'"):
            make("dm_control/cartpole-swingup-v0")
    monkeypatch.setattr(importlib, "import_module", without("gymnasium.envs.mujoco"))
    with pytest.raises(UserError, match=r"Hopper-v5 needs MuJoCo.*pip install 'mujoco>=3\.3\.3,<4'"):
        make("Hopper-v5")

    def no_box2d(*_, **__):
        raise gymnasium.error.DependencyNotInstalled(
            "Box2D is not installed,\nrun `pip install gymnasium[box2d]`"
        )

    monkeypatch.setattr(gymnasium, "make", no_box2d)
    with pytest.raises(
        UserError, match=r"needs a package .*: Box2D is not installed, run `pip install gymnasium"
    ):
        make("BipedalWalker-v3")
