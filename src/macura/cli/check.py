"""`macura check`: whether an environment can be trained on, and what would go wrong."""

import json as json_
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import tyro

from macura.cli import arguments, settings
from macura.envs import EnvConfig, Task
from macura.envs.checks import check
from macura.training import override

ABOUT = (
    "Find out whether an environment can be trained on, and what would go wrong."
    " --env.action-noise, --env.time-limit and --env.contact-cost change it as for `macura train`."
)


@dataclass(frozen=True)
class Arguments:
    """What `macura check` takes; besides, every --env.… flag of `macura train`."""

    env: tyro.conf.Positional[str]
    """A Gymnasium id, dm_control/DOMAIN-TASK-v0, or package.module:function that makes an environment."""
    steps: int = 2000
    """Random actions to try."""
    seed: int = 0
    """Seed of the environment and of the actions."""
    json: bool = False
    """Print one JSON list instead of lines."""


def run(argv: Sequence[str]) -> int:
    """Print all findings and what to do about each; 1 if one of them forbids training."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "check", ABOUT)
        return 0
    line = arguments.take_apart(argv, arguments.switches(Arguments))
    own = {key: text for key, text in line.flags.items() if not key.startswith("env.")}
    asked = arguments.parse(Arguments, arguments.Line(line.words, own), "check", "an environment")
    if asked.steps < 1:
        arguments.refuse_number("steps", asked.steps, "at least 1")
    where = EnvConfig(id=asked.env)
    options = {key.removeprefix("env."): text for key, text in line.flags.items() if key not in own}
    findings = check(Task(override(where, settings.changes(where, options, "env."))), asked.steps, asked.seed)
    counts = Counter(finding.level for finding in findings)
    if asked.json:
        print(json_.dumps([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            print(f"{finding.level:9}{finding.what}")
            if finding.advice:
                print(f"{'':9}-> {finding.advice}")
        verdict = "cannot be trained on as it is" if counts["problem"] else "can be trained on"
        print(
            f"{asked.env} {verdict}: {_many(counts['problem'], 'problem')}, {_many(counts['warning'], 'warning')}"
        )
    return 1 if counts["problem"] else 0


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
