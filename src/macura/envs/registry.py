"""From an id to the environment as we train on it: the paper's observations, rewards and time limits.

Ant and Humanoid are those of the MBPO line of work: the observation is (qpos[2:], qvel), 27 and 45 numbers, without
contact forces and inertias. Version 5 offers exactly that as constructor options; version 4 is cut to it.
"""

import importlib
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium

from macura.core import UserError, did_you_mean
from macura.envs import pendulum, wrappers

Env = gymnasium.Env[Any, Any]

DEEPMIND = "dm_control/"

_V5 = ("include_cinert", "include_cvel", "include_qfrc_actuator", "include_cfrc_ext")
_LEFT_OUT: Mapping[str, dict[str, Any]] = {
    "Ant-v4": {},
    "Ant-v5": {"include_cfrc_ext_in_observation": False},
    "Humanoid-v4": {},
    "Humanoid-v5": {f"{name}_in_observation": False for name in _V5},
}
"""Constructor options that leave only (qpos[2:], qvel) in the observation, where there are such options."""

_LENGTH = {"Ant-v4": 27, "Humanoid-v4": 45}
"""Numbers at the front of the observation that are (qpos[2:], qvel)."""


def make(
    env_id: str,
    *,
    contact_cost: bool | None = None,
    action_noise: float = 0.0,
    time_limit: int | None = None,
    **options: Any,
) -> Env:
    """The Gymnasium environment as we train on it; further options go to its constructor."""
    if is_function(env_id):
        env = call_factory(env_id, import_factory(env_id), **options)
        return wrappers.wrap(env, action_noise, time_limit)
    require_known(env_id)
    if has_contact_cost(env_id):
        options = _contact_options(env_id, bool(contact_cost)) | _LEFT_OUT[env_id] | options
    try:
        with _without_known_warnings(env_id):
            env: Env = gymnasium.make(
                env_id, max_episode_steps=time_limit, disable_env_checker=True, **options
            )
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        raise UserError(_missing(env_id, error)) from error
    except Exception as error:
        raise UserError(f"{env_id} cannot be made: {one_line(error)}; {_remedy()}.") from error
    if env_id in _LENGTH:
        env = wrappers.ObservationCut(env, _LENGTH[env_id])
    if env_id == "Humanoid-v4" and contact_cost:
        env = wrappers.HumanoidContactCost(env)
    # A DeepMind environment brings its own time limit; it is never longer than what it is wrapped in here.
    return wrappers.wrap(env, action_noise, None)


def has_contact_cost(env_id: str) -> bool:
    """Whether the contact cost is a choice in this environment."""
    return env_id in _LEFT_OUT


def _contact_options(env_id: str, contact_cost: bool) -> dict[str, Any]:
    """Ant: 5e-4 sum clip(force, -1, 1)^2. Humanoid: min(5e-7 sum force^2, 10)."""
    return {
        "Ant-v4": {"use_contact_forces": contact_cost},
        "Ant-v5": {"contact_cost_weight": 5e-4 if contact_cost else 0.0},
        "Humanoid-v4": {},
        "Humanoid-v5": {"contact_cost_weight": 5e-7 if contact_cost else 0.0},
    }[env_id]


def is_function(env_id: str) -> bool:
    """Whether the id is `package.module:function`; Gymnasium's own `module:Name-v0` is not."""
    return ":" in env_id and not re.search(r"-v\d+$", env_id)


def require_known(env_id: str) -> None:
    """`UserError` with the nearest known id, unless Gymnasium knows this one."""
    if env_id.startswith(DEEPMIND):
        _register_deepmind(env_id)
    elif env_id.startswith("macura/"):
        pendulum.register()
    elif ":" in env_id:
        module, _, env_id = env_id.partition(":")
        _import_module(module, env_id)
    if env_id not in gymnasium.registry or env_id in _retired():
        pendulum.register()
        near = did_you_mean(env_id, gymnasium.registry.keys() - _retired())
        raise UserError(
            f"There is no environment {env_id!r}.{near}"
            " Give a Gymnasium id, dm_control/DOMAIN-TASK-v0, or package.module:function."
        )


def _retired() -> set[str]:
    """Ids that Gymnasium lists only to say that they are gone: MuJoCo tasks before version 4, bridges to Gym."""
    return {
        env_id
        for env_id, spec in gymnasium.registry.items()
        if getattr(spec.entry_point, "__name__", "").startswith("_raise_")
    }


def import_factory(path: str) -> Callable[..., Any]:
    """The function called `package.module:function`; modules in the current directory can be imported."""
    name, _, attribute = path.partition(":")
    module = _import_module(name, path)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = did_you_mean(part, [known for known in dir(found) if not known.startswith("_")])
            raise UserError(f"{name} has no function {attribute!r}.{near} Give package.module:function.")
        found = getattr(found, part)
    if not callable(found):
        raise UserError(f"{path} is not a function; give package.module:function that makes an environment.")
    return found


def call_factory(name: str, factory: Callable[..., Any], **options: Any) -> Env:
    """The environment that the function makes; it is only told of a render mode if it has such a parameter."""
    if not _takes(factory, "render_mode"):
        options.pop("render_mode", None)
    try:
        env = factory(**options)
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"{name} failed to make an environment ({type(error).__name__}: {one_line(error)});"
            " call it in Python to see where."
        ) from error
    if not isinstance(env, gymnasium.Env):
        raise UserError(
            f"{name} returned {type(env).__name__}, not an environment; let it return one gymnasium.Env."
        )
    return env


def _takes(factory: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(factory).parameters
    except (TypeError, ValueError):  # written in C
        return False


def one_line(error: BaseException) -> str:
    """The message of an exception, on one line."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _import_module(name: str, path: str) -> Any:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise UserError(
            f"The module of {path!r} cannot be imported ({type(error).__name__}: {one_line(error)});"
            " give package.module:function, importable from the current directory."
        ) from error


def _register_deepmind(env_id: str) -> None:
    try:
        with _without_known_warnings(env_id):
            importlib.import_module("dm_control.suite")
            importlib.import_module("shimmy")
    except ImportError as error:
        raise UserError(_missing(env_id, error)) from error


def _remedy() -> str:
    """MuJoCo cannot even be imported under a MUJOCO_GL that it does not know or that is not installed."""
    renderer = os.environ.get("MUJOCO_GL")
    if renderer is not None:
        try:
            importlib.import_module("mujoco")
        except Exception:
            return f"MUJOCO_GL is {renderer!r}, which does not work here: unset it, or set it to egl"
    return "look at the options given to it"


def _missing(env_id: str, error: Exception) -> str:
    if env_id.startswith(DEEPMIND):
        return f"{env_id} needs DeepMind Control, which is not installed; type: pip install 'macura[dmc]'"
    if type(error) is ImportError:  # it is there, but does not do
        return f"{env_id} cannot be made: {one_line(error)}; give another environment."
    if "mujoco" in str(error).lower():
        return (
            f"{env_id} needs MuJoCo, which cannot be imported ({one_line(error)});"
            " type: pip install 'mujoco>=3.3.3,<4'"
        )
    return f"{env_id} needs a package that is not installed: {one_line(error)}."


@contextmanager
def _without_known_warnings(env_id: str) -> Generator[None]:
    """Silence what others are known to say while an environment is made, and nothing else."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*is out of date.*", DeprecationWarning)  # -v4, chosen on purpose
        warnings.filterwarnings(
            "ignore", ".*DISPLAY environment variable is missing.*"
        )  # no screen is needed
        if not env_id.startswith("HalfCheetah-"):
            yield
            return
        mujoco: Any = importlib.import_module("mujoco")
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(_on_mujoco_warning)
        try:
            yield
        finally:
            mujoco.set_mju_user_warning(before)


def _on_mujoco_warning(message: str) -> None:
    if "settotalmass" not in message:  # about HalfCheetah's own file, from MuJoCo 3.17 on
        warnings.warn(f"MuJoCo: {message}", RuntimeWarning, stacklevel=2)
