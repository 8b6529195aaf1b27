"""What ends and rewards imagined episodes: built-in functions, a user's own, or the model itself."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from macura.core import UserError
from macura.envs import Task
from macura.training.config import RunConfig

Terminate = Callable[[Float[Array, "*batch obs"]], Bool[Array, "*batch"]]
Reward = Callable[[Array, Array, Array], Float[Array, "*batch"]]


@dataclass(frozen=True)
class Judges:
    """What ends and rewards imagined episodes where the model does not learn it; `None` where it does."""

    terminate: Terminate | None = None
    reward: Reward | None = None


def resolve(config: RunConfig, task: Task, obs: int, act: int, given: Judges | None = None) -> Judges:
    """The functions that the configuration names, or that were given in Python; nothing for plain SAC."""
    imagination = config.imagination
    if imagination is None:
        return Judges()
    given = given or Judges()
    flags = jnp.zeros((2,), jnp.bool_), "a boolean"
    numbers = jnp.zeros((2,), jnp.float32), "a number"
    states, actions = jnp.zeros((2, obs), jnp.float32), jnp.zeros((2, act), jnp.float32)

    terminate = given.terminate
    if terminate is None and imagination.termination == "auto":
        terminate = task.builtin_termination
    elif terminate is None and imagination.termination == "never":
        terminate = _never
    elif terminate is None and ":" in imagination.termination:
        terminate = import_function("termination", imagination.termination)
    if terminate is not None and terminate is not task.builtin_termination and terminate is not _never:
        terminate = _checked("termination", terminate, (states,), *flags)

    reward = given.reward
    if reward is None and ":" in imagination.reward:
        reward = import_function("reward", imagination.reward)
    if reward is not None:
        reward = _checked("reward", reward, (states, actions, states), *numbers)
    return Judges(terminate, reward)


def import_function(what: str, path: str) -> Callable[..., Any]:
    """The function called `package.module:function`."""
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(
            f"The {what} function {path!r} cannot be imported ({error});"
            " give package.module:function, importable from here."
        ) from error
    if not callable(found):
        raise UserError(f"{path!r} is not a function; give package.module:function of the {what}.")
    return cast(Callable[..., Any], found)


def _never(next_obs: Float[Array, "*batch obs"]) -> Bool[Array, "*batch"]:
    return jnp.zeros(next_obs.shape[:-1], jnp.bool_)


def _checked(
    what: str, function: Callable[..., Any], arguments: tuple[Array, ...], wanted: Array, kind: str
) -> Callable[..., Any]:
    """The function made safe to compile: traced where JAX can, called back with NumPy arrays where it cannot."""
    try:
        found = jax.eval_shape(function, *arguments)
        compiled = function
    except jax.errors.JAXTypeError:  # written for NumPy
        found = _try_on_host(what, function, arguments)
        compiled = _called_back(function, wanted)
    except Exception as error:
        raise UserError(_complaint(what, f"fails on a batch of 2 observations: {error}")) from error
    shape = getattr(found, "shape", None)
    if shape != wanted.shape:
        raise UserError(
            _complaint(what, f"returns shape {shape} for a batch of 2, but must return {kind} for each row")
        )
    if what == "termination" and found.dtype != jnp.bool_:
        raise UserError(_complaint(what, f"returns {found.dtype}, but must return {kind} for each row"))
    return compiled


def _try_on_host(what: str, function: Callable[..., Any], arguments: tuple[Array, ...]) -> Any:
    import numpy as np

    try:
        return np.asarray(function(*(np.array(argument) for argument in arguments)))
    except Exception as error:
        raise UserError(_complaint(what, f"fails on a batch of 2 observations: {error}")) from error


def _called_back(function: Callable[..., Any], like: Array) -> Callable[..., Any]:
    import numpy as np

    def on_host(*arguments: Any) -> Any:
        return np.asarray(function(*map(np.array, arguments)), like.dtype)

    def compiled(*arguments: Array) -> Array:
        result = jax.ShapeDtypeStruct(arguments[0].shape[:-1], like.dtype)
        return jax.pure_callback(on_host, result, *arguments)

    return compiled


def _complaint(what: str, problem: str) -> str:
    inputs = "next observations" if what == "termination" else "observations, actions and next observations"
    return f"The {what} function {problem}; it is given a batch of {inputs}, one row each."
