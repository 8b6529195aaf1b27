"""An update of our agent against the same update in eager PyTorch, in turns on the same cores.

    python benchmarks/torch_sac.py --torch-python /path/to/python

Both have the networks, the batch, the optimiser and the number of threads of `macura bench`, draw their batches
from a buffer in memory, and are warm before they are timed. PyTorch may live in an environment of its own, which
needs nothing of ours; it runs in its own process and sleeps while ours is timed.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from macura import runs
from macura.bench import SIZES
from macura.bench.programs import Programs
from macura.bench.size import ACT, OBS

AGENT = Path(__file__).with_name("torch_agent.py")
PAUSE = 0.3
"""Seconds between two turns, in which the threads of the other side stop waiting for work."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch-python", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--size", default="full", choices=SIZES)
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of a sentence")
    asked = parser.parse_args()
    found = measure(asked.torch_python, asked.size)
    if asked.json:
        print(json.dumps(found))
    else:
        print(
            "{macura_ms_per_update:.2f} ms an update, eager PyTorch {torch} {torch_ms_per_update:.2f} ms:"
            " ratio {macura_over_torch:.2f} on {threads} threads".format(**found)
        )


def measure(python: str, size_name: str) -> dict[str, Any]:
    """The fastest of several turns of each."""
    size = SIZES[size_name]
    programs = Programs(size)
    sac, threads = programs.config.sac, runs.usable_cores()
    shape = {
        "obs": OBS,
        "act": ACT,
        "width": sac.width,
        "hidden_layers": sac.hidden_layers,
        "actor_normalised": sac.normalised_in_actor,
        "critics_normalised": sac.normalised_in_critics,
        "learning_rate": sac.learning_rate,
        "discount": sac.discount,
        "target_rate": sac.target_rate,
        "batch": sac.batch_size,
        "rows": size.rows,
        "threads": threads,
    }
    ours = programs.improve(size.updates)
    times: dict[str, list[float]] = {"macura": [], "torch": []}
    command = [python, str(AGENT), json.dumps(shape)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        about = json.loads(child.stdout.readline() or "null")
        if about is None:
            raise SystemExit(f"{python} could not run {AGENT.name}; it needs torch.")
        for turn in range(1 + 2 * size.repeats):
            began = time.perf_counter()
            ours()
            seconds = time.perf_counter() - began
            time.sleep(PAUSE)
            child.stdin.write(f"{size.updates}\n")
            child.stdin.flush()
            theirs = float(child.stdout.readline())
            time.sleep(PAUSE)
            if turn:  # the first compiles ours and warms theirs
                times["macura"].append(seconds)
                times["torch"].append(theirs)
    milliseconds = {name: 1000 * min(of_one) / size.updates for name, of_one in times.items()}
    return about | {
        "updates": size.updates,
        "turns": 2 * size.repeats,
        "layer_norm": sac.layer_norm,
        "macura_ms_per_update": milliseconds["macura"],
        "torch_ms_per_update": milliseconds["torch"],
        "macura_over_torch": milliseconds["macura"] / milliseconds["torch"],
    }


if __name__ == "__main__":
    main()
