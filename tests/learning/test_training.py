"""Whole runs, from the environment to the policy file, on tasks whose answer is known."""

import json

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from macura import presets, runs, sac
from macura.envs import EnvConfig, Task
from macura.training import Judges, run, to_dict
from macura.training.loop import train
from macura.training.session import Session
from tests.learning import test_probes as probes

LOW, HIGH = 2.0, 6.0
TINY = {
    "sac.width": 32,
    "sac.learning_rate": 3e-3,
    "sac.batch_size": 64,
    "sac.discount": probes.DISCOUNT,
    "sac.target_rate": 0.05,
    "sac.fixed_alpha": 1e-3,
    "updates.count": 2,
    "epoch_steps": 300,
    "warmup_steps": 300,
    "evaluation_episodes": 2,
}
FEW = (probes.two_steps, probes.by_both)
"""Probes that need all pieces of the agent; the others only tell which piece is broken."""


class Probe(gymnasium.Env):
    """A probe as an environment; its actions lie between 2 and 6, those of the probe between -1 and 1."""

    def __init__(self, probe):
        self.observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = spaces.Box(LOW, HIGH, (1,), np.float32)
        self._probe = probe

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._obs = np.float32(self.np_random.choice([-1.0, 1.0]))
        return self._obs[None], {}

    def step(self, action):
        inside = (action[0] - (LOW + HIGH) / 2) / ((HIGH - LOW) / 2)
        reward, obs, ends = self._probe(self._obs, inside)
        self._obs = np.float32(obs)
        return self._obs[None], float(reward), bool(ends), False, {}


def learn(probe, folder):
    """The learner after a run of SAC on the probe."""
    config = presets.build("sac", EnvConfig("probe:env"), preset="quick", steps=900, overrides=TINY)
    task = Task(config.env, lambda: Probe(probe))
    with runs.RunFolder(folder) as where:
        where.begin(to_dict(config), runs.describe("cpu"))
        session = Session(config, task, task.make(), Judges(), where)
        train(session)
        session.close()
    return config.sac, session.state.learner


KNOWN = [
    pytest.param(*known, marks=() if known[0] in FEW else pytest.mark.slow, id=known[0].__name__)
    for known in probes.KNOWN
]


@pytest.mark.parametrize(("probe", "value"), KNOWN)
def test_a_run_finds_the_values_of_the_probe(probe, value, tmp_path):
    config, learner = learn(probe, tmp_path / "run")
    obs = jnp.array([[-1.0], [1.0]])
    action = sac.act(learner.policy.actor, obs, jnp.zeros((2, 1)), 0)
    got = sac.q_values(config, learner.critics, obs, action).min(0)
    np.testing.assert_allclose(got, value, atol=0.1)


def evaluations(env_id, steps, folder):
    """Mean returns at the ends of the epochs of SAC with its default settings, seed 0."""
    where = run(presets.build("sac", env_id, seed=0, steps=steps), folder)
    rows = [json.loads(line) for line in where.metrics_file.read_text().splitlines()]
    return [row["eval/return_mean"] for row in rows if "eval/return_mean" in row]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_sac_swings_the_pendulum_up(tmp_path):
    returns = evaluations("Pendulum-v1", 10_000, tmp_path / "run")
    assert returns[0] < -800  # random actions until then
    assert np.mean(returns[-3:]) >= -200


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_sac_balances_the_inverted_pendulum(tmp_path):
    returns = evaluations("InvertedPendulum-v5", 20_000, tmp_path / "run")
    assert returns[0] < 200
    assert max(returns) >= 950
