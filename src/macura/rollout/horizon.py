"""T_max: how long a rollout may become, by epoch."""

from dataclasses import dataclass

from macura.core import UserError


@dataclass(frozen=True)
class FixedHorizon:
    """The same T_max in every epoch."""

    length: int = 10
    """T_max, steps."""

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UserError(f"horizon.length is {self.length}, but must be at least 1; try 10.")

    def at(self, epoch: int) -> int:
        """T_max in this epoch."""
        return self.length

    def longest(self) -> int:
        """The largest T_max of all epochs."""
        return self.length


@dataclass(frozen=True)
class LinearHorizon:
    """T_max moves from c to d between epochs a and b: the whole part of c + (d - c) min((x - a) / (b - a), 1).

    Up to a it is c. The formula counts epochs x from 1, as the settings of MBPO do.
    """

    from_epoch: int = 20
    """a, the last epoch with the first length."""
    to_epoch: int = 100
    """b, the first epoch with the last length."""
    from_length: int = 1
    """c, steps up to epoch a."""
    to_length: int = 10
    """d, steps from epoch b on."""

    def __post_init__(self) -> None:
        if not 0 <= self.from_epoch < self.to_epoch:
            raise UserError(
                f"horizon.from_epoch is {self.from_epoch}, but must be at least 0 and below horizon.to_epoch,"
                f" {self.to_epoch}; try 20 and 100."
            )
        if min(self.from_length, self.to_length) < 1:
            raise UserError(
                f"horizon.from_length and horizon.to_length are {self.from_length} and {self.to_length},"
                " but must be at least 1; try 1 and 10."
            )

    def at(self, epoch: int) -> int:
        """T_max in this epoch, counted from 0; in whole numbers, so that nothing is lost to rounding."""
        a, b, c, d = self.from_epoch, self.to_epoch, self.from_length, self.to_length
        passed = min(max(epoch + 1 - a, 0), b - a)
        return c + (d - c) * passed // (b - a)

    def longest(self) -> int:
        """The largest T_max of all epochs."""
        return max(self.from_length, self.to_length)


Horizon = FixedHorizon | LinearHorizon
