"""In which order? State, the four phases, the loop, update rules, evaluation. No formulas, no file formats."""

from macura.training.codec import choices as choices
from macura.training.codec import from_dict as from_dict
from macura.training.codec import override as override
from macura.training.codec import to_dict as to_dict
from macura.training.config import Imagination as Imagination
from macura.training.config import RunConfig as RunConfig
from macura.training.evaluate import evaluate as evaluate
from macura.training.interrupt import Interrupted as Interrupted
from macura.training.judges import Judges as Judges
from macura.training.run import run as run
from macura.training.saved_policy import SavedPolicy as SavedPolicy
from macura.training.updates import FixedUpdates as FixedUpdates
from macura.training.updates import ProportionalUpdates as ProportionalUpdates
