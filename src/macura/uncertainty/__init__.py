"""How unsure are the members here? One file per measure: member Gaussians -> one number. No thresholds.

Arrays have members first, (E, ..., D) -> (...); variances are natural logarithms.
"""

from macura.uncertainty.ensemble_variance import ensemble_variance as ensemble_variance
from macura.uncertainty.geometric_js import geometric_js as geometric_js
from macura.uncertainty.geometric_js_dual import geometric_js_dual as geometric_js_dual
from macura.uncertainty.kl_to_mixture import kl_to_mixture as kl_to_mixture
from macura.uncertainty.mean_variance import mean_variance as mean_variance
from macura.uncertainty.one_vs_rest import one_vs_rest as one_vs_rest
from macura.uncertainty.registry import Measure as Measure
from macura.uncertainty.registry import MeasureName as MeasureName
from macura.uncertainty.registry import measure as measure
