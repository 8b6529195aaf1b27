"""What an environment shows and takes, as plain values: where the numbers of an observation lie, shape of an action."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from macura.core import UserError

Array = NDArray[Any]
Path = tuple[str | int, ...]


class Misfit(Exception):
    """An observation of another shape than the space promised."""


@dataclass(frozen=True)
class Piece:
    """One array inside an observation: the keys that lead to it, and its shape."""

    path: Path
    shape: tuple[int, ...]

    def of(self, obs: Any) -> Array:
        """This array of an observation, or of a batch of them, whatever its shape is."""
        for key in self.path:
            obs = obs[key]
        return np.asarray(obs)

    def __str__(self) -> str:
        return "the observation" + "".join(f"[{key!r}]" for key in self.path)


@dataclass(frozen=True)
class Spaces:
    """The arrays of an observation, in the order of `gymnasium.spaces.utils.flatten`, and the shape of an action."""

    pieces: tuple[Piece, ...]
    action_shape: tuple[int, ...]

    @cached_property
    def obs_dim(self) -> int:
        """Numbers in an observation."""
        return sum(int(np.prod(piece.shape)) for piece in self.pieces)

    def flat(self, obs: Any) -> Array:
        """The numbers of one observation; `Misfit` if an array in it has another shape than its space says."""
        parts: list[Array] = []
        for piece in self.pieces:
            part = piece.of(obs)
            if part.shape != piece.shape:
                raise Misfit(f"{piece} has shape {part.shape}, but its space says {piece.shape}")
            parts.append(part.ravel())
        return np.concatenate(parts, dtype=np.float32, casting="unsafe")

    def rows(self, obs: Any) -> tuple[Array, bool]:
        """One observation or a batch of them as rows of numbers, and whether it was a batch.

        Observations may also be given flattened, as rows of `obs_dim` numbers.
        """
        nested, structured = bool(self.pieces[0].path), isinstance(obs, Mapping | tuple)
        ways = [self.pieces] if structured or not nested else []
        ways += [(Piece((), (self.obs_dim,)),)] if not (structured and nested) else []
        try:
            found = [_stack(way, obs) for way in ways]
        except (LookupError, TypeError, ValueError) as error:
            raise UserError(
                f"The observation cannot be read ({type(error).__name__}: {error}); this policy reads {self}."
            ) from error
        fitting = next((rows for rows in found if rows is not None), None)
        if fitting is None:
            given = "other arrays" if isinstance(obs, Mapping | tuple) else f"shape {np.shape(obs)}"
            raise UserError(
                f"The observation has {given}, but this policy reads {self}; give one observation or a batch of them."
            )
        return fitting

    def __str__(self) -> str:
        numbers = f"{self.obs_dim} numbers"
        if len(self.pieces) == 1 and not self.pieces[0].path:
            return numbers
        inside = ", ".join(f"{piece} of shape {piece.shape}" for piece in self.pieces)
        return f"{numbers} ({inside.replace('the observation', 'obs')})"

    def to_json(self) -> dict[str, Any]:
        """As lists, for a file."""
        observation = [[list(piece.path), list(piece.shape)] for piece in self.pieces]
        return {"observation": observation, "action": list(self.action_shape)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Spaces":
        """What `to_json` gave."""
        pieces = tuple(Piece(tuple(path), tuple(shape)) for path, shape in content["observation"])
        return cls(pieces, tuple(content["action"]))


def _stack(pieces: tuple[Piece, ...], obs: Any) -> tuple[Array, bool] | None:
    """The rows of one observation or a batch, and whether it was a batch; `None` if the shapes say neither."""
    parts = [np.asarray(piece.of(obs), np.float32) for piece in pieces]
    shapes = [piece.shape for piece in pieces]
    if [part.shape for part in parts] == shapes:
        return np.concatenate([part.ravel() for part in parts])[None], False
    count = len(parts[0]) if parts[0].ndim else 0
    if count and [part.shape for part in parts] == [(count, *shape) for shape in shapes]:
        return np.concatenate([part.reshape(count, -1) for part in parts], axis=1), True
    return None


def spaces_of(observation: Any, action: spaces.Box, name: str) -> Spaces:
    """The spaces of an environment; only Boxes, and dictionaries and tuples of them, can be learned from."""
    found = Spaces(tuple(_boxes(observation, name, ())), tuple(map(int, action.shape)))
    if found.obs_dim == 0:
        raise UserError(
            f"The observations of {name} are empty; give an environment that shows something of its state."
        )
    return found


def _boxes(space: Any, name: str, path: Path) -> Iterator[Piece]:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        inside = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        for key, inner in cast(Any, inside):
            yield from _boxes(inner, name, (*path, key))
        return
    if not isinstance(space, spaces.Box):
        raise UserError(
            f"The observations of {name} hold {space}, but only Box (or Dict and Tuple of Box) can be learned from;"
            " wrap it with gymnasium.wrappers.FlattenObservation, or give another environment."
        )
    if space.dtype == np.uint8 and len(space.shape) == 3:
        raise UserError(
            f"The observations of {name} are images {space.shape}, which this library does not learn from;"
            " give an environment whose observations are state vectors."
        )
    yield Piece(path, tuple(map(int, space.shape)))
