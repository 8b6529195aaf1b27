"""One transition as one flat row: observation | action | reward | next observation | terminated.

A batch is then one gather of whole rows, instead of five.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from macura.core import Transition


def width(obs: int, act: int) -> int:
    """Numbers in a row."""
    return 2 * obs + act + 2


def pack(transition: Transition) -> Float[Array, "*batch width"]:
    """Rows of transitions; `terminated` becomes 0 or 1."""
    return jnp.concatenate(
        [
            transition.obs,
            transition.action,
            transition.reward[..., None],
            transition.next_obs,
            transition.terminated[..., None].astype(jnp.float32),
        ],
        axis=-1,
    )


def unpack(rows: Float[Array, "*batch width"], obs: int, act: int) -> Transition:
    """The transitions of rows, in float32 whatever the storage."""
    rows = rows.astype(jnp.float32)
    return Transition(
        obs=rows[..., :obs],
        action=rows[..., obs : obs + act],
        reward=rows[..., obs + act],
        next_obs=rows[..., obs + act + 1 : -1],
        terminated=_flag(rows[..., -1]),
    )


def _flag(column: Float[Array, "*batch"]) -> Bool[Array, "*batch"]:
    return column > 0.5


def pack_row(
    obs: Float[np.ndarray, "obs"],
    action: Float[np.ndarray, "act"],
    reward: float,
    next_obs: Float[np.ndarray, "obs"],
    terminated: bool,
) -> Float[np.ndarray, "width"]:
    """One transition on the host, laid out as `pack` does."""
    return np.concatenate([obs, action, (reward,), next_obs, (terminated,)], dtype=np.float32)
