"""What the report of a round means for the run: something to tell, or a reason to stop."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macura.core import RunError
from macura.training.config import Imagination
from macura.training.state import Shape

LARGEST_DISAGREEMENT = 0.01
"""Share of real transitions on which a user's function may contradict the environment before the run stops."""
FEWEST_ROWS_TO_JUDGE = 200
LARGEST_MISSED = 0.5
"""Share of the real terminations that a user's function may miss: in long episodes they are few among many rows."""
FEWEST_TERMINATIONS_TO_JUDGE = 5


def after_fit(shape: Shape, where: str, info: Mapping[str, Any]) -> str | None:
    """What there is to tell after a refit: which outputs of the model were not finite."""
    diverged = np.asarray(info["model/diverged"])
    if not diverged.any():
        return None
    outputs = _outputs(shape, diverged)
    return f"the model diverged in the refit of {where} ({outputs}); it goes on from its earlier weights"


def after_rollouts(shape: Shape, where: str, info: Mapping[str, Any]) -> str | None:
    """What there is to tell after rollouts: how many met predictions that were not finite, of which outputs."""
    broken = int(info["rollout/nonfinite"])
    if not broken:
        return None
    outputs = _outputs(shape, np.asarray(info["rollout/nonfinite_outputs"]) > 0)
    return f"{broken} rollouts of {where} ended at predictions that are not finite ({outputs}), which were discarded"


def refuse_wrong_judges(imagination: Imagination, rows: int, info: Mapping[str, Any]) -> None:
    """`RunError` if a user's termination or reward function plainly contradicts the environment."""
    for what, function in (("termination", imagination.termination), ("reward", imagination.reward)):
        share = float(info.get(f"model/{what}_disagreement", 0.0))
        if ":" in function and rows >= FEWEST_ROWS_TO_JUDGE and share > LARGEST_DISAGREEMENT:
            raise _contradicted(what, function, f"on {share:.1%} of {rows} real transitions")
    missed, ended = int(info.get("model/terminations_missed", 0)), int(info["model/terminations"])
    plainly = ended >= FEWEST_TERMINATIONS_TO_JUDGE and missed > LARGEST_MISSED * ended
    if ":" in imagination.termination and plainly:
        extent = f"on {missed} of the {ended} transitions that ended an episode"
        raise _contradicted("termination", imagination.termination, extent)


def _contradicted(what: str, function: str, extent: str) -> RunError:
    return RunError(
        f"the {what} function {function} contradicts the environment {extent};"
        f" correct it, or let the model learn it: --imagination.{what} learned"
    )


def _outputs(shape: Shape, marked: NDArray[np.bool_]) -> str:
    """The names of the marked outputs; where none is, it was the uncertainty that was not finite."""
    names = [*(f"observation[{k}]" for k in range(shape.obs)), "reward"]
    found = [names[k] for k in np.flatnonzero(marked)]
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(found[:5]) + more if found else "uncertainty"
