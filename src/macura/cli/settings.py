"""The settings of a run from texts: every field of a configuration is a flag, and a key in a file."""

import dataclasses
import itertools
import typing
from collections.abc import Mapping
from typing import Any, cast

from macura.cli.arguments import flag, nearest, scalar
from macura.core import UserError
from macura.training import choices, override, to_dict
from macura.training.codec import hint_of, keys, without_kind

SHORT: Mapping[str, str] = {
    "env": "env.id",
    "termination": "imagination.termination",
    "reward": "imagination.reward",
}
"""What may be left out of a long name."""


def in_full(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings with short names written out."""
    full: dict[str, Any] = {}
    for key, value in settings.items():
        name = SHORT.get(key, key) if not isinstance(value, Mapping) else key
        if name in full:
            raise UserError(
                f"{flag(name)} is given twice ({flag(key)} means the same); leave one of them out."
            )
        full[name] = value
    return full


def changes(config: Any, settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by dotted key, texts of the command line turned into values of their fields' types.

    Which keys there are may depend on the settings themselves: another kind of gate has other settings. `prefix`
    is what flags have in front of these keys.
    """
    settings = {without_kind(config, key): value for key, value in settings.items()}
    shape, found = config, dict[str, Any]()
    for _, level in itertools.groupby(sorted(settings, key=_depth), _depth):
        before = shape
        for key in level:
            found[key] = _value(before, key, settings[key], prefix)
            if choices(hint_of(before, key)):
                shape = None
        shape = before if shape is not None else override(config, found)
    return found


def _depth(key: str) -> int:
    return key.count(".")


def _value(config: Any, key: str, value: Any, prefix: str) -> Any:
    """The value of one setting; `UserError` if there is no such setting, or it is a group of them."""
    hint = hint_of(config, key)
    if hint is None:
        raise UserError(_unknown(key, config, prefix))
    value = scalar(value, hint) if isinstance(value, str) else value
    kinds = choices(hint)
    if len(kinds) == 1 and value is not None:
        example = dataclasses.fields(cast(Any, next(iter(kinds.values()))))[0].name
        raise UserError(
            f"{flag(key)} is a group of settings; set one of them, such as {flag(f'{key}.{example}')}."
        )
    return value


def choice_fields(config: Any, prefix: str = "") -> dict[str, tuple[str, list[str]]]:
    """Every field that holds one of several kinds: dotted key -> the kind it holds, and all kinds."""
    found: dict[str, tuple[str, list[str]]] = {}
    hints = typing.get_type_hints(type(config))
    for field in dataclasses.fields(config):
        value, kinds = getattr(config, field.name), choices(hints[field.name])
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            continue
        if len(kinds) > 1:
            kind = next(name for name, cls in kinds.items() if type(value) is cls)
            found[prefix + field.name] = kind, list(kinds)
        found |= choice_fields(value, f"{prefix}{field.name}.")
    return found


def _unknown(key: str, config: Any, prefix: str) -> str:
    if key.startswith("imagination.") and getattr(config, "imagination", None) is None:
        return (
            f"{flag(key)} belongs to the model, and SAC has none; leave it out, or choose --algorithm macura."
        )
    known = [f"{prefix}{name}" for name in keys(to_dict(config))] + ([] if prefix else list(SHORT))
    group = key.rpartition(".")[0]
    kind = choice_fields(config).get(group)
    held = f" ({flag(group)} is {kind[0]})" if kind else ""
    wrong = flag(prefix + key)
    return f"There is no flag {wrong}{held}.{nearest(prefix + key, known)} `macura train --help` lists all flags."
