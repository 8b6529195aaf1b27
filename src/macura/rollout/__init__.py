"""Which imagined data is made and kept? One unroll; gates, horizons and the reward penalty. No buffers, no agent."""

from macura.rollout.config import RolloutConfig as RolloutConfig
from macura.rollout.gates import Gate as Gate
from macura.rollout.gates import GateState as GateState
from macura.rollout.gates import KeepAll as KeepAll
from macura.rollout.gates import Ranked as Ranked
from macura.rollout.gates import Threshold as Threshold
from macura.rollout.horizon import FixedHorizon as FixedHorizon
from macura.rollout.horizon import Horizon as Horizon
from macura.rollout.horizon import LinearHorizon as LinearHorizon
from macura.rollout.step import Imagined as Imagined
from macura.rollout.step import ImaginedStep as ImaginedStep
from macura.rollout.step import model_step as model_step
from macura.rollout.unroll import unroll as unroll
