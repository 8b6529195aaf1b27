"""How does the agent learn? Networks, three losses, one update. Not where data comes from."""

from macura.sac.config import Normalised as Normalised
from macura.sac.config import SACConfig as SACConfig
from macura.sac.learner import Learner as Learner
from macura.sac.learner import init as init
from macura.sac.learner import no_metrics as no_metrics
from macura.sac.learner import q_values as q_values
from macura.sac.learner import target_entropy as target_entropy
from macura.sac.learner import update as update
from macura.sac.policy import Policy as Policy
from macura.sac.policy import act as act
