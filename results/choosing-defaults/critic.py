"""What the critics of an unfinished or finished Hopper run promise, against what its policy then gets.

python results/choosing-defaults/critic.py RUN_FOLDER
"""

import shutil
import sys
import tempfile
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from macura import runs, sac
from macura.envs import Task
from macura.training.codec import from_dict
from macura.training.config import RunConfig
from macura.training.judges import resolve
from macura.training.session import Session

EPISODES = 12
BEFORE_THE_END = (1, 10, 20, 30, 50, 75, 100, 150)


def main(folder: Path) -> None:
    """Print both for some numbers of steps before the episodes end."""
    config = from_dict(RunConfig, runs.RunFolder(folder).read_config())
    task = Task(config.env)
    bridge = task.make()
    session = Session(
        config,
        task,
        bridge,
        resolve(config, task, bridge.obs_dim, bridge.act_dim, None),
        runs.RunFolder(folder),
    )
    session.restore()
    learner, normalised = session.state.learner, config.sac.normalised_in_actor
    alpha = float(jnp.exp(learner.log_alpha))
    act = jax.jit(lambda obs, eps: sac.policy.act_with_log_prob(learner.policy, obs, eps, normalised))
    value = jax.jit(lambda obs, action: sac.learner.q_min(config.sac, learner.critics, obs, action))
    env, rng = gymnasium.make(config.env.id), np.random.default_rng(0)
    pairs: dict[int, list[tuple[float, float]]] = {steps: [] for steps in BEFORE_THE_END}
    lengths: list[int] = []
    for seed in range(EPISODES):
        obs, _ = env.reset(seed=seed)
        seen, done, rewards, entropies = [], [], [], []
        over = False
        while not over:
            noise = rng.standard_normal((1, bridge.act_dim), np.float32)
            action, log_pi = act(jnp.asarray(obs[None], jnp.float32), noise)
            seen.append(obs)
            done.append(np.asarray(action)[0])
            obs, reward, terminated, truncated, _ = env.step(done[-1].astype(np.float64))
            rewards.append(float(reward))
            entropies.append(-float(log_pi[0]))
            over = terminated or truncated
        lengths.append(len(rewards))
        if truncated:
            continue
        soft_return, returns = 0.0, []
        for reward, entropy in zip(reversed(rewards), reversed(entropies), strict=True):
            returns.append(reward + config.sac.discount * soft_return)
            soft_return = returns[-1] + alpha * entropy
        promised = np.asarray(value(jnp.asarray(np.array(seen), jnp.float32), jnp.asarray(np.array(done))))
        for steps in BEFORE_THE_END:
            if steps <= len(rewards):
                pairs[steps].append((float(promised[-steps]), returns[steps - 1]))
    print(f"step {session.step}, lengths {lengths}")
    for steps, found in pairs.items():
        if found:
            promised_mean, true_mean = np.mean(found, axis=0)
            print(f"{steps:4d} steps before the end: Q {promised_mean:5.0f}, soft return {true_mean:5.0f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as copy:  # restoring tidies the folder up
        main(Path(shutil.copytree(sys.argv[1], Path(copy) / "run")))
