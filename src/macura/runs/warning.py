"""How a room without a screen tells the user something."""

from collections.abc import Callable

Warn = Callable[[str], None]
"""Takes one line for the user."""


def print_warning(line: str) -> None:
    """Print one line on standard error, marked as a warning."""
    from rich.console import Console

    Console(stderr=True, soft_wrap=True, highlight=False).print(
        "warning:", line, style="yellow", markup=False
    )
