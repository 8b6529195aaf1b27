"""A trained policy on its own: what is needed to act, without the run that made it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from macura import runs, sac
from macura.core import UserError
from macura.envs import Bridge, Piece, Spaces
from macura.nn import MLP, mlp
from macura.training.codec import from_dict, to_dict
from macura.training.config import RunConfig

Array = NDArray[Any]


@dataclass(frozen=True)
class SavedPolicy:
    """Networks, the spaces and action bounds of their environment, and the configuration they were trained with."""

    policy: sac.Policy
    low: Array
    high: Array
    config: RunConfig
    spaces: Spaces

    @classmethod
    def of(cls, policy: sac.Policy, bridge: Bridge, config: RunConfig) -> "SavedPolicy":
        """The policy of a run, with the spaces and action bounds of its environment."""
        networks = jax.tree.map(np.asarray, policy)
        return cls(networks, bridge.action_low, bridge.action_high, config, bridge.spaces)

    @property
    def obs_dim(self) -> int:
        """Numbers in an observation."""
        return self.policy.actor.weights[0].shape[0]

    @property
    def act_dim(self) -> int:
        """Numbers in an action."""
        return self.low.shape[0]

    def act(self, obs: Array, epsilon: Array | None = None) -> Array:
        """Actions in [-1, 1] for a batch of observations; without `epsilon`, the deterministic ones."""
        if epsilon is None:
            epsilon = np.zeros((obs.shape[0], self.act_dim), np.float32)
        return np.asarray(self._program(self.policy, obs, epsilon))

    def to_env(self, action: Array) -> Array:
        """Actions in [-1, 1] in the environment's own units."""
        return np.clip(
            (self.low + self.high) / 2 + np.asarray(self.policy.action_scale) * action, self.low, self.high
        )

    @cached_property
    def _program(self) -> Callable[[sac.Policy, Array, Array], jax.Array]:
        normalised = self.config.sac.normalised_in_actor
        return jax.jit(lambda policy, obs, epsilon: sac.act(policy.actor, obs, epsilon, normalised))

    def save(self, path: str | Path) -> None:
        """Write a safetensors file with the configuration inside."""
        layers = {f"weight{i}": np.asarray(w) for i, w in enumerate(self.policy.actor.weights)}
        layers |= {f"bias{i}": np.asarray(b) for i, b in enumerate(self.policy.actor.biases)}
        arrays = layers | {"low": self.low, "high": self.high}
        runs.policy_file.save(path, arrays, to_dict(self.config), self.spaces.to_json())

    def export(self, path: str | Path) -> None:
        """Write the deterministic policy, `to_env` included, as an ONNX graph."""
        actor = self.policy.actor
        layers = [(np.asarray(w), np.asarray(b)) for w, b in zip(actor.weights, actor.biases, strict=True)]
        weight, bias = layers.pop()
        layers.append((weight[:, : self.act_dim], bias[: self.act_dim]))  # the mean; the rest is the log-std
        epsilon = mlp.STANDARDISE_EPSILON if self.config.sac.normalised_in_actor else None
        controller = runs.onnx_file.Controller(layers, epsilon, self.low, self.high)
        version = runs.versions().get("macura", "unknown")
        about = {"macura_version": version, "env_id": self.config.env.id, "algorithm": self.config.algorithm}
        runs.onnx_file.save(path, controller, about)

    @classmethod
    def load(cls, path: str | Path) -> "SavedPolicy":
        """Read a policy file, or the best policy of a run folder; nothing in it is executed."""
        path = Path(path)
        path = runs.RunFolder(path).policy_file if path.is_dir() else path
        arrays, config, spaces = runs.policy_file.load(path)
        layers = sum(name.startswith("weight") for name in arrays)
        try:
            weights = tuple(arrays[f"weight{i}"] for i in range(layers))
            biases = tuple(arrays[f"bias{i}"] for i in range(layers))
            low, high = arrays["low"], arrays["high"]
            fits = all(w.shape[1] == b.shape[0] for w, b in zip(weights, biases, strict=True))
            chained = all(a.shape[1] == b.shape[0] for a, b in pairwise(weights))
            if not (layers and fits and chained and biases[-1].shape[0] == 2 * low.shape[0]):
                raise ValueError("its layers do not fit each other")
            flat = Spaces((Piece((), weights[0].shape[:1]),), low.shape)
            known = flat if spaces is None else Spaces.from_json(spaces)
            sizes = known.obs_dim, math.prod(known.action_shape), high.shape
            if sizes != (weights[0].shape[0], low.shape[0], low.shape):
                raise ValueError("its layers do not fit its spaces")
        except (KeyError, IndexError, TypeError, ValueError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise UserError(f"{path} is no macura policy ({why}); save it again with agent.save.") from error
        actor = MLP(tuple(map(jnp.asarray, weights)), tuple(map(jnp.asarray, biases)))
        policy = sac.Policy(actor, jnp.asarray((high - low) / 2))
        return cls(policy, low, high, from_dict(RunConfig, config), known)
