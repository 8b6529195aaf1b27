"""Evaluations of all runs below a folder as one table: python results/collect.py RUNS_FOLDER > returns.csv."""

import csv
import sys
from pathlib import Path

from macura.runs import RunFolder, read_metrics

FIELDS = ("group", "algorithm", "preset", "env", "seed", "step", "eval_return_mean")


def main(root: Path) -> None:
    """One line for every evaluation; `group` is the folder between the root and the run, if there is one."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(FIELDS)
    for config_file in sorted(root.rglob("config.json")):
        folder = RunFolder(config_file.parent)
        config = folder.read_config()
        group = str(folder.path.parent.relative_to(root))
        known = [group, config["algorithm"], config["preset"], config["env"]["id"], config["seed"]]
        for row in read_metrics(folder.metrics_file):
            if row.get("eval/return_mean") is not None:
                table.writerow([*known, row["step"], round(row["eval/return_mean"], 1)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
