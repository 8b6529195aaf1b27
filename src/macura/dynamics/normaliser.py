"""Zero mean and unit variance, by statistics of the rows that are valid."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

BLOCK = 512
SMALLEST_STD = 1e-12


class Normaliser(NamedTuple):
    """(x - mean) / std, column by column."""

    mean: Float[Array, "column"]
    std: Float[Array, "column"]


def identity(columns: int) -> Normaliser:
    """The normaliser that changes nothing."""
    return Normaliser(jnp.zeros(columns, jnp.float32), jnp.ones(columns, jnp.float32))


def fit_normaliser(rows: Float[Array, "batch column"], valid: Bool[Array, "batch"]) -> Normaliser:
    """Mean and unbiased standard deviation of the valid rows; a column that does not vary has std 1.

    Sums are taken in blocks and relative to the first row, so that single precision suffices for a long buffer.
    """
    count = jnp.sum(valid).astype(rows.dtype)
    offset = jnp.where(valid[:, None], rows - rows[0], 0.0)
    mean = _sum_rows(offset) / count
    centred = jnp.where(valid[:, None], offset - mean, 0.0)
    std = jnp.sqrt(_sum_rows(jnp.square(centred)) / jnp.maximum(count - 1, 1))
    return Normaliser(rows[0] + mean, jnp.where(std < SMALLEST_STD, 1.0, std))


def normalise(normaliser: Normaliser, x: Float[Array, "*batch column"]) -> Float[Array, "*batch column"]:
    """(x - mean) / std."""
    return (x - normaliser.mean) / normaliser.std


def _sum_rows(rows: Float[Array, "batch column"]) -> Float[Array, "column"]:
    """Sum of the rows, as a sum of sums of blocks: the error of a running sum grows with its length."""
    blocks = -(-rows.shape[0] // BLOCK)
    padded = jnp.pad(rows, ((0, blocks * BLOCK - rows.shape[0]), (0, 0)))
    return jnp.sum(jnp.sum(padded.reshape(blocks, BLOCK, -1), axis=1), axis=0)
