"""Data-efficient reinforcement learning with models that know where to trust themselves.

`MACURA`, `MBPO`, `M2AC` and `SAC` train on any continuous-control Gymnasium environment; `load` reads a saved policy.
Everything is imported on first use, so that `import macura` costs nothing and touches no device.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from macura.agents import M2AC as M2AC
    from macura.agents import MACURA as MACURA
    from macura.agents import MBPO as MBPO
    from macura.agents import SAC as SAC
    from macura.agents import load as load

__version__ = "0.1.0"
__all__ = ["M2AC", "MACURA", "MBPO", "SAC", "load"]

_LOWER_ROOMS = "core dynamics envs exploration nn replay rollout runs sac uncertainty"
_ROOMS = frozenset(f"{_LOWER_ROOMS} analysis bench presets studies training".split())


def __getattr__(name: str) -> Any:
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("macura.agents"), name)
    if name in _ROOMS:
        return importlib.import_module(f"macura.{name}")
    raise AttributeError(f"module 'macura' has no attribute {name!r}")
