"""All measurements as one dictionary, and as lines for a person."""

import json
import os
import platform
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from typing import Any

import jax

from macura import runs
from macura.bench import flops, timing, whole_run
from macura.bench.programs import SHAPE, Programs, train_rows
from macura.bench.size import ACT, ENV, HORIZON, OBS, PARTS, SIZES, STEPS_BETWEEN_ROUNDS
from macura.core import UserError, did_you_mean
from macura.rollout.unroll import default_chunk
from macura.training.phases import required

PUBLISHED = {"improve": (62.0, 62.0), "imagine": (21.0, 24.0), "fit_model": (4.0, 5.0), "total": (87.0, 91.0)}
"""Seconds of the code published with the paper, per 250 environment steps at this setting, from least to most.

HalfCheetah, 2 x 256 agent, G = 17, 50,000 rollouts of mean length 8 to 9, ten epochs on 5,000 rows; measured on another
machine of two cores (Zen 4), where its updates took 14.6 ms each with their logging. 87 s is the figure for the sum.
"""

Say = Callable[[str], None]


def measure(
    size_name: str = "full", parts: Collection[str] = PARTS, say: Say = lambda line: None
) -> dict[str, Any]:
    """Everything that `parts` asks for, in the size of that name; `say` is told what is being measured."""
    for part in parts:
        if part not in PARTS:
            near = did_you_mean(part, PARTS)
            raise UserError(f"There is no part {part!r} to measure.{near} Choose from {', '.join(PARTS)}.")
    size = SIZES[size_name]
    found: dict[str, Any] = {"machine": machine(), "size": {"name": size_name} | asdict(size)}
    wanted = set(parts) | ({"improve", "fit_model", "imagine"} if "steps" in parts else set())
    if wanted & {"improve", "fit_model", "imagine"}:
        programs = Programs(size)
        for name, of_program in PROGRAMS.items():
            if name in wanted:
                say(f"measuring {name}")
                found[name] = of_program(programs)
        if "steps" in wanted:
            found["steps"] = steps(found, size_name == "full")
        del programs
    for kind in ("run", "host"):
        if kind in wanted:
            say(f"measuring {kind}")
            found[kind] = whole_run.measure(kind, size_name)
    return found


def machine() -> dict[str, Any]:
    """What the numbers belong to, and how busy it was with other things."""
    device = jax.devices()[0]
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "device": f"{device.platform} ({device.device_kind})",
        "usable_cores": runs.usable_cores(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "commit": runs.commit(),
        "versions": {
            name: version for name, version in runs.versions().items() if name in ("jax", "jaxlib", "numpy")
        },
    }


def improve(programs: Programs) -> dict[str, Any]:
    """G updates of the agent against products of batch x width x width."""
    size = programs.size
    calls = {"all": programs.improve(size.updates), "typical": programs.improve(size.typical_updates)}
    gemm, gemm_flops = timing.gemm(size.batch, size.width, size.width, size.gemm_flops)
    times = timing.fastest(calls | gemm, size.repeats)
    work = size.updates * flops.sac_update(programs.config.sac, OBS, ACT)
    return share(work, times["all"], times, gemm_flops) | {
        "updates": size.updates,
        "ms_per_update": 1000 * times["all"] / size.updates,
        "typical_updates": size.typical_updates,
        "typical_seconds": times["typical"],
    }


def fit_model(programs: Programs) -> dict[str, Any]:
    """A refit against products of batch x width x width of one member."""
    size, imagination = programs.size, required(programs.config.imagination)
    model = imagination.model
    gemm, gemm_flops = timing.gemm(model.batch_size, model.width, model.width, size.gemm_flops)
    times = timing.fastest({"all": programs.fit_model} | gemm, size.repeats)
    info = programs.info["fit_model"]
    epochs, taken = int(info["model/epochs"]), int(info["model/gradient_steps"])
    work = flops.refit(model, SHAPE.outputs, size.rows, epochs, taken, imagination.every)
    return share(work, times["all"], times, gemm_flops) | {
        "rows": size.rows,
        "train_rows": train_rows(size),
        "epochs": epochs,
        "gradient_steps": taken,
        "ms_per_gradient_step": 1000 * times["all"] / taken,
    }


def imagine(programs: Programs) -> dict[str, Any]:
    """A round of full length against products of chunk x width x width, and against a round of short rollouts."""
    size, imagination = programs.size, required(programs.config.imagination)
    model = imagination.model
    chunk = min(imagination.rollout.chunk or default_chunk(), size.rollouts)
    gemm, gemm_flops = timing.gemm(chunk, model.width, model.width, size.gemm_flops)
    calls = {"all": programs.imagine, "short": programs.imagine_short}
    times = timing.fastest(calls | gemm, size.repeats)
    length, short = (
        float(programs.info[name]["rollout/mean_length"]) for name in ("imagine", "imagine_short")
    )
    row = flops.imagined_row(model, SHAPE.outputs, programs.config.sac)
    return share(round(size.rollouts * length) * row, times["all"], times, gemm_flops) | {
        "rollouts": size.rollouts,
        "chunk": chunk,
        "mean_length": length,
        "microseconds_per_row": 1e6 * times["all"] / (size.rollouts * length),
        "short_mean_length": short,
        "short_seconds": times["short"],
        "short_over_full": times["short"] / times["all"],
    }


PROGRAMS: Mapping[str, Callable[[Programs], dict[str, Any]]] = {
    "improve": improve,
    "fit_model": fit_model,
    "imagine": imagine,
}


def share(work: int, seconds: float, times: Mapping[str, float], gemm_flops: float) -> dict[str, Any]:
    """The rate of a program, and which part it is of the faster library's rate."""
    peak = gemm_flops / min(times["gemm/xla"], times["gemm/numpy"])
    return {
        "gflop": work / 1e9,
        "seconds": seconds,
        "gflop_per_second": work / seconds / 1e9,
        "peak_gflop_per_second": peak / 1e9,
        "share_of_peak": work / seconds / peak,
        "peak_of": {name: gemm_flops / times[name] / 1e9 for name in ("gemm/xla", "gemm/numpy")},
    }


def steps(found: Mapping[str, Any], published: bool) -> dict[str, Any]:
    """The compiled work of 250 environment steps: their updates, one round, one refit."""
    agent, model, rollouts = (found[name] for name in PROGRAMS)
    part_of_all = agent["typical_updates"] / agent["updates"]
    parts = {
        "improve": (
            STEPS_BETWEEN_ROUNDS * agent["typical_seconds"],
            STEPS_BETWEEN_ROUNDS * agent["gflop"] * part_of_all,
        ),
        "imagine": (rollouts["seconds"], rollouts["gflop"]),
        "fit_model": (model["seconds"], model["gflop"]),
    }
    seconds, gflop = (sum(of_part[k] for of_part in parts.values()) for k in (0, 1))
    rows: dict[str, Any] = {}
    for name, (s, g) in (parts | {"total": (seconds, gflop)}).items():
        rows[name] = {"seconds": s, "gflop": g, "gflop_per_second": g / s}
        if published:
            least, most = PUBLISHED[name]
            rows[name] |= {"published_seconds": [least, most], "share_of_published": s / least}
    return {
        "steps": STEPS_BETWEEN_ROUNDS,
        "updates_per_step": agent["typical_updates"],
        "horizon": HORIZON,
        "parts": rows,
    }


def table(found: Mapping[str, Any]) -> str:
    """What was measured, in Markdown."""
    there = found["machine"]
    lines = [
        f"{there['device']}, {there['usable_cores']} cores, jax {there['versions']['jax']},"
        f" size `{found['size']['name']}`, load average before {there['load_average']:.1f}",
        "",
        "| what | measured | goal |",
        "|---|---|---|",
    ]
    lines += [f"| {what} | {value} | {goal} |" for what, value, goal in _ratios(found)]
    if "steps" in found:
        lines += ["", *_steps(found["steps"])]
    return "\n".join(lines)


def _ratios(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for name, goal in (("improve", 60), ("fit_model", 40), ("imagine", 40)):
        if name in found:
            of = found[name]
            rates = f"{of['gflop_per_second']:.0f} of {of['peak_gflop_per_second']:.0f} GFLOP/s"
            rows.append(
                (
                    f"`{name}` against products of its size",
                    f"{of['share_of_peak']:.0%} ({rates})",
                    f"≥ {goal} %",
                )
            )
    if "imagine" in found:
        of = found["imagine"]
        what = f"`imagine`: mean length {of['short_mean_length']:.1f} against {of['mean_length']:.0f}"
        rows.append((what, f"{of['short_over_full']:.2f} of the time", "≤ 0.25"))
    if "run" in found:
        of = found["run"]
        traces = ", ".join(f"{name} {count}" for name, count in of["traces"].items())
        rows += [
            (f"traces over {of['rounds']} rounds", traces, "1 each"),
            ("compiling all programs of a run", f"{of['compile_seconds']:.0f} s", "< 60 s"),
            ("peak memory of a run above its buffers", f"{of['above_buffers_mib']:.0f} MiB", "≤ 1536 MiB"),
            ("… above the rows they held", f"{of['above_rows_held_mib']:.0f} MiB", ""),
        ]
    if "host" in found:
        of = found["host"]
        parts = f"loop {of['loop_ms']:.2f}, starting programs ≤ {of['dispatch_ms']:.2f}, saving {of['save_ms']:.2f}"
        rows.append(("host work per environment step", f"{of['host_ms']:.2f} ms ({parts})", "< 1 ms"))
    if "torch" in found:
        of = found["torch"]
        times = f"{of['macura_ms_per_update']:.1f} against {of['torch_ms_per_update']:.1f} ms an update"
        rows.append(
            (f"`improve` against eager PyTorch {of['torch']}", f"{of['macura_over_torch']:.2f} ({times})", "")
        )
    return rows


def _steps(of: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{of['steps']} environment steps of {ENV}, G = {of['updates_per_step']}, one round, one refit:",
        "",
        "| part | seconds | GFLOP | GFLOP/s | published code, another machine | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in of["parts"].items():
        least, most = row.get("published_seconds", (None, None))
        theirs = (
            "" if least is None else f"{least:.0f} s" if least == most else f"{least:.0f} to {most:.0f} s"
        )
        ratio = "" if least is None else f"{row['share_of_published']:.2f}"
        cells = [
            name,
            f"{row['seconds']:.1f}",
            f"{row['gflop']:.0f}",
            f"{row['gflop_per_second']:.0f}",
            theirs,
            ratio,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def to_json(found: Mapping[str, Any]) -> str:
    """The same with all digits that mean something."""
    return json.dumps(_rounded(found), indent=2) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
