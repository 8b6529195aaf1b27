"""Real transitions, as many as the run will ever see (or the newest, where that is too many)."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from macura.core import PRNGKey
from macura.replay import pages
from macura.replay.rows import width


class RealBuffer(eqx.Module):
    """Rows of real transitions; `count` is how many were ever added, also those overwritten since."""

    rows: Float[Array, "capacity width"]
    count: Int[Array, ""]


def init_real(capacity: int, obs: int, act: int) -> RealBuffer:
    """An empty buffer."""
    return RealBuffer(pages.zeros(capacity, width(obs, act), jnp.dtype(jnp.float32)), jnp.int32(0))


def add(real: RealBuffer, row: Float[Array, "width"]) -> RealBuffer:
    """Append one row, over the oldest when full; in place where the buffer is donated."""
    slot = real.count % real.rows.shape[0]
    return RealBuffer(jax.lax.dynamic_update_slice(real.rows, row[None], (slot, 0)), real.count + 1)


def size(real: RealBuffer) -> Int[Array, ""]:
    """Rows that can be read."""
    return jnp.minimum(real.count, real.rows.shape[0])


def newest(real: RealBuffer, rows: int) -> tuple[Float[Array, "rows width"], Bool[Array, "rows"]]:
    """The last `rows` rows, oldest first, and which of them exist."""
    age = jnp.arange(rows, 0, -1)
    return real.rows[(real.count - age) % real.rows.shape[0]], age <= size(real)


def sample_observations(real: RealBuffer, key: PRNGKey, rows: int, obs: int) -> Float[Array, "rows obs"]:
    """Start states of rollouts: uniform with replacement over all real observations."""
    return real.rows[jax.random.randint(key, (rows,), 0, jnp.maximum(size(real), 1)), :obs]


def trim_real(real: RealBuffer) -> RealBuffer:
    """On the host: the buffer as NumPy arrays, cut to the rows it holds."""
    return eqx.tree_at(_rows, jax.tree.map(np.asarray, real), np.asarray(real.rows)[: int(size(real))])


def restore_real(saved: RealBuffer, fresh: RealBuffer) -> RealBuffer:
    """On the host: trimmed rows back in the buffer `fresh`, which is used up."""
    return RealBuffer(pages.filled((np.asarray(saved.rows),), fresh.rows), jnp.asarray(saved.count))


def _rows(real: RealBuffer) -> Any:
    return real.rows
