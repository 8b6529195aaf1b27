"""One update of soft actor-critic in float64 NumPy, with gradients written out by hand."""

import copy
import math

import numpy as np


def forward(network, x):
    """The output of a ReLU network, and what its backward pass needs."""
    weights, biases = network
    inputs = []
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        inputs.append(x)
        x = np.maximum(x @ weight + bias, 0)
    inputs.append(x)
    return x @ weights[-1] + biases[-1], inputs


def backward(network, inputs, d_out):
    """Gradients of weights and biases, and of the input, from the gradient of the output."""
    weights, _ = network
    d_weights, d_biases = [], []
    for layer in range(len(weights) - 1, -1, -1):
        d_weights.insert(0, inputs[layer].T @ d_out)
        d_biases.insert(0, d_out.sum(0))
        d_out = d_out @ weights[layer].T
        if layer > 0:
            d_out = d_out * (inputs[layer] > 0)
    return (d_weights, d_biases), d_out


class Adam:
    def __init__(self, learning_rate):
        self.rate, self.count, self.first, self.second = learning_rate, 0, {}, {}

    def step(self, name, value, gradient):
        """One parameter array moved; call `tick` once before the arrays of an update."""
        self.first[name] = 0.9 * self.first.get(name, 0.0) + 0.1 * gradient
        self.second[name] = 0.999 * self.second.get(name, 0.0) + 0.001 * gradient**2
        first = self.first[name] / (1 - 0.9**self.count)
        second = self.second[name] / (1 - 0.999**self.count)
        return value - self.rate * first / (np.sqrt(second) + 1e-8)

    def tick(self):
        self.count += 1

    def network(self, network, gradient):
        self.tick()
        return tuple(
            [self.step((kind, i), value, d) for i, (value, d) in enumerate(zip(values, ds, strict=True))]
            for kind, (values, ds) in enumerate(zip(network, gradient, strict=True))
        )


class Agent:
    def __init__(self, actor, critics, action_scale, *, rate, discount, tau, interval, entropy, fixed_alpha):
        self.actor, self.critics, self.targets = actor, list(critics), copy.deepcopy(list(critics))
        self.scale, self.discount, self.tau = np.asarray(action_scale, np.float64), discount, tau
        self.interval, self.entropy, self.fixed_alpha = interval, entropy, fixed_alpha
        self.log_alpha = 0.0 if fixed_alpha is None else math.log(fixed_alpha)
        self.adams = {name: Adam(rate) for name in ("actor", "alpha")}
        self.critic_adams = [Adam(rate), Adam(rate)]
        self.updates = 0

    def sample(self, obs, epsilon):
        out, inputs = forward(self.actor, obs)
        mean, raw = np.split(out, 2, axis=1)
        log_std = np.clip(raw, -20, 2)
        action = np.tanh(mean + np.exp(log_std) * epsilon)
        normal = -0.5 * epsilon**2 - log_std - 0.5 * math.log(2 * math.pi)
        log_pi = (normal - np.log(self.scale * (1 - action**2) + 1e-6)).sum(1)
        return action, log_pi, (inputs, raw, log_std)

    def q(self, critics, obs, action):
        x = np.concatenate([obs, action], 1)
        outs = [forward(critic, x) for critic in critics]
        return np.stack([out[:, 0] for out, _ in outs]), [inputs for _, inputs in outs]

    def update(self, obs, action, reward, next_obs, terminated, epsilon):
        rows, alpha = len(obs), math.exp(self.log_alpha)

        next_action, next_log_pi, _ = self.sample(next_obs, epsilon[0])
        value = self.q(self.targets, next_obs, next_action)[0].min(0) - alpha * next_log_pi
        target = reward + self.discount * (1 - terminated.astype(float)) * value

        q, inputs = self.q(self.critics, obs, action)
        critic_loss = ((q[0] - target) ** 2).mean() + ((q[1] - target) ** 2).mean()
        for i in range(2):
            gradient, _ = backward(self.critics[i], inputs[i], 2 * (q[i] - target)[:, None] / rows)
            self.critics[i] = self.critic_adams[i].network(self.critics[i], gradient)

        own, log_pi, (actor_inputs, raw, log_std) = self.sample(obs, epsilon[1])
        q, inputs = self.q(self.critics, obs, own)
        actor_loss = (alpha * log_pi - q.min(0)).mean()
        d_q = [np.where(q.argmin(0) == i, -1 / rows, 0.0)[:, None] for i in range(2)]
        d_action = sum(backward(self.critics[i], inputs[i], d_q[i])[1] for i in range(2))
        d_action = d_action[:, obs.shape[1] :]
        d_action = d_action + alpha / rows * 2 * self.scale * own / (self.scale * (1 - own**2) + 1e-6)
        d_mean = d_action * (1 - own**2)
        d_log_std = d_mean * np.exp(log_std) * epsilon[1] - alpha / rows
        d_log_std = d_log_std * ((raw > -20) & (raw < 2))
        gradient, _ = backward(self.actor, actor_inputs, np.concatenate([d_mean, d_log_std], 1))
        self.actor = self.adams["actor"].network(self.actor, gradient)

        if self.fixed_alpha is None:
            self.adams["alpha"].tick()
            gradient = -(log_pi + self.entropy).mean()
            self.log_alpha = self.adams["alpha"].step("log_alpha", self.log_alpha, gradient)

        if self.updates % self.interval == 0:
            for i, (target_critic, critic) in enumerate(zip(self.targets, self.critics, strict=True)):
                self.targets[i] = tuple(
                    [(1 - self.tau) * old + self.tau * new for old, new in zip(olds, news, strict=True)]
                    for olds, news in zip(target_critic, critic, strict=True)
                )
        self.updates += 1
        return critic_loss, actor_loss, -log_pi.mean(), target.mean()
