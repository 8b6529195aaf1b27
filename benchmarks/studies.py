"""What a study costs beside its runs: a thousand runs that take no time, scheduled and reported.

    python benchmarks/studies.py --out /tmp/thousand

A loaded machine stretches seconds, and leaves seconds of processor time nearly as they are; both are printed.
"""

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any


def instant(record: Mapping[str, Any], folder: Path) -> None:
    """A finished run of fifteen evaluations, without training."""
    folder.mkdir(parents=True)
    config = {
        "algorithm": record["algorithm"],
        "env": {"id": record["env"]},
        "seed": record["seed"],
        "steps": 3000,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "manifest.json").write_text(json.dumps({"versions": {"jax": "0"}, "status": "finished"}))
    lines = (
        {"step": step, "eval/return_mean": step + record["seed"], "updates/count": 5}
        for step in range(200, 3001, 200)
    )
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "done").touch()


def main() -> None:
    # Here, because the workers import this file too.
    from macura.analysis import report
    from macura.studies import catalogue, declare
    from macura.studies.pool import Pool
    from macura.studies.schedule import execute, plan

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="a multiple of 8")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/thousand"))
    asked = parser.parse_args()
    shutil.rmtree(asked.out, ignore_errors=True)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent.resolve()), os.environ.get("PYTHONPATH", "")]
    )
    size = declare.Scale(
        ("Hopper-v5", "Ant-v5"), "quick", seeds=asked.runs // 8
    )  # four variants on two tasks
    study = replace(catalogue.BENCHMARK, scales={"smoke": size})
    result: dict[str, object] = {"runs": asked.runs, "processes": asked.processes}
    with timed("declare", result):
        entries = declare.entries(study, "smoke", asked.out)
        declare.write(study, "smoke", asked.out, entries, declare.command(study, "smoke"))
    with timed("schedule", result), Pool(asked.processes, work="studies:instant") as pool:
        summary = execute(plan(entry.job for entry in entries), pool)
    assert len(summary.done) == asked.runs, summary.failed[:1]
    with timed("skip", result), Pool(asked.processes, work="studies:instant") as pool:
        again = execute(plan(entry.job for entry in entries), pool)
    assert len(again.skipped) == asked.runs
    with timed("report", result):
        report.report(asked.out)
    print(json.dumps(result))


@contextmanager
def timed(what: str, result: dict[str, object]) -> Iterator[None]:
    """Seconds, and seconds of processor time of this process and of those that it waited for."""
    began, used = time.perf_counter(), processor_time()
    yield
    result[what] = {
        "s": round(time.perf_counter() - began, 2),
        "processor_s": round(processor_time() - used, 2),
    }


def processor_time() -> float:
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
