"""One step of an optimiser."""

from typing import Any, TypeVar, cast

import optax

Parameters = TypeVar("Parameters")


def descend(
    rule: optax.GradientTransformation, gradient: Parameters, memory: optax.OptState, parameters: Parameters
) -> tuple[Parameters, optax.OptState]:
    """The parameters after one step along the gradient, and what the optimiser remembers of it."""
    steps, memory = rule.update(cast(Any, gradient), memory, cast(Any, parameters))
    return cast(Parameters, optax.apply_updates(cast(Any, parameters), steps)), memory
