"""The algorithms as objects, in the manner of Stable-Baselines3: make one, `learn`, `predict`, `save`."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, ClassVar, SupportsInt, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from macura import presets, runs
from macura.core import Stream, UserError, host_rng
from macura.envs import EnvConfig, Task
from macura.training import Judges, RunConfig, SavedPolicy, override, run, to_dict

Array = NDArray[Any]

A = TypeVar("A", bound="Agent")


class Agent:
    """What all four algorithms offer; use one of `MACURA`, `MBPO`, `M2AC`, `SAC`.

    Arguments:

    - `env`: the id of a Gymnasium environment, an environment, a function that makes one, or an `EnvConfig`.
    - `seed`: the one seed from which all randomness derives.
    - `preset`: the table of numbers to start from, as `--preset` on the command line.
    - `termination`: a function of a batch of next observations that says where imagined episodes end, if neither
      the built-in one of a known task nor a learned one is wanted.
    - `reward`: a function of batches of observations, actions and next observations, if the reward is known.
    - `settings`: every other setting of the command line, by its name: `exploration="white"`,
      `sac={"width": 512}`, `sac=SACConfig(width=512)` or `**{"sac.width": 512}`.
    """

    algorithm: ClassVar[str]

    def __init__(
        self,
        env: Any,
        *,
        seed: SupportsInt = 0,
        preset: str = "default",
        termination: Callable[..., Any] | str | None = None,
        reward: Callable[..., Any] | str | None = None,
        **settings: Any,
    ) -> None:
        given = None if isinstance(env, str | EnvConfig) else env
        where = env if isinstance(env, EnvConfig) else EnvConfig(id=env if given is None else _name_of(env))
        changes = {"seed": seed, **_dotted(settings)}
        for name, function in (("termination", termination), ("reward", reward)):
            if function is not None:
                changes[f"imagination.{name}"] = function if isinstance(function, str) else _path_of(function)
        self.config = presets.build(self.algorithm, where, preset=preset, overrides=changes)
        self._task = Task(self.config.env, given)
        self._judges = Judges(
            terminate=None if isinstance(termination, str) else termination,
            reward=None if isinstance(reward, str) else reward,
        )
        self._policy: SavedPolicy | None = None
        self._rng = host_rng(self.config.seed, Stream.PREDICT)

    def __repr__(self) -> str:
        trained = "not trained" if self._policy is None else "trained"
        where = f"{self.config.env.id!r}, preset={self.config.preset!r}, seed={self.config.seed}"
        return f"<{type(self).__name__}({where}): {trained}>"

    def learn(
        self: A, total_steps: int | float | None = None, out: str | Path | None = None, progress: bool = True
    ) -> A:
        """Train for `total_steps` environment steps; afterwards the agent acts by its best policy by evaluation.

        `out` is the folder of the run: metrics, checkpoints, policies. Repeating the call after an interruption goes
        on where it stopped; a finished folder is never overwritten. Without `out` nothing is left on disk.
        """
        config = self.config if total_steps is None else override(self.config, {"steps": total_steps})
        if out is not None:
            return self._train(config, Path(out), progress)
        with tempfile.TemporaryDirectory(prefix="macura-") as folder:
            return self._train(config, Path(folder) / "run", progress)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Array, Any]:
        """Actions in the environment's units for one observation or a batch; the second value is always `state`.

        Observations are as the environment shows them, dictionaries included, or flattened. The signature is that of
        Stable-Baselines3, so that its `evaluate_policy` works; there is no recurrent state.
        """
        policy = self._trained()
        rows, batched = policy.spaces.rows(observation)
        epsilon = (
            None if deterministic else self._rng.standard_normal((len(rows), policy.act_dim), np.float32)
        )
        actions = policy.to_env(policy.act(rows, epsilon)).reshape(-1, *policy.spaces.action_shape)
        return (actions if batched else actions[0]), state

    def save(self, path: str | Path) -> None:
        """Write the policy and its configuration as one safetensors file."""
        self._trained().save(path)

    def export(self, path: str | Path) -> None:
        """Write the deterministic policy as an ONNX graph: `observation` (batch, numbers) to `action`, both flat.

        Actions are those of `predict(deterministic=True)`. Needs the extra `export`.
        """
        self._trained().export(path)

    @classmethod
    def from_policy(cls: type[A], saved: SavedPolicy) -> A:
        """An agent that acts by a saved policy; `learn` would start afresh with the same settings."""
        agent = cls.__new__(cls)
        agent.config = saved.config
        agent._task = Task(saved.config.env)
        agent._judges = Judges()
        agent._policy = saved
        agent._rng = host_rng(saved.config.seed, Stream.PREDICT)
        return agent

    @classmethod
    def load(cls, path: str | Path) -> "Agent":
        """The agent saved in a file, or the best policy of a run folder; as `macura.load`."""
        return load(path)

    def _train(self: A, config: RunConfig, out: Path, progress: bool) -> A:
        def sinks(folder: runs.RunFolder, config: RunConfig, step: int) -> list[runs.Sink]:
            shown = [runs.console(folder, to_dict(config), step)] if progress else []
            return [*shown, runs.tensorboard(folder, step)]

        folder = run(config, out, task=self._task, judges=self._judges, sinks=sinks)
        self._policy = SavedPolicy.load(folder.policy_file)
        return self

    def _trained(self) -> SavedPolicy:
        if self._policy is None:
            raise UserError("This agent has no policy yet; call learn() first, or macura.load(file).")
        return self._policy


class MACURA(Agent):
    """Rollouts in the model go on for as long as the model trusts itself (Frauenknecht et al. 2024)."""

    algorithm = "macura"


class MBPO(Agent):
    """Rollouts of a scheduled length, all of them kept (Janner et al. 2019)."""

    algorithm = "mbpo"


class M2AC(Agent):
    """The least uncertain share of all rollouts, at a price for uncertainty (Pan et al. 2020)."""

    algorithm = "m2ac"


class SAC(Agent):
    """Soft actor-critic on real data alone (Haarnoja et al. 2018)."""

    algorithm = "sac"


AGENTS: Mapping[str, type[Agent]] = {cls.algorithm: cls for cls in (MACURA, MBPO, M2AC, SAC)}


def load(path: str | Path) -> Agent:
    """The agent saved in a safetensors file, or the best policy of a run folder. Nothing in the file is executed."""
    saved = SavedPolicy.load(path)
    algorithm = saved.config.algorithm
    if algorithm not in AGENTS:
        raise UserError(f"{path} is a policy of {algorithm!r}, but this macura knows {', '.join(AGENTS)}.")
    return AGENTS[algorithm].from_policy(saved)


def _dotted(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`sac={"width": 512}` and `sac=SACConfig(...)` as `{"sac.width": 512, ...}`."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if is_dataclass(value) and not isinstance(value, type):
            flat[prefix + name] = value
        elif isinstance(value, Mapping):
            flat |= _dotted(cast(Mapping[str, Any], value), f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _name_of(env: Any) -> str:
    spec = getattr(env, "spec", None)
    return spec.id if spec is not None else _path_of(env if callable(env) else type(env))


def _path_of(function: Any) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', 'unknown')}:{name}"
