"""Under which circumstances a run happened: versions, commit, machine, command."""

import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from macura.runs.compare import differences
from macura.runs.files import JSON

PACKAGES = (
    "macura",
    "jax",
    "jaxlib",
    "numpy",
    "scipy",
    "equinox",
    "optax",
    "orbax-checkpoint",
    "safetensors",
    "gymnasium",
    "mujoco",
    "dm-control",
    "colorednoise",
)
"""Packages whose version can change what a run computes."""

_DECIDES_BITS = ("usable_cores", "device", "versions", "commit", "physics", "platform")


def describe(device: str, physics: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
    """The circumstances of this process; `device` and `physics` are what only the caller knows."""
    return {
        "command": shlex.join(sys.argv),
        "device": device,
        "usable_cores": usable_cores(),
        "physics": dict(physics or {}),
        "python": platform.python_version(),
        "versions": dict(versions()),
        "commit": commit(),
        "platform": f"{platform.system()} {platform.machine()}",
        "host": platform.node(),
    }


def usable_cores() -> int:
    """Cores this process may use; another number gives other last bits on the CPU."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Installed version of every package in `PACKAGES` that is installed."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """The commit this package was imported from, `+dirty` if files changed since; None outside a checkout."""
    package = Path(__file__).resolve().parents[1]
    # Installed inside somebody else's checkout, the package is not tracked there: no commit to name.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    head = _git(package, "rev-parse", "HEAD")
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return f"{head}+dirty" if head and changed else head


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def now() -> str:
    """The time in UTC, to the second, as written into manifests."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def changes(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> list[str]:
    """What changed between two sessions of one run and can change its bits, each one line."""

    def deciding(manifest: Mapping[str, JSON]) -> dict[str, JSON]:
        return {key: manifest.get(key) for key in _DECIDES_BITS}

    found = differences(deciding(before), deciding(after))
    return [f"this run began with {d.key} = {d.before}, and goes on with {d.after}" for d in found]
