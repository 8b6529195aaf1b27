"""Rounds of rollouts as the paper's pseudocode has them: one rollout, one step, one comparison at a time.

A world is three tables over steps and rollouts, [t][m]: the uncertainty of rollout m at step t, whether its
prediction is finite, and whether the episode ends there. Rollouts are driven by the same tables, so that what an
oracle stores can be compared with what the compiled unroll stores.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class World:
    u: list
    finite: list
    terminated: list

    @property
    def rollouts(self):
        return len(self.u[0])

    def is_finite(self, t, m):
        return bool(self.finite[t][m]) and math.isfinite(self.u[t][m])


@dataclass
class Outcome:
    """What a round leaves: (t, m) of every stored transition, in the order of steps, and why rollouts ended."""

    stored: list = field(default_factory=list)
    by_gate: int = 0
    by_termination: int = 0
    nonfinite: int = 0

    def lengths(self, rollouts, longest):
        per_rollout = Counter(m for _, m in self.stored)
        histogram = [0] * (longest + 1)
        for m in range(rollouts):
            histogram[per_rollout[m]] += 1
        return histogram


def mbpo_round(world, horizon):
    """Algorithm 1, with predicted terminations."""
    outcome = Outcome()
    for m in range(world.rollouts):
        for t in range(horizon):
            if not world.is_finite(t, m):
                outcome.nonfinite += 1
                break
            outcome.stored.append((t, m))
            if world.terminated[t][m]:
                outcome.by_termination += 1
                break
    outcome.stored.sort()
    return outcome


def quantile(values, zeta):
    """Between the two order statistics next to place zeta (n - 1), counted from 0."""
    ordered = sorted(values)
    place = zeta * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


class Kappa:
    """The mean of xi x quantile over all rounds so far, the newest `window` of them."""

    def __init__(self, xi, zeta, window):
        self.xi, self.zeta, self.window = xi, zeta, window
        self.scaled = []

    def update(self, first_steps):
        finite = [float(u) for u in first_steps if math.isfinite(u)]
        if finite:
            self.scaled.append(self.xi * quantile(finite, self.zeta))
        recent = self.scaled[-self.window :]
        return sum(recent) / len(recent) if recent else 0.0


def macura_round(world, horizon, kappa):
    """Algorithm 2, with kappa already updated from the first steps of this round."""
    outcome = Outcome()
    for m in range(world.rollouts):
        for t in range(horizon):
            if not world.is_finite(t, m):
                outcome.nonfinite += 1
                break
            if not world.u[t][m] < kappa:
                outcome.by_gate += 1
                break
            outcome.stored.append((t, m))
            if world.terminated[t][m]:
                outcome.by_termination += 1
                break
    outcome.stored.sort()
    return outcome


def m2ac_count(rollouts, h, horizon):
    """int(M w_h)."""
    return int(rollouts * Fraction(horizon - h, 2 * (horizon + 1)))


def m2ac_round(world, horizon, stop):
    """Of every step the least uncertain are stored, ranked among all rollouts.

    One that ended with a termination keeps the uncertainty it ended with; one that a rank or a prediction that is not
    finite ended is last.
    """
    outcome = Outcome()
    ended = {}
    for h in range(horizon):
        u = [ended.get(m, world.u[h][m]) for m in range(world.rollouts)]
        for m in range(world.rollouts):
            if m not in ended and not world.is_finite(h, m):
                u[m] = ended[m] = math.inf
                outcome.nonfinite += 1
        ranking = sorted(range(world.rollouts), key=lambda m: (u[m], m))
        kept = set(ranking[: m2ac_count(world.rollouts, h, horizon)])
        for m in range(world.rollouts):
            if m in ended:
                continue
            if m in kept:
                outcome.stored.append((h, m))
            elif stop:
                ended[m] = math.inf
                outcome.by_gate += 1
                continue
            if world.terminated[h][m]:
                ended[m] = u[m]
                outcome.by_termination += 1
    return outcome


def linear_horizon(a, b, c, d, epoch):
    """int(y), y = c if x <= a else c + (d - c) min((x - a) / (b - a), 1), x = epoch + 1."""
    x = epoch + 1
    y = Fraction(c) if x <= a else c + (d - c) * min(Fraction(x - a, b - a), Fraction(1))
    return math.floor(y)
