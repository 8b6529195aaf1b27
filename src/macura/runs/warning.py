"""How a room without a screen tells the user something."""

import sys
from collections.abc import Callable
from contextlib import suppress

Warn = Callable[[str], None]
"""Takes one line for the user."""


def print_warning(line: str) -> None:
    """Print one line on standard error, marked as a warning; a run goes on where nobody can read it."""
    with suppress(OSError):
        sys.stderr.write(f"warning: {line}\n")
        sys.stderr.flush()
