"""Measures by name, called alike."""

from collections.abc import Callable
from typing import Literal

from jaxtyping import Array, Float, Int

from macura.core import Gaussians, PRNGKey
from macura.uncertainty.ensemble_variance import ensemble_variance
from macura.uncertainty.geometric_js import geometric_js
from macura.uncertainty.geometric_js_dual import geometric_js_dual
from macura.uncertainty.kl_to_mixture import kl_to_mixture
from macura.uncertainty.mean_variance import mean_variance
from macura.uncertainty.one_vs_rest import one_vs_rest

MeasureName = Literal[
    "geometric_js", "geometric_js_dual", "one_vs_rest", "kl_to_mixture", "ensemble_variance", "mean_variance"
]

Measure = Callable[[Gaussians, Int[Array, "batch"], PRNGKey], Float[Array, "batch"]]

MIXTURE_SAMPLES = 16
"""Draws per member of the Monte Carlo measure when it is asked for by name."""

_MEASURES: dict[MeasureName, Measure] = {
    "geometric_js": lambda gaussians, member, key: geometric_js(*gaussians),
    "geometric_js_dual": lambda gaussians, member, key: geometric_js_dual(*gaussians),
    "one_vs_rest": lambda gaussians, member, key: one_vs_rest(*gaussians, member),
    "kl_to_mixture": lambda gaussians, member, key: kl_to_mixture(*gaussians, key, MIXTURE_SAMPLES),
    "ensemble_variance": lambda gaussians, member, key: ensemble_variance(*gaussians),
    "mean_variance": lambda gaussians, member, key: mean_variance(*gaussians),
}


def measure(name: MeasureName) -> Measure:
    """The measure called `name`, as a function of (Gaussians, the member that predicts each row, key)."""
    return _MEASURES[name]
