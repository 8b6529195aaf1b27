"""How many agent updates follow each environment step."""

from dataclasses import dataclass
from typing import Literal

from macura.core import UserError

Rounding = Literal["nearest", "down"]


@dataclass(frozen=True)
class FixedUpdates:
    """The same number of updates after every step, once there is data to learn from (SAC, MBPO, M2AC)."""

    count: int = 1
    """G, agent updates per environment step."""

    def __post_init__(self) -> None:
        if self.count < 0:
            raise UserError(f"updates.count is {self.count}, but cannot be negative; try --updates.count 1.")

    def most(self) -> int:
        """The largest number this rule can give."""
        return self.count

    def at(self, stored: int, capacity: int) -> int:
        """G, whatever is stored."""
        return self.count


@dataclass(frozen=True)
class ProportionalUpdates:
    """More updates the more imagined data is trusted: G = round(G_max |D| / |D|_max) (MACURA)."""

    maximum: int = 20
    """G_max, agent updates per environment step when the imagined buffer is full."""
    rounding: Rounding = "nearest"
    """`nearest` as in the paper, `down` as in its published code."""

    def __post_init__(self) -> None:
        if self.maximum < 0:
            raise UserError(
                f"updates.maximum is {self.maximum}, but cannot be negative; try --updates.maximum 20."
            )

    def most(self) -> int:
        """The largest number this rule can give."""
        return self.maximum

    def at(self, stored: int, capacity: int) -> int:
        """G for `stored` rows of `capacity`, in exact integer arithmetic."""
        if self.rounding == "down":
            return self.maximum * stored // capacity
        return (2 * self.maximum * stored + capacity) // (2 * capacity)


UpdateRule = FixedUpdates | ProportionalUpdates
