"""Batches for the agent from real and imagined data."""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from macura.core import PRNGKey, Transition, UserError
from macura.replay.real import RealBuffer, size
from macura.replay.ring import Ring
from macura.replay.rows import unpack


@dataclass(frozen=True)
class MixtureConfig:
    """How much of the agent's data is real."""

    real_share: float = 0.05
    """Share of real data in training the agent."""
    kind: Literal["per_update", "within_batch"] = "per_update"
    """per_update: a coin for each whole batch (published code); within_batch: that share of every batch."""

    def __post_init__(self) -> None:
        if not 0 <= self.real_share <= 1:
            raise UserError(f"mixture.real_share is {self.real_share}, but must lie in [0, 1]; try 0.05.")
        if self.kind not in ("per_update", "within_batch"):
            raise UserError(
                f"mixture.kind is {self.kind!r}, but must be per_update or within_batch; try per_update."
            )


class Plan(eqx.Module):
    """Which row of which buffer stands where in which batch; `imagined` is `None` where all data is real."""

    index: Int[Array, "update batch"]
    imagined: Bool[Array, "update batch"] | None


def plan_batches(
    mixture: MixtureConfig | None, key: PRNGKey, updates: int, batch: int, real: RealBuffer, ring: Ring | None
) -> Plan:
    """Draw the rows of `updates` batches: uniform with replacement over what each buffer holds.

    All data is real where there is no mixture, no ring, or nothing in the ring.
    """
    coin_key, index_key = jax.random.split(key)
    shape = (updates, batch)
    if mixture is None or ring is None:
        return Plan(jax.random.randint(index_key, shape, 0, jnp.maximum(size(real), 1)), None)
    if mixture.kind == "per_update":
        imagined = jax.random.uniform(coin_key, (updates, 1)) >= mixture.real_share
    else:
        imagined = jnp.arange(batch)[None] >= int(mixture.real_share * batch)
    imagined = jnp.broadcast_to(imagined & (ring.count > 0), shape)
    index = jax.random.randint(
        index_key, shape, 0, jnp.maximum(jnp.where(imagined, ring.count, size(real)), 1)
    )
    return Plan(jnp.where(imagined, (ring.start + index) % ring.rows.shape[0], index), imagined)


def read_batch(
    plan: Plan, i: int | Int[Array, ""], real: RealBuffer, ring: Ring | None, obs: int, act: int
) -> Transition:
    """Batch `i` of the plan."""
    index = plan.index[i]
    if plan.imagined is None or ring is None:
        return unpack(real.rows[index], obs, act)
    # Both are read and one is taken: a few hundred rows cost less than a branch over two large buffers.
    imagined = plan.imagined[i]
    real_rows = real.rows[jnp.where(imagined, 0, index)]
    ring_rows = ring.rows[jnp.where(imagined, index, 0)].astype(real_rows.dtype)
    return unpack(jnp.where(imagined[:, None], ring_rows, real_rows), obs, act)
