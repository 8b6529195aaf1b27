"""Which imagined transitions may the agent learn from, and which rollouts go on? One file per answer.

A gate sees the uncertainty of all rollouts at one step, in the order of the rollouts, and says which pass. The
uncertainty of a rollout that ended earlier is the one at which it ended; infinite where a gate or a prediction that
is not finite ended it. Only a finite uncertainty can pass.
"""

from macura.rollout.gates.keep_all import KeepAll as KeepAll
from macura.rollout.gates.memory import KappaMemory as KappaMemory
from macura.rollout.gates.memory import NoMemory as NoMemory
from macura.rollout.gates.ranked import Ranked as Ranked
from macura.rollout.gates.threshold import Threshold as Threshold

Gate = KeepAll | Ranked | Threshold
GateState = NoMemory | KappaMemory
