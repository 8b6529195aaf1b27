"""Command lines as typed values: flags and their types are the fields of a dataclass.

Texts are decoded and refused by the same code as keywords in Python and keys in a file (`training.codec`), so
that one mistake has one wording; tyro writes the help.
"""

import dataclasses
import difflib
import re
import typing
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import tyro
import yaml

from macura.core import UserError
from macura.training import from_dict

T = TypeVar("T")


class Line(NamedTuple):
    """A command line taken apart: words without a flag, and the texts of flags by dotted key."""

    words: list[str]
    flags: dict[str, str]


class _Loader(yaml.SafeLoader):
    """YAML in which `3e-4` is a number, as everywhere but in YAML 1.1."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def wants_help(argv: Sequence[str]) -> bool:
    """Whether the command line asks for help."""
    return "--help" in argv or "-h" in argv


def take_apart(argv: Sequence[str], switches: Iterable[str] = ()) -> Line:
    """`RUN --sac.learning-rate 3e-4 --json` as texts by key; `--flag=value` works as well.

    A flag that is followed by another one, or is among `switches`, means `true`.
    """
    words: list[str] = []
    flags: dict[str, str] = {}
    left = list(argv)
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            words.append(word)
            continue
        name, has_value, value = word[2:].partition("=")
        key = name.replace("-", "_")
        if key in flags:
            raise UserError(f"--{name} is given twice; leave one of them out.")
        if not has_value:
            alone = key in switches or not left or left[0].startswith("--")
            value = "true" if alone else left.pop(0)
        flags[key] = value
    return Line(words, flags)


def parse(cls: type[T], line: Line, command: str, what: str = "") -> T:
    """The dataclass `cls` filled from a command line; words without a flag fill its positional field.

    `what` says what these words are, for somebody who left them out.
    """
    hints = typing.get_type_hints(cls)
    for key in line.flags:
        refuse_unknown(key, hints, command)
    given = {key: scalar(text, hints[key]) for key, text in line.flags.items()}
    place = _positional(cls)
    many = place is not None and typing.get_origin(hints[place]) is tuple
    allowed = 0 if place is None else len(line.words) if many else 1
    if len(line.words) > allowed:
        refuse_word(line.words[allowed], command)
    if place is None or (place in given and not line.words):
        return from_dict(cls, given)
    if not line.words:
        raise UserError(f"`macura {command}` needs {what}: macura {command} {place.upper()}")
    if not many:
        return from_dict(cls, given | {place: line.words[0]})
    return cast(T, dataclasses.replace(cast(Any, from_dict(cls, given)), **{place: tuple(line.words)}))


def switches(cls: type[Any]) -> list[str]:
    """The flags that take no value."""
    return [name for name, hint in typing.get_type_hints(cls).items() if hint is bool]


def refuse_unknown(key: str, known: Iterable[str], command: str) -> None:
    """`UserError` for a flag that does not exist, with the nearest one that does."""
    names = list(known)
    if key not in names:
        raise UserError(
            f"There is no flag {flag(key)}.{nearest(key, names)} `macura {command} --help` lists all flags."
        )


def nearest(key: str, known: Iterable[str]) -> str:
    """`' Did you mean --sac.width?'` for the closest known flag, or the empty string."""
    near = difflib.get_close_matches(key, list(known), n=1, cutoff=0.6)
    return f" Did you mean {flag(near[0])}?" if near else ""


def refuse_word(word: str, command: str) -> None:
    """`UserError` for a word that belongs to no flag."""
    raise UserError(
        f"{word!r} belongs to no flag; flags begin with two dashes, as in --steps 1000:"
        f" see macura {command} --help."
    )


def refuse_number(key: str, value: int | float, wanted: str) -> None:
    """`UserError` for a number out of bounds."""
    raise UserError(f"{flag(key)} is {value}, but must be {wanted}; leave it out for its default.")


def flag(key: str) -> str:
    """`sac.learning_rate` -> `--sac.learning-rate`."""
    return "--" + key.replace("_", "-")


def scalar(text: str, hint: Any) -> Any:
    """A number, truth value or nothing where the type is not plain text; what does not fit is refused later."""
    if hint is str or (str in typing.get_args(hint) and text.lower() not in ("none", "null")):
        return text
    try:
        value = yaml.load(text, _Loader)
    except yaml.YAMLError:
        return text
    return None if text.lower() == "none" else text if isinstance(value, dict | list) else value


def read_file(path: Path) -> dict[str, Any]:
    """The settings in a YAML or JSON file, as dotted keys."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UserError(
            f"Cannot read the configuration {path} ({error.strerror}); give a YAML or JSON file."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        raise UserError(f"{path} is neither YAML nor JSON (it breaks{line}); correct it there.") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no settings; write one a line, such as `steps: 5000`.")
    return dotted(cast(dict[str, Any], content))


def dotted(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"sac": {"width": 512}}` as `{"sac.width": 512}`."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}".replace("-", "_")
        if isinstance(value, Mapping):
            flat |= dotted(cast(Mapping[str, Any], value), f"{key}.")
        else:
            flat[key] = value
    return flat


@contextmanager
def writing(out: str | Path) -> Generator[None]:
    """Turn what the system refuses to write into a line for the user."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"Cannot write {out} ({error.strerror or error}); give a place that you may write to."
        ) from error


def print_help(cls: type[Any], command: str, description: str, default: Any = None) -> None:
    """All flags of a dataclass, with types, meaning and defaults."""
    settings = (
        tyro.conf.AvoidSubcommands,
        tyro.conf.FlagConversionOff,
        tyro.conf.PositionalMetavarFromFieldName,
    )
    start = {} if default is None else {"default": default}
    try:
        tyro.cli(
            cls, prog=f"macura {command}", description=description, args=["--help"], config=settings, **start
        )
    except SystemExit:
        return


def _positional(cls: type[Any]) -> str | None:
    """The field that takes words without a flag, if there is one."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return next((name for name, hint in hints.items() if typing.get_origin(hint) is typing.Annotated), None)
