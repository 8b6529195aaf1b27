"""The task of a run: as many environments of one kind as are needed, and what is known about them."""

import importlib.metadata
from collections.abc import Callable
from typing import Any, cast

import gymnasium

from macura.core import UserError
from macura.envs import registry, terminations, wrappers
from macura.envs.bridge import Bridge
from macura.envs.config import EnvConfig, check_numbers, resolve

Env = gymnasium.Env[Any, Any]

_KEEPS_TERMINATION = {"render_mode", "ctrl_cost_weight", "forward_reward_weight", "contact_cost_weight"}
"""Constructor options under which an environment still ends as its id says."""


class Task:
    """What `config` names, or an environment or a function that was given in Python.

    Nothing is looked up before the first `make`: a policy can be loaded where its environment is not installed.
    """

    def __init__(self, config: EnvConfig, given: Any = None) -> None:
        check_numbers(config)
        if given is not None and not isinstance(given, gymnasium.Env) and not callable(given):
            raise UserError(
                f"A {type(given).__name__} is not an environment;"
                " give an id, one gymnasium.Env, or a function that makes one."
            )
        self.config = config
        self._given = given
        self._physics: dict[str, Any] | None = None

    @property
    def independent(self) -> bool:
        """Whether every `make` gives an environment of its own; one instance is shared by all."""
        return not isinstance(self._given, gymnasium.Env)

    @property
    def builtin_termination(self) -> Callable[..., Any] | None:
        """The termination function of a known task; `None` where the model has to learn it."""
        if self._given is None:
            return terminations.find(self.config.id)
        spec = self._given.spec if isinstance(self._given, gymnasium.Env) else None
        if spec is None or spec.additional_wrappers or not spec.kwargs.keys() <= _KEEPS_TERMINATION:
            return None
        return terminations.find(spec.id)

    def resolved(self) -> EnvConfig:
        """The configuration with its defaults; `UserError` if it names what does not exist."""
        return resolve(self.config) if self._given is None else self.config

    def make(self, render_mode: str | None = None) -> Bridge:
        """An environment behind its bridge; for pictures, `render_mode="rgb_array"`."""
        config = self.resolved()
        options: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
        if self._given is None:
            env = registry.make(
                config.id,
                contact_cost=config.contact_cost,
                action_noise=config.action_noise,
                time_limit=config.time_limit,
                **options,
            )
        else:
            env = wrappers.wrap(self._instance(options), config.action_noise, config.time_limit)
        bridge = Bridge(env, config.id, keep_open=not self.independent)
        self._physics = physics_of(env)
        return bridge

    def physics(self) -> dict[str, Any]:
        """The simulator behind the environment and its version, where it is known."""
        if self._physics is None:
            self.make().close()
        assert self._physics is not None
        return self._physics

    def _instance(self, options: dict[str, Any]) -> Env:
        if isinstance(self._given, gymnasium.Env):
            return cast(Env, self._given)
        return registry.call_factory(self.config.id, cast(Callable[..., Any], self._given), **options)


def physics_of(env: Env) -> dict[str, Any]:
    """The simulator and its version; nothing for environments whose simulator is their own code."""
    for name in ("model", "physics"):
        simulator = getattr(env.unwrapped, name, None)
        if type(simulator).__module__.split(".")[0] in ("mujoco", "dm_control"):
            return {"mujoco": importlib.metadata.version("mujoco")}
    return {}
