"""What will happen next, and how is that learned? The ensemble, its loss, its normaliser, its fit.

No policies, no gates.
"""

from macura.dynamics.config import ModelConfig as ModelConfig
from macura.dynamics.config import Outputs as Outputs
from macura.dynamics.error import error as error
from macura.dynamics.fit import fit as fit
from macura.dynamics.model import ModelState as ModelState
from macura.dynamics.model import Prediction as Prediction
from macura.dynamics.model import init as init
from macura.dynamics.model import predict as predict
from macura.dynamics.model import predict_own as predict_own
from macura.dynamics.model import to_transition as to_transition
