"""`macura toy`: where a model can be trusted, shown on a pendulum whose dynamics are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from macura.analysis import pendulum as figures
from macura.cli import arguments
from macura.studies import pendulum
from macura.studies.pendulum import ToyConfig


@dataclass(frozen=True)
class Arguments:
    """What `macura toy` takes."""

    seed: int = ToyConfig.seed
    """First seed, and the one that is drawn."""
    seeds: int = ToyConfig.seeds
    """Independent repetitions behind the claims."""
    grid: int = ToyConfig.grid
    """Points per axis of the heat maps."""
    threshold_scale: float = ToyConfig.threshold_scale
    """xi: kappa is this many times the 95 % quantile of the uncertainty at the data."""
    epochs: int = ToyConfig.epochs
    """Passes over the data with which the ensemble is trained."""
    out: str = "runs/toy"
    """Folder of the figures and of the numbers behind them."""


def run(argv: Sequence[str]) -> int:
    """Compute, draw, and say which of the paper's statements hold."""
    if arguments.wants_help(argv):
        arguments.print_help(
            Arguments, "toy", "Where the model trusts itself, on a pendulum with known dynamics."
        )
        return 0
    asked = arguments.parse(Arguments, arguments.take_apart(argv), "toy")
    config = ToyConfig(asked.seed, asked.seeds, asked.grid, asked.threshold_scale, epochs=asked.epochs)
    out = Path(asked.out)
    pendulum.prepare(out)
    results = pendulum.run(config, lambda line: print(line, flush=True))
    numbers = pendulum.write(results, out)
    drawn = figures.draw(numbers[0], out)
    for verdict in results["summary"]["statements"]:
        print(f"holds in {verdict['holds_in']} of {verdict['of']} seeds: {verdict['statement']}")
    for file in (*drawn.maps, *drawn.bound, *numbers):
        print(file)
    return 0
