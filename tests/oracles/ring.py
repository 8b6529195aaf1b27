"""The imagined buffer as a Python list, one row at a time."""

from typing import Any


class ListRing:
    """Rows oldest first. By age: each row lives for `rounds_kept` rounds that stored something."""

    def __init__(self, rounds_kept: int, evict_by_age: bool):
        self.rounds_kept = rounds_kept
        self.evict_by_age = evict_by_age
        self.rows: list[tuple[int, Any]] = []
        self.opened = False

    def begin_round(self) -> None:
        self.opened = False

    def append(self, rows: list[Any], keep: list[bool], limit: int) -> None:
        for row, kept in zip(rows, keep, strict=True):
            if not kept:
                continue
            if not self.opened and self.evict_by_age:
                aged = [(life - 1, old) for life, old in self.rows]
                self.rows = [(life, old) for life, old in aged if life > 0]
            self.opened = True
            self.rows.append((self.rounds_kept, row))
        while len(self.rows) > limit:
            self.rows.pop(0)

    @property
    def contents(self) -> list[Any]:
        return [row for _, row in self.rows]
