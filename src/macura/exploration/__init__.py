"""Where does action noise come from? Mean, white, pink, as sequences of epsilon. Not the policy itself."""

from macura.exploration.noise import ExplorationKind as ExplorationKind
from macura.exploration.noise import epsilon_sequence as epsilon_sequence
