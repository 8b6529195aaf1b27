"""What is left on disk? The run folder, metrics and who is shown them, checkpoints, policy files.

Knows nothing of training or of compiled programs: it is given trees of arrays, dictionaries and paths.
"""

from macura.runs import onnx_file as onnx_file
from macura.runs import policy_file as policy_file
from macura.runs.checkpoints import Checkpoints as Checkpoints
from macura.runs.checkpoints import Restored as Restored
from macura.runs.compare import Difference as Difference
from macura.runs.compare import differences as differences
from macura.runs.display import console as console
from macura.runs.folder import Opening as Opening
from macura.runs.folder import RunFolder as RunFolder
from macura.runs.manifest import commit as commit
from macura.runs.manifest import describe as describe
from macura.runs.manifest import usable_cores as usable_cores
from macura.runs.manifest import versions as versions
from macura.runs.recorder import Recorder as Recorder
from macura.runs.recorder import Row as Row
from macura.runs.recorder import Sink as Sink
from macura.runs.recorder import read_metrics as read_metrics
from macura.runs.sinks import import_wandb as import_wandb
from macura.runs.sinks import tensorboard as tensorboard
from macura.runs.sinks import wandb as wandb
