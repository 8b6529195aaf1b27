"""The two ways a run can be refused or fail, each one line for the person who reads it."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Bad input: one line that says what is wrong, why, and what to type instead. Exit code 2."""


class RunError(Exception):
    """The run itself failed (environment, divergence, disk); what was saved is intact. Exit code 1."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`' Did you mean X?'` for the closest known word, or the empty string."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
