"""Configurations as plain dictionaries, fit for JSON, and back; unknown keys and wrong types are refused by name.

Where a field may hold one of several dataclasses (a gate, a horizon, an update rule), the dictionary says which
under `kind`: the class name in snake case.
"""

import dataclasses
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from macura.core import UserError, did_you_mean

T = TypeVar("T")


def kind_of(cls: type) -> str:
    """`LinearHorizon` -> `linear_horizon`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def to_dict(config: Any) -> dict[str, Any]:
    """The configuration as nested dictionaries of plain values."""
    hints = typing.get_type_hints(type(config))
    return {
        field.name: _encode(getattr(config, field.name), hints[field.name])
        for field in dataclasses.fields(config)
        if field.init
    }


def from_dict(cls: type[T], data: Mapping[str, Any], where: str = "") -> T:
    """The inverse of `to_dict`; keys left out take their defaults."""
    fields = {field.name for field in dataclasses.fields(typing.cast(Any, cls)) if field.init}
    for key in data:
        if key not in fields:
            raise UserError(
                f"There is no setting {where + key!r}.{did_you_mean(key, fields)}"
                " `macura train --help` lists all settings."
            )
    hints = typing.get_type_hints(cls)
    return cls(**{key: _decode(hints[key], value, where + key) for key, value in data.items()})


def override(config: T, changes: Mapping[str, Any]) -> T:
    """The configuration with dotted keys replaced: `{"sac.width": 512, "imagination.rollout.gate": "ranked"}`.

    Naming another kind for a field that holds one of several dataclasses starts from that kind's defaults. A value
    may be a dataclass itself; the kind may also be named as a file does, `imagination.rollout.gate.kind`.
    """
    data = to_dict(config)
    named = {without_kind(config, key): value for key, value in changes.items()}
    for dotted, value in sorted(named.items(), key=lambda item: item[0].count(".")):
        *parents, last = dotted.split(".")
        place: Any = data
        for name in parents:
            place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            known = sorted(keys(data))
            raise UserError(
                f"There is no setting {dotted!r} here.{did_you_mean(dotted, known)}"
                " `macura train --help` lists all settings."
            )
        is_choice = len(choices(hint_of(config, dotted))) > 1
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {"kind": kind_of(type(value)), **to_dict(value)} if is_choice else to_dict(value)
        if is_choice and isinstance(value, str):
            place[last] = {"kind": value}
            config = from_dict(type(config), data)
            data = to_dict(config)  # with the defaults of the new kind, so that deeper keys find their place
        else:
            place[last] = value
    return from_dict(type(config), data)


def without_kind(config: Any, key: str) -> str:
    """A file says which kind a group is by `kind` in it, a keyword or a flag by the name of the group."""
    group = key.removesuffix(".kind")
    return group if len(choices(hint_of(config, group))) > 1 else key


def hint_of(config: Any, key: str) -> Any:
    """The type of the field at a dotted key; None where this configuration has no such field."""
    *parents, last = key.split(".")
    place = config
    for name in parents:
        place = getattr(place, name, None)
    if not dataclasses.is_dataclass(place) or isinstance(place, type):
        return None
    return typing.get_type_hints(type(place)).get(last)


def keys(data: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """All dotted keys of a nested dictionary, branches included."""
    for key, value in data.items():
        yield where + key
        if isinstance(value, Mapping):
            yield from keys(value, f"{where}{key}.")


def choices(hint: Any) -> dict[str, type]:
    """The dataclasses that a field of this type may hold, by kind; empty if it is not such a field."""
    members = [member for member in _members(hint) if dataclasses.is_dataclass(member)]
    return {kind_of(typing.cast(type, member)): typing.cast(type, member) for member in members}


def _members(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _encode(value: Any, hint: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        encoded = to_dict(value)
        return {"kind": kind_of(type(value)), **encoded} if len(choices(hint)) > 1 else encoded
    return list(typing.cast(Any, value)) if isinstance(value, tuple) else value


def _decode(hint: Any, value: Any, where: str) -> Any:
    members = _members(hint)
    value = value.item() if isinstance(value, np.generic) else value
    if value is None and type(None) in members:
        return None
    dataclasses_ = choices(hint)
    if dataclasses_:
        return _decode_dataclass(dataclasses_, value, where)
    for member in members:
        if typing.get_origin(member) is typing.Literal:
            if value in typing.get_args(member):
                return value
        elif isinstance(value, bool) or member is bool:
            if member is bool and isinstance(value, bool):
                return value
        elif member is float and isinstance(value, int | float):
            return float(value)
        elif member is int and (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
            return int(value)
        elif member is str and isinstance(value, str):
            return value
    raise UserError(f"{where} is {value!r}, but must be {describe(hint)}.")


def _decode_dataclass(known: dict[str, type], value: Any, where: str) -> Any:
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping):
        raise UserError(
            f"{where} is {value!r}, but must be a group of settings such as {{{next(iter(known))}: ...}}."
        )
    data = dict(typing.cast(Mapping[str, Any], value))
    if len(known) == 1:
        return from_dict(next(iter(known.values())), data, f"{where}.")
    kind = data.pop("kind", next(iter(known)))
    if not isinstance(kind, str) or kind not in known:
        raise UserError(
            f"{where} is {kind!r}, but must be one of {', '.join(known)}.{did_you_mean(str(kind), known)}"
        )
    return from_dict(known[kind], data, f"{where}.")


def describe(hint: Any) -> str:
    """A type as a person would say it."""
    words: list[str] = []
    names = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "text",
        type(None): "nothing",
    }
    for member in _members(hint):
        if typing.get_origin(member) is typing.Literal:
            words.append("one of " + ", ".join(map(str, typing.get_args(member))))
        else:
            words.append(names.get(member, str(member)))
    return " or ".join(words)
