"""Where two configurations differ, in words."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from macura.runs.files import JSON

ABSENT = "(absent)"


class Difference(NamedTuple):
    """A dotted key and its two values as JSON, or `(absent)`."""

    key: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.key} was {self.before}, is {self.after}"


def differences(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[Difference]:
    """Every leaf in which two trees of JSON differ, in the order of `after`, keys dotted (`sac.width`)."""
    old, new = _leaves(before), _leaves(after)
    keys = [*new, *(key for key in old if key not in new)]
    found = (Difference(key, old.get(key, ABSENT), new.get(key, ABSENT)) for key in keys)
    return [d for d in found if d.before != d.after and not _same_number(d.before, d.after)]


def _leaves(tree: Mapping[str, JSON], prefix: str = "") -> dict[str, str]:
    leaves: dict[str, str] = {}
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            leaves |= _leaves(value, f"{key}.")
        else:
            leaves[key] = json.dumps(value)
    return leaves


def _same_number(before: str, after: str) -> bool:
    """1 and 1.0 are one value: keyword arguments and command line may write either."""
    try:
        return float(before) == float(after)
    except ValueError:
        return False
