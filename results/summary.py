"""The last evaluations in a table made by collect.py, seeds in order: python results/summary.py returns.csv."""

import sys
from pathlib import Path

import pandas as pd


def main(path: Path) -> None:
    """A Markdown table: one line for every group, task and algorithm."""
    table = pd.read_csv(path, dtype={"group": str}).sort_values(["seed", "step"])
    print(
        "| group | task, steps | algorithm | last evaluation, one per seed | median |\n|---|---|---|---|---|"
    )
    for (env, group, algorithm), runs in table.groupby(["env", "group", "algorithm"], sort=True):
        last = runs.groupby("seed").last()
        returns = ", ".join(f"{value:.0f}".replace("-", "−") for value in last["eval_return_mean"])
        median = f"{last['eval_return_mean'].median():.0f}".replace("-", "−")
        print(f"| `{group}` | {env}, {last['step'].min():,} | {algorithm} | {returns} | {median} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
