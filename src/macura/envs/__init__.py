"""What is the task? The bridge to Gymnasium, the tasks of the paper, and where they end. Nothing about training."""

from macura.envs.bridge import Bridge as Bridge
from macura.envs.bridge import Outcome as Outcome
from macura.envs.checks import Finding as Finding
from macura.envs.checks import check as check
from macura.envs.config import EnvConfig as EnvConfig
from macura.envs.config import resolve as resolve
from macura.envs.registry import make as make
from macura.envs.spaces import Piece as Piece
from macura.envs.spaces import Spaces as Spaces
from macura.envs.task import Task as Task
from macura.envs.terminations import TERMINATIONS as TERMINATIONS
from macura.envs.terminations import termination as termination
