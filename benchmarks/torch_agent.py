"""Soft actor-critic in eager PyTorch, as its users write it, to be timed: needs torch and nothing else.

    python benchmarks/torch_agent.py '{"obs": 17, "act": 6, "width": 256, ...}'

It reads numbers of updates from standard input, one a line, does them, and prints the seconds each line took.
`torch_sac.py` starts it with the shape and the settings of our own agent.
"""

import itertools
import json
import math
import sys
import time

import torch
from torch import Tensor, nn
from torch.nn import functional


class Network(nn.Module):
    """Linear layers with ReLU; the last `normalised` hidden ones standardise what comes before it."""

    def __init__(self, sizes: list[int], normalised: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.raw = len(self.layers) - 1 - normalised

    def forward(self, x: Tensor) -> Tensor:
        for place, layer in enumerate(self.layers[:-1]):
            x = layer(x)
            if place >= self.raw:
                x = functional.layer_norm(x, x.shape[-1:])
            x = torch.relu(x)
        return self.layers[-1](x)


class Agent:
    """Actor, two critics and their targets, a learned temperature; Adam in its fused form."""

    def __init__(self, shape: dict) -> None:
        obs, act, hidden = shape["obs"], shape["act"], [shape["width"]] * shape["hidden_layers"]
        self.shape = shape
        self.actor = Network([obs, *hidden, 2 * act], shape["actor_normalised"])
        self.critics, self.targets = (
            nn.ModuleList(Network([obs + act, *hidden, 1], shape["critics_normalised"]) for _ in range(2))
            for _ in range(2)
        )
        self.targets.load_state_dict(self.critics.state_dict())
        self.log_alpha = torch.zeros((), requires_grad=True)
        groups = (self.actor.parameters(), self.critics.parameters(), [self.log_alpha])
        self.adams = [torch.optim.Adam(group, lr=shape["learning_rate"], fused=True) for group in groups]

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = self.actor(obs).chunk(2, dim=-1)
        log_std = log_std.clamp(-20, 2)
        epsilon = torch.randn_like(mean)
        x = mean + log_std.exp() * epsilon
        gaussian = -0.5 * epsilon.square() - log_std - 0.5 * math.log(2 * math.pi)
        slope = 4 * torch.sigmoid(2 * x) * torch.sigmoid(-2 * x)
        return torch.tanh(x), (gaussian - torch.log(slope + 1e-6)).sum(-1)

    def update(self, rows: Tensor) -> None:
        """Critics, then actor, then temperature, then target critics, on one batch of flat rows."""
        shape = self.shape
        sizes = [shape["obs"], shape["act"], 1, shape["obs"], 1]
        obs, action, reward, next_obs, ended = rows.split(sizes, dim=-1)
        actor_adam, critic_adam, alpha_adam = self.adams
        alpha = self.log_alpha.detach().exp()
        with torch.no_grad():
            next_action, log_pi = self.act(next_obs)
            value = smaller(self.targets, next_obs, next_action) - alpha * log_pi
            target = reward[:, 0] + shape["discount"] * (1 - ended[:, 0]) * value
        x = torch.cat([obs, action], dim=-1)
        loss = sum(functional.mse_loss(critic(x)[:, 0], target) for critic in self.critics)
        critic_adam.zero_grad()
        loss.backward()
        critic_adam.step()

        action, log_pi = self.act(obs)
        loss = (alpha * log_pi - smaller(self.critics, obs, action)).mean()
        actor_adam.zero_grad()
        loss.backward(inputs=list(self.actor.parameters()))  # the critics' own gradients are not needed
        actor_adam.step()

        alpha_adam.zero_grad()
        (self.log_alpha * -(log_pi.detach().mean() - shape["act"])).backward()
        alpha_adam.step()
        with torch.no_grad():
            followed = list(self.targets.parameters()), list(self.critics.parameters())
            torch._foreach_lerp_(*followed, shape["target_rate"])


def smaller(critics: nn.ModuleList, obs: Tensor, action: Tensor) -> Tensor:
    """min(Q_1, Q_2)."""
    x = torch.cat([obs, action], dim=-1)
    return torch.minimum(*(critic(x)[:, 0] for critic in critics))


def main() -> None:
    shape = json.loads(sys.argv[1])
    torch.set_num_threads(shape["threads"])
    torch.manual_seed(0)
    agent = Agent(shape)
    buffer = torch.randn(shape["rows"], 2 * shape["obs"] + shape["act"] + 2)
    buffer[:, -1] = 0
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        for index in torch.randint(shape["rows"], (int(line), shape["batch"])):
            agent.update(buffer[index])
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
