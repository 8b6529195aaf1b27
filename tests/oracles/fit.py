"""Refitting an ensemble, written with loops over members, epochs and batches, in double precision.

The random choices (split, bootstrap, order of each epoch) are given, so that a fast version can be compared.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass
class Member:
    weights: list[Array]
    biases: list[Array]

    def arrays(self) -> list[Array]:
        return [*self.weights, *self.biases]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


def forward(member: Member, x: Array) -> tuple[Array, list[Array], list[Array]]:
    pre, post = [], [x]
    for weight, bias in zip(member.weights[:-1], member.biases[:-1], strict=True):
        pre.append(post[-1] @ weight + bias)
        post.append(pre[-1] * sigmoid(pre[-1]))
    return post[-1] @ member.weights[-1] + member.biases[-1], pre, post


def loss_gradient(member: Member, x: Array, y: Array, low: float, high: float) -> list[Array]:
    """Backpropagation by hand of mean((mu - y)^2 exp(-v) + v)."""
    out, pre, post = forward(member, x)
    d = y.shape[1]
    mean, raw = out[:, :d], out[:, d:]
    upper = high - softplus(high - raw)
    v = low + softplus(upper - low)
    dv = (1 - (mean - y) ** 2 * np.exp(-v)) / y.size
    delta = np.concatenate(
        [2 * (mean - y) * np.exp(-v) / y.size, dv * sigmoid(upper - low) * sigmoid(high - raw)], axis=1
    )
    weights, biases = [], []
    for layer in reversed(range(len(member.weights))):
        weights.insert(0, post[layer].T @ delta)
        biases.insert(0, delta.sum(0))
        if layer:
            s = sigmoid(pre[layer - 1])
            delta = (delta @ member.weights[layer].T) * (s + pre[layer - 1] * s * (1 - s))
    return [*weights, *biases]


@dataclass
class Adam:
    rate: float
    decay: float
    first: list[Array]
    second: list[Array]
    count: int = 0

    def step(self, arrays: list[Array], gradient: list[Array]) -> None:
        self.count += 1
        for k, (array, g) in enumerate(zip(arrays, gradient, strict=True)):
            g = g + self.decay * array
            self.first[k] = 0.9 * self.first[k] + 0.1 * g
            self.second[k] = 0.999 * self.second[k] + 0.001 * g**2
            m = self.first[k] / (1 - 0.9**self.count)
            v = self.second[k] / (1 - 0.999**self.count)
            array -= self.rate * m / (np.sqrt(v) + 1e-8)


def refit(
    members: list[Member],
    adams: list[Adam],
    x: Array,
    y: Array,
    bootstrap: Array,
    validation: Array,
    order_of: Callable[[int], Array],
    batch: int,
    patience: int,
    improvement: float,
    bounds: tuple[float, float],
) -> tuple[list[Member], int]:
    """The members that stay, and the epochs it took."""

    def score() -> list[float]:
        errors = []
        for member in members:
            mean = forward(member, x[validation])[0][:, : y.shape[1]]
            errors.append(float(np.mean((mean - y[validation]) ** 2)))
        return errors

    best = score()
    snapshot, stale, epoch = None, 0, 0
    while stale < patience:
        order = order_of(epoch)
        for first in range(0, len(order), batch):
            places = order[first : first + batch]
            for e, member in enumerate(members):
                rows = bootstrap[e][places]
                adams[e].step(member.arrays(), loss_gradient(member, x[rows], y[rows], *bounds))
        new = score()
        epoch += 1
        if any((b - n) / abs(b) > improvement for b, n in zip(best, new, strict=True)):
            snapshot = [Member([w.copy() for w in m.weights], [b.copy() for b in m.biases]) for m in members]
            best = [min(b, n) for b, n in zip(best, new, strict=True)]
            stale = 0
        else:
            stale += 1
    return (snapshot or members), epoch
