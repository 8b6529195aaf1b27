"""Imagined transitions: a ring on the device that forgets by age, or the oldest first when it is full."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from macura.core import UserError
from macura.replay import pages


@dataclass(frozen=True)
class RingConfig:
    """How long imagined data is remembered, and in which number format."""

    rounds_kept: int = 4
    """L, rounds whose imagined data is remembered: four rounds an epoch times the epochs to retain."""
    capacity_share: float = 1.0
    """Capacity as a share of horizon x rollouts x rounds kept, what full length would fill (M2AC: 0.25)."""
    evict_by_age: bool = True
    """Forget data L rounds after it was made (MACURA); otherwise the oldest goes when the ring is full."""
    storage: Literal["float32", "float16"] = "float32"
    """Number format of stored rows; float16 halves the memory and clips values to +-65504."""

    def __post_init__(self) -> None:
        if self.rounds_kept < 1:
            raise UserError(f"ring.rounds_kept is {self.rounds_kept}, but must be at least 1; try 4.")
        if not 0 < self.capacity_share <= 1:
            raise UserError(f"ring.capacity_share is {self.capacity_share}, but must lie in (0, 1]; try 1.0.")
        if self.storage not in ("float32", "float16"):
            raise UserError(f"ring.storage is {self.storage!r}, but must be float32 or float16; try float32.")


class Ring(eqx.Module):
    """Live rows are rows[(start + i) % capacity], i < count, oldest first. Full means count = capacity."""

    rows: Float[Array, "capacity width"]
    start: Int[Array, ""]
    count: Int[Array, ""]
    round_counts: Int[Array, "rounds"]
    """Live rows of the last L rounds that stored anything, oldest first."""
    round_opened: Bool[Array, ""]
    """Has the current round stored anything yet?"""


def init_ring(config: RingConfig, capacity: int, width: int) -> Ring:
    """An empty ring for at most `capacity` rows."""
    return Ring(
        rows=pages.zeros(capacity, width, jnp.dtype(config.storage)),
        start=jnp.int32(0),
        count=jnp.int32(0),
        round_counts=jnp.zeros(config.rounds_kept, jnp.int32),
        round_opened=jnp.bool_(False),
    )


def begin_round(ring: Ring) -> Ring:
    """What is appended from now on belongs to a new round. Nothing ages before it stores something."""
    return replace(ring, round_opened=jnp.bool_(False))


def append(
    config: RingConfig,
    ring: Ring,
    rows: Float[Array, "batch width"],
    keep: Bool[Array, "batch"],
    limit: int | Int[Array, ""],
) -> Ring:
    """Store the kept rows in their order; at most `limit` rows live afterwards, the oldest go first.

    The first row of a round makes everything one round older, and what is L rounds old then leaves. A round
    that stores nothing therefore ages nothing, as in the published code.
    """
    capacity = ring.rows.shape[0]
    limit = jnp.minimum(limit, capacity)
    arrived = jnp.sum(keep, dtype=jnp.int32)
    opens = (arrived > 0) & ~ring.round_opened
    counts = jnp.where(opens, jnp.roll(ring.round_counts, -1).at[-1].set(0), ring.round_counts)
    expired = jnp.where(opens & config.evict_by_age, ring.round_counts[0], 0)

    # Where more arrive than fit, the last of them are the ones that stay.
    surplus = jnp.maximum(arrived - limit, 0)
    held = ring.count - expired
    pushed_out = jnp.maximum(held + arrived - surplus - limit, 0)
    rank = jnp.cumsum(keep, dtype=jnp.int32) - 1 - surplus
    head = ring.start + ring.count
    beyond = capacity + jnp.arange(keep.shape[0])  # no two alike: the indices are declared unique
    slot = jnp.where(keep & (rank >= 0), (head + rank) % capacity, beyond)
    count = held - pushed_out + arrived - surplus
    return Ring(
        rows=ring.rows.at[slot].set(_to_storage(rows, ring.rows.dtype), mode="drop", unique_indices=True),
        start=(ring.start + expired + pushed_out) % capacity,
        count=count,
        round_counts=_newest_only(counts.at[-1].add(arrived), count),
        round_opened=ring.round_opened | (arrived > 0),
    )


def end_round(ring: Ring) -> Ring:
    """The round is complete; an empty ring starts over at its first row."""
    return replace(ring, start=jnp.where(ring.count > 0, ring.start, 0))


def trim_ring(ring: Ring) -> Ring:
    """On the host: its live rows, oldest first, as two NumPy arrays: up to the end of the ring, and from its start on.

    Neither is a copy where device and host share their memory.
    """
    rows, start, count = np.asarray(ring.rows), int(ring.start), int(ring.count)
    older = rows[start : start + count]
    pieces = (older, rows[: count - older.shape[0]])
    return eqx.tree_at(_rows_and_start, jax.tree.map(np.asarray, ring), (pieces, np.int32(0)))


def restore_ring(saved: Ring, fresh: Ring) -> Ring:
    """On the host: trimmed rows back in the ring `fresh`, which is used up; reads give the same rows as before."""
    rest = [jnp.asarray(leaf) for leaf in (saved.start, saved.count, saved.round_counts, saved.round_opened)]
    pieces: Any = saved.rows
    return Ring(pages.filled(pieces, fresh.rows), *rest)


def _rows_and_start(ring: Ring) -> tuple[Any, Any]:
    return ring.rows, ring.start


def _to_storage(rows: Float[Array, "batch width"], dtype: jnp.dtype) -> Float[Array, "batch width"]:
    if rows.dtype == dtype:
        return rows
    largest = float(jnp.finfo(dtype).max)
    return jnp.clip(rows, -largest, largest).astype(dtype)


def _newest_only(counts: Int[Array, "rounds"], total: Int[Array, ""]) -> Int[Array, "rounds"]:
    """Round counts after the oldest rows went: at most `total` in all, counted from the newest back."""
    up_to = jnp.minimum(jnp.cumsum(counts[::-1]), total)
    return jnp.diff(up_to, prepend=0)[::-1]
