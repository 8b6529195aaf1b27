"""Two seeds side by side, a core each, against one after the other on two cores: environment steps a second.

    python benchmarks/parallel_seeds.py --presets quick,laptop --env HalfCheetah-v5 --out /tmp/parallel

Only whole epochs after the first rounds count, by the times that the runs themselves write: starting up and compiling
is left out. Run it on a machine that does nothing else.
"""

import argparse
import json
import shutil
from pathlib import Path

from macura.runs import read_metrics, versions
from macura.studies.pool import Pool
from macura.studies.record import Job, Record, job
from macura.studies.schedule import execute, plan

STEPS = {"quick": 4000, "laptop": 3000}
EPOCH = 500
"""Steps between two lines with times; the first epochs of a run compile and warm up."""
LEFT_OUT = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default="quick,laptop")
    parser.add_argument("--algorithm", default="macura")
    parser.add_argument("--env", default="HalfCheetah-v5")
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("runs/parallel_seeds"))
    asked = parser.parse_args()
    shutil.rmtree(asked.out, ignore_errors=True)
    for preset in asked.presets.split(","):
        steps = asked.steps or STEPS.get(preset, 3000)
        records = [
            Record(asked.algorithm, asked.env, preset, s, steps, {"epoch_steps": EPOCH}) for s in (0, 1)
        ]
        apart = measure(records, asked.out / preset / "side_by_side", processes=2, cores=1)
        together = measure(records, asked.out / preset / "one_after_the_other", processes=1, cores=2)
        result = {
            "preset": preset,
            "algorithm": asked.algorithm,
            "env": asked.env,
            "steps_per_second_side_by_side": round(sum(apart), 2),
            "steps_per_second_one_after_the_other": round(sum(together) / len(together), 2),
            "gain": round(sum(apart) * len(together) / sum(together), 3),
            "versions": {name: versions()[name] for name in ("jax", "mujoco")},
        }
        print(json.dumps(result), flush=True)


def measure(records: list[Record], out: Path, processes: int, cores: int) -> list[float]:
    """Do the runs; environment steps a second of each."""
    jobs = [job(record, out) for record in records]
    with Pool(processes, cores) as pool:
        summary = execute(plan(jobs), pool)
    if summary.failed:
        raise SystemExit(f"{summary.failed[0].job.label} failed: {summary.failed[0].message}")
    return [speed(one) for one in jobs]


def speed(one: Job) -> float:
    """Steps a second over the epochs that count."""
    rows = [row for row in read_metrics(one.folder / "metrics.jsonl") if "eval/return_mean" in row][LEFT_OUT:]
    seconds = sum(value for row in rows for name, value in row.items() if name.startswith("time/"))
    return len(rows) * EPOCH / seconds


if __name__ == "__main__":
    main()
