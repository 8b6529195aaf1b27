"""The control of README.md, in an environment of its own: python stable_baselines3.py SEED."""

import sys

import gymnasium
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.evaluation import evaluate_policy

torch.set_num_threads(1)
agent = SAC("MlpPolicy", gymnasium.make("HalfCheetah-v4"), seed=int(sys.argv[1]), learning_starts=1000)
for thousand in range(1, 26):
    agent.learn(1000, reset_num_timesteps=thousand == 1)
    if thousand % 3 == 1 or thousand > 20:
        mean, _ = evaluate_policy(agent, gymnasium.make("HalfCheetah-v4"), n_eval_episodes=2)
        print(thousand, round(mean), float(torch.exp(agent.log_ent_coef)), flush=True)
