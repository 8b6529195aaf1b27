"""What exactly was run? Algorithms as compositions, the paper's tables, our own defaults. No logic."""

from macura.presets.algorithms import ALGORITHMS as ALGORITHMS
from macura.presets.build import CHOSEN_FIRST as CHOSEN_FIRST
from macura.presets.build import DEFAULT_ENV as DEFAULT_ENV
from macura.presets.build import PRESETS as PRESETS
from macura.presets.build import build as build
from macura.presets.build import task_of as task_of
from macura.presets.tables import TASKS as TASKS
