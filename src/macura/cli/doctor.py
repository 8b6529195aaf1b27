"""`macura doctor`: what this machine and this installation can do, for a person and for a bug report."""

import json as json_
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import jax

from macura import runs
from macura.cli import arguments
from macura.training import memory

EXTRAS = ("dm-control", "shimmy", "wandb", "ray", "onnx", "onnxruntime")
RENDERERS = ("egl", "osmesa", "glfw")
SECONDS_TO_DRAW = 60

_DRAW = """
import mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
renderer = mujoco.Renderer(model, 16, 16)
renderer.update_scene(mujoco.MjData(model))
print(renderer.render().shape)
"""
"""Tried in a process of its own: a renderer that is missing may take its process with it."""


@dataclass(frozen=True)
class Arguments:
    """What `macura doctor` takes."""

    json: bool = False
    """Print one JSON object instead of lines."""


def run(argv: Sequence[str]) -> int:
    """Print everything; always 0."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "doctor", "Show versions, devices, threads, memory and rendering.")
        return 0
    line = arguments.take_apart(argv, arguments.switches(Arguments))
    asked = arguments.parse(Arguments, line, "doctor")
    found = examine()
    if asked.json:
        print(json_.dumps(found, indent=2))
    else:
        for subject, facts in found.items():
            print(subject)
            for name, value in facts.items():
                print(f"  {name:24}{value}")
    return 0


def examine() -> dict[str, dict[str, Any]]:
    """All facts by subject."""
    return {
        "versions": versions(),
        "devices": devices(),
        "processor": processor(),
        "rendering": {name: draws(name) for name in RENDERERS},
        "compilation": compilation(),
    }


def versions() -> dict[str, str]:
    """Python, this package and what it stands on; `none` for an extra that is not installed."""
    extras = {name: _version(name) for name in EXTRAS}
    return (
        {"python": platform.python_version(), "commit": runs.commit() or "unknown"} | extras | runs.versions()
    )


def devices() -> dict[str, str]:
    """What JAX computes on; the first is used."""
    return {str(device): device.device_kind for device in jax.devices()}


def processor() -> dict[str, str]:
    """Cores and memory that this process may use, and the variables that limit threads."""
    usable, present = runs.usable_cores(), os.cpu_count() or 1
    limit = memory.machine_memory()
    found = {
        "platform": f"{platform.system()} {platform.machine()}",
        "usable cores": f"{usable} of {present}",
        "memory": "unknown" if limit is None else f"{limit / 2**30:.1f} GiB",
    }
    named = ("XLA_FLAGS", "JAX_PLATFORMS", "OMP_NUM_THREADS", "XLA_PYTHON_CLIENT_PREALLOCATE", "MUJOCO_GL")
    return found | {name: os.environ[name] for name in named if name in os.environ}


def draws(renderer: str) -> str:
    """`works`, or why MuJoCo cannot draw with this value of MUJOCO_GL."""
    environment = {name: value for name, value in os.environ.items() if name != "PYOPENGL_PLATFORM"}
    environment["MUJOCO_GL"] = renderer
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _DRAW],
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_DRAW,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"fails: {type(error).__name__}"
    if tried.returncode == 0:
        return f"works: MUJOCO_GL={renderer}"
    lines = [
        line for line in tried.stderr.splitlines() if line and not line.startswith((" ", "Exception ignored"))
    ]
    return f"fails: {lines[-1][:120] if lines else f'exit code {tried.returncode}'}"


def compilation() -> dict[str, str]:
    """Whether compiled programs are kept from one process to the next."""
    folder = jax.config.values.get("jax_compilation_cache_dir")
    return {
        "cache": str(folder) if folder else "off (set JAX_COMPILATION_CACHE_DIR to a folder to keep programs)"
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
