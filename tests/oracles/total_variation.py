"""Distances between two-dimensional densities by summing them over a fine grid."""

import numpy as np


def density(points, mean, variance):
    """A diagonal Gaussian at the points, one coordinate after the other."""
    value = np.ones(points.shape[:-1])
    for axis in range(points.shape[-1]):
        gap = points[..., axis] - mean[axis]
        value = value * np.exp(-(gap**2) / (2 * variance[axis])) / np.sqrt(2 * np.pi * variance[axis])
    return value


def lattice(gaussians, points=801, reach=9.0):
    """Points that cover all Gaussians (mean, variance), and the area that belongs to each point."""
    lines = []
    for axis in range(2):
        low = min(mean[axis] - reach * np.sqrt(variance[axis]) for mean, variance in gaussians)
        high = max(mean[axis] + reach * np.sqrt(variance[axis]) for mean, variance in gaussians)
        lines.append(np.linspace(low, high, points))
    area = (lines[0][1] - lines[0][0]) * (lines[1][1] - lines[1][0])
    return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1), area


def hellinger(one, other):
    """sqrt(1/2 integral (sqrt p - sqrt q)^2)."""
    points, area = lattice([one, other])
    gap = np.sqrt(density(points, *one)) - np.sqrt(density(points, *other))
    return float(np.sqrt(0.5 * np.sum(gap**2) * area))


def total_variation_from_mixture(one, members):
    """1/2 integral |p - mean of the members|."""
    points, area = lattice([one, *members])
    mixture = sum(density(points, *member) for member in members) / len(members)
    return float(0.5 * np.sum(np.abs(density(points, *one) - mixture)) * area)
