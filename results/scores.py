"""The table of scores that `macura report` leaves, as Markdown: python results/scores.py studies/report/scores.csv."""

import sys
from pathlib import Path

import pandas as pd


def main(path: Path) -> None:
    """One table for every study and task, one line for every variant."""
    scores = pd.read_csv(path)
    for (study, env), runs in scores.groupby(["study", "env"], sort=False):
        print(f"\n**{study}**, {env}, {runs['steps'].max():,} steps\n")
        print("| variant | final return, one per seed | median | mean return over the run, median |")
        print("|---|---|---|---|")
        for variant, members in runs.groupby("variant", sort=False):
            done = members.dropna(subset="final_return").sort_values("seed")
            if done.empty:
                print(f"| {variant} | not run | | |")
                continue
            final, whole = done["final_return"], done["mean_return"]
            print(
                f"| {variant} | {', '.join(map(_text, final))} | {_text(final.median())} | {_text(whole.median())} |"
            )


def _text(value: float) -> str:
    return f"{value:,.0f}".replace("-", "−")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
