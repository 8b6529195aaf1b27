"""The public classes: learn, predict, save, load, and the calls that others make of them."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import macura
from macura.core import UserError
from macura.rollout import Ranked
from macura.sac import SACConfig

TINY = {"preset": "quick", "warmup_steps": 4, "epoch_steps": 6, "sac": {"width": 8, "batch_size": 4}}


class Arm(gymnasium.Env):
    """Dictionaries seen, matrices done, actions between 0 and 4; five steps an episode."""

    def __init__(self):
        box = spaces.Box(-9.0, 9.0, (2,), np.float32)
        self.observation_space = spaces.Dict({"velocity": box, "angle": box})
        self.action_space = spaces.Box(0.0, 4.0, (2, 1), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.show(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.time += 1
        return self.show(), float(action.sum()), False, self.time == 5, {}

    def show(self):
        noise = self.np_random.uniform(-1.0, 1.0, (2, 2)).astype(np.float32)
        return {"angle": noise[0], "velocity": noise[1]}


@pytest.fixture(scope="module")
def trained():
    return macura.SAC(Arm, seed=3, **TINY).learn(total_steps=12, progress=False)


@pytest.fixture(scope="module")
def obs():
    return Arm().reset(seed=0)[0]


def test_predict_takes_and_gives_what_the_environment_shows_and_takes(trained, obs):
    action, state = trained.predict(obs, deterministic=True)
    assert state is None
    assert Arm().action_space.contains(action)
    batch = {key: np.stack([value] * 3) for key, value in obs.items()}
    actions, state = trained.predict(batch, state="kept", deterministic=True)
    assert state == "kept"
    np.testing.assert_allclose(actions, np.stack([action] * 3), rtol=1e-6)
    flat = np.concatenate([obs["angle"], obs["velocity"]])  # Gymnasium sorts keys
    np.testing.assert_array_equal(trained.predict(flat, deterministic=True)[0], action)
    assert not np.array_equal(trained.predict(obs)[0], trained.predict(obs)[0])


def test_a_saved_policy_acts_alike_and_knows_what_it_reads(trained, obs, tmp_path):
    trained.save(tmp_path / "arm.safetensors")
    loaded = macura.load(tmp_path / "arm.safetensors")
    assert type(loaded) is macura.SAC
    np.testing.assert_array_equal(
        loaded.predict(obs, deterministic=True)[0], trained.predict(obs, deterministic=True)[0]
    )
    with pytest.raises(UserError, match=r"obs\['angle'\] of shape \(2,\)"):
        loaded.predict({"angle": obs["angle"]})


def test_learning_without_a_folder_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    macura.SAC("Pendulum-v1", **TINY).learn(total_steps=6, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_settings_in_every_form_mean_the_same():
    forms = [
        {"sac": {"width": 32}, "exploration": "pink"},
        {"sac.width": 32, "exploration": "pink"},
        {"sac": SACConfig(width=32), "exploration": "pink"},
    ]
    configs = [macura.SAC("Pendulum-v1", preset="quick", **form).config for form in forms]
    assert {config.sac.width for config in configs} == {32}
    assert {config.exploration for config in configs} == {"pink"}
    assert configs[0] == configs[1]


def test_numbers_may_be_those_of_numpy():
    config = macura.SAC(
        "Pendulum-v1", seed=np.int64(3), sac={"width": np.int32(8), "discount": np.float32(1)}
    ).config
    assert (config.seed, config.sac.width, config.sac.discount) == (3, 8, 1.0)
    assert [type(value) for value in (config.seed, config.sac.width, config.sac.discount)] == [
        int,
        int,
        float,
    ]


def test_steps_may_be_a_round_float():
    agent = macura.SAC(Arm, **TINY).learn(total_steps=1e1, progress=False)
    assert agent.predict(Arm().reset(seed=0)[0])[0].shape == (2, 1)


def test_a_kind_is_named_as_in_a_file_or_by_its_group():
    rollouts = [{"gate": {"kind": "ranked", "stop": True}}, {"gate": "ranked", "gate.stop": True}]
    configs = [macura.MACURA("Pendulum-v1", imagination={"rollout": rollout}).config for rollout in rollouts]
    assert configs[0].imagination.rollout.gate == Ranked(stop=True)
    assert configs[0] == configs[1]


def test_an_agent_says_what_it_is(trained):
    assert repr(trained).endswith("preset='quick', seed=3): trained>")
    assert (
        repr(macura.MACURA("Pendulum-v1")) == "<MACURA('Pendulum-v1', preset='default', seed=0): not trained>"
    )


WRONG = {
    "typo in an id": (lambda: macura.MACURA("Hoper-v5"), "Did you mean 'Hopper-v5'?"),
    "typo in a setting": (lambda: macura.SAC("Pendulum-v1", sac={"wdth": 8}), "Did you mean 'sac.width'?"),
    "setting without its group": (lambda: macura.SAC("Pendulum-v1", width=8), "Did you mean 'sac.width'?"),
    "predict before learn": (lambda: macura.SAC("Pendulum-v1").predict([0, 0, 0]), "call learn() first"),
    "save before learn": (lambda: macura.SAC("Pendulum-v1").save("p.safetensors"), "call learn() first"),
    "no steps": (lambda: macura.SAC("Pendulum-v1").learn(0), "steps is 0"),
    "nothing to load": (lambda: macura.load("absent"), "no policy file absent"),
    "not an environment": (lambda: macura.SAC(5), "A int is not an environment"),
    "half a step": (
        lambda: macura.SAC("Pendulum-v1").learn(10.5),
        "steps is 10.5, but must be a whole number",
    ),
    "algorithm of another class": (
        lambda: macura.SAC("Pendulum-v1", algorithm="mbpo"),
        "choose it by the class",
    ),
    "unknown preset": (lambda: macura.SAC("Pendulum-v1", preset="pape"), "Did you mean 'paper'?"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, said = WRONG[name]
    with pytest.raises(UserError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


class VecEnv:
    """The part of Stable-Baselines3's `DummyVecEnv` that `evaluate_policy` uses, `Monitor` included."""

    def __init__(self, makers):
        self.envs = [make() for make in makers]
        self.num_envs = len(self.envs)
        self.returns = np.zeros(self.num_envs)
        self.lengths = np.zeros(self.num_envs, int)

    def reset(self):
        return self.stack([env.reset()[0] for env in self.envs])

    def step(self, actions):
        assert isinstance(actions, np.ndarray)
        shown, rewards, dones, infos = [], [], [], []
        for place, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            obs, reward, terminated, truncated, info = env.step(action)
            self.returns[place] += reward
            self.lengths[place] += 1
            if terminated or truncated:
                info["episode"] = {"r": self.returns[place], "l": self.lengths[place]}
                self.returns[place] = self.lengths[place] = 0
                obs, _ = env.reset()
            shown.append(obs)
            rewards.append(reward)
            dones.append(terminated or truncated)
            infos.append(info)
        return self.stack(shown), np.array(rewards), np.array(dones), infos

    @staticmethod
    def stack(shown):
        if isinstance(shown[0], dict):
            return {key: np.stack([obs[key] for obs in shown]) for key in shown[0]}
        return np.stack(shown)


def evaluate_policy(model, env, n_eval_episodes=10, deterministic=True):
    """The loop of `stable_baselines3.common.evaluation.evaluate_policy` (2.9), as it calls a model."""
    counts = np.zeros(env.num_envs, int)
    targets = np.array([(n_eval_episodes + i) // env.num_envs for i in range(env.num_envs)])
    observations = env.reset()
    states = None
    episode_starts = np.ones((env.num_envs,), dtype=bool)
    returns = []
    while (counts < targets).any():
        actions, states = model.predict(
            observations, state=states, episode_start=episode_starts, deterministic=deterministic
        )
        observations, _, dones, infos = env.step(actions)
        for place in range(env.num_envs):
            if counts[place] < targets[place]:
                episode_starts[place] = dones[place]
                if dones[place]:
                    returns.append(infos[place]["episode"]["r"])
                    counts[place] += 1
    return np.mean(returns), np.std(returns)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("deterministic", [True, False])
def test_stable_baselines3_can_evaluate_an_agent(trained, count, deterministic):
    mean, _ = evaluate_policy(trained, VecEnv([Arm] * count), 4, deterministic)
    assert 0 <= mean <= 40
