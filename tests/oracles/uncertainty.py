"""The measures of uncertainty for one row, in float64: explicit covariance matrices, loops over pairs."""

import itertools
import math

import numpy as np


def kl(mean_p, cov_p, mean_q, cov_q):
    """KL(p || q) of two Gaussians with full covariance matrices."""
    inverse, gap = np.linalg.inv(cov_q), mean_q - mean_p
    log_ratio = np.linalg.slogdet(cov_q)[1] - np.linalg.slogdet(cov_p)[1]
    return 0.5 * (np.trace(inverse @ cov_p) + gap @ inverse @ gap - len(gap) + log_ratio)


def geometric_mean(mean_1, cov_1, mean_2, cov_2):
    """The normalised geometric mean of two Gaussians, itself one."""
    precision_1, precision_2 = np.linalg.inv(cov_1), np.linalg.inv(cov_2)
    cov = np.linalg.inv((precision_1 + precision_2) / 2)
    return cov @ (precision_1 @ mean_1 + precision_2 @ mean_2) / 2, cov


def _members(mean, logvar):
    # Relative to the first member: a common shift changes no divergence, and spares float64 the large means.
    mean = np.asarray(mean, np.float64) - np.asarray(mean, np.float64)[0]
    return [(m, np.diag(np.exp(v))) for m, v in zip(mean, np.asarray(logvar, np.float64), strict=True)]


def _over_pairs(mean, logvar, divergence):
    pairs = list(itertools.combinations(_members(mean, logvar), 2))
    return sum(divergence(one, other) for one, other in pairs) / len(pairs)


def geometric_js(mean, logvar):
    def primal(one, other):
        middle = geometric_mean(*one, *other)
        return 0.5 * kl(*one, *middle) + 0.5 * kl(*other, *middle)

    return _over_pairs(mean, logvar, primal)


def geometric_js_dual(mean, logvar):
    def dual(one, other):
        middle = geometric_mean(*one, *other)
        return 0.5 * kl(*middle, *one) + 0.5 * kl(*middle, *other)

    return _over_pairs(mean, logvar, dual)


def moments(members):
    """Mean and diagonal covariance of the equal mixture of some Gaussians."""
    mean = sum(m for m, _ in members) / len(members)
    second = sum(np.diag(c) + m**2 for m, c in members) / len(members)
    return mean, np.diag(second - mean**2)


def one_vs_rest(mean, logvar, member):
    members = _members(mean, logvar)
    rest = members[:member] + members[member + 1 :]
    return kl(*members[member], *moments(rest))


def ensemble_variance(mean, logvar):
    _, covariance = moments(_members(mean, logvar))
    return np.linalg.norm(covariance, "fro")


def mean_variance(mean, logvar):
    means = [m for m, _ in _members(mean, logvar)]
    centre = sum(means) / len(means)
    return np.linalg.norm(sum(np.outer(m - centre, m - centre) for m in means) / len(means), "fro")


def log_density(x, mean, cov):
    gap = x - mean
    size = len(gap) * math.log(2 * math.pi) + np.linalg.slogdet(cov)[1]
    return -0.5 * (gap @ np.linalg.inv(cov) @ gap + size)


def kl_to_mixture(mean, logvar, draws):
    """`draws`: standard normal, (samples, member, out)."""
    members = _members(mean, logvar)
    total = 0.0
    for draw in draws:
        for (m, c), z in zip(members, draw, strict=True):
            x = m + np.sqrt(np.diag(c)) * z
            each = np.array([log_density(x, *other) for other in members])
            mixture = each.max() + math.log(np.mean(np.exp(each - each.max())))
            total += log_density(x, m, c) - mixture
    return total / len(draws)
