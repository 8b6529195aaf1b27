"""`macura train`: from flags, a preset and perhaps a file to a run."""

import dataclasses
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import tyro

from macura import presets, runs
from macura.cli import arguments, settings
from macura.core import UserError
from macura.envs import Task
from macura.training import Interrupted, RunConfig, from_dict, memory, override, to_dict
from macura.training import run as train

DEFAULT_ALGORITHM = "macura"


@dataclasses.dataclass(frozen=True)
class Launch:
    """What `macura train` takes besides the settings of a run."""

    env: str = presets.DEFAULT_ENV
    """Short for --env.id: a Gymnasium id, dm_control/DOMAIN-TASK-v0, or package.module:function."""
    termination: str = "auto"
    """Short for --imagination.termination."""
    reward: str = "learned"
    """Short for --imagination.reward."""
    out: str | None = None
    """Folder of the run; without it runs/ENV-ALGORITHM-PRESET-sSEED. An unfinished run in it goes on."""
    resume: str | None = None
    """Folder of an unfinished run to go on with, as it was begun."""
    config: str | None = None
    """YAML or JSON file of settings, such as the config.json of a run; flags win over it."""
    print_config: bool = False
    """Print the resolved configuration and the memory it will take as JSON, and stop."""
    wandb: bool = False
    """Log to Weights & Biases as well."""


class Asked(NamedTuple):
    """A command line, understood."""

    launch: Launch
    settings: dict[str, Any]
    """Settings that were given, by dotted key; texts from flags, values from the file."""


def run(argv: Sequence[str]) -> int:
    """Train, or go on; 0 when the run is finished, 128 + signal when it was interrupted."""
    asked = understand([word for word in argv if word not in ("-h", "--help")])
    if arguments.wants_help(argv):
        _print_help(asked)
        return 0
    resumed = asked.launch.resume is not None
    config = _resumed(asked) if resumed else configure(asked.settings)
    if asked.launch.print_config:
        return _print_config(config)
    out = Path(asked.launch.resume or asked.launch.out or default_folder(config))
    return _train(config, out, asked.launch.wandb)


def understand(argv: Sequence[str]) -> Asked:
    """Take a command line apart into what launches a run and what the run is."""
    line = arguments.take_apart(argv, arguments.switches(Launch))
    own = {field.name for field in dataclasses.fields(Launch)} - settings.SHORT.keys()
    launching = {key: text for key, text in line.flags.items() if key in own}
    launch = arguments.parse(Launch, arguments.Line(line.words, launching), "train")
    given = settings.in_full({key: text for key, text in line.flags.items() if key not in own})
    if launch.config is not None:
        given = settings.in_full(arguments.read_file(Path(launch.config))) | given
    return Asked(launch, given)


def configure(given: Mapping[str, Any]) -> RunConfig:
    """The configuration of a new run: preset, then file, then flags."""
    algorithm, preset, env = (
        str(given.get(key, default))
        for key, default in zip(
            presets.CHOSEN_FIRST, (DEFAULT_ALGORITHM, "default", presets.DEFAULT_ENV), strict=True
        )
    )
    start = presets.build(algorithm, env, preset)
    rest = {key: value for key, value in given.items() if key not in presets.CHOSEN_FIRST}
    return presets.build(algorithm, env, preset, overrides=settings.changes(start, rest))


def default_folder(config: RunConfig) -> str:
    """`runs/<env>-<algorithm>-<preset>-s<seed>`."""
    name = f"{config.env.id}-{config.algorithm}-{config.preset}-s{config.seed}"
    return f"runs/{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}"


def _resumed(asked: Asked) -> RunConfig:
    """The configuration that a run was begun with; `UserError` if the flags ask for another one."""
    folder = runs.RunFolder(str(asked.launch.resume))
    config = from_dict(RunConfig, folder.read_config())
    out = asked.launch.out
    if out is not None and Path(out).resolve() != folder.path.resolve():
        raise UserError(
            f"--resume goes on in {folder.path}, but --out is {out};"
            " leave --out out, or start a new run without --resume."
        )
    wanted = override(config, settings.changes(config, asked.settings))
    found = runs.differences(to_dict(config), to_dict(wanted))
    if found:
        raise UserError(
            f"--resume goes on with {folder.path} as it was begun, but {'; '.join(map(str, found[:3]))};"
            " leave that flag out, or start a new run with another --out."
        )
    return config


def _train(config: RunConfig, out: Path, wandb: bool) -> int:
    if wandb:
        runs.import_wandb()

    def sinks(folder: runs.RunFolder, config: RunConfig, step: int) -> list[runs.Sink]:
        plain = to_dict(config)
        shown = [runs.console(folder, plain, step), runs.tensorboard(folder, step)]
        return [*shown, runs.wandb(folder, plain, step)] if wandb else shown

    try:
        folder = train(config, out, sinks=sinks)
    except Interrupted as stop:
        print(f"macura: {stop}; go on with: macura train --resume {out}", file=sys.stderr)
        return 128 + stop.signum
    print(f"finished; the best policy is {folder.policy_file}; see it with: macura plot {out}")
    return 0


def _print_config(config: RunConfig) -> int:
    bridge = Task(config.env).make()
    parts = memory.estimate(config, bridge.obs_dim, bridge.act_dim)
    bridge.close()
    needed = parts | {"total": sum(parts.values())}
    print(json.dumps({"config": to_dict(config), "memory": needed}, indent=2))
    memory.refuse_too_much(parts)
    return 0


def _print_help(asked: Asked) -> None:
    """All flags; their defaults are those of the algorithm, preset and environment on the same command line."""
    config = _resumed(asked) if asked.launch.resume else configure(asked.settings)
    launch = dataclasses.replace(asked.launch, env=config.env.id)
    kinds_of: list[Any] = []
    for key, (kind, kinds) in settings.choice_fields(config).items():
        meaning = "Which kind; chosen together with --help, another kind shows its own flags."
        hint = Annotated[Literal[tuple(kinds)], tyro.conf.arg(name=key.replace("_", "-"), help=meaning)]
        kinds_of.append((key.replace(".", "__"), hint, kind))
    kind_flags = dataclasses.make_dataclass("Kinds", kinds_of, frozen=True)
    parts = {"run": config, "launch": launch, "kinds": kind_flags()}
    fields = [
        (name, Annotated[type(part), tyro.conf.arg(name="")], dataclasses.field(default=part))
        for name, part in parts.items()
    ]
    everything = dataclasses.make_dataclass("Train", fields)
    arguments.print_help(
        everything,
        "train",
        f"Train an agent. Defaults below are those of {config.algorithm} with the preset {config.preset}"
        f" ({', '.join(presets.PRESETS)}) on {config.env.id}.",
    )
