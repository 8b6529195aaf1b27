"""What do we call things? Types, named random streams, errors. No maths, no I/O."""

from macura.core.errors import RunError as RunError
from macura.core.errors import UserError as UserError
from macura.core.errors import did_you_mean as did_you_mean
from macura.core.streams import Stream as Stream
from macura.core.streams import host_rng as host_rng
from macura.core.streams import host_seed as host_seed
from macura.core.streams import root_key as root_key
from macura.core.streams import stream_key as stream_key
from macura.core.types import Gaussians as Gaussians
from macura.core.types import Metrics as Metrics
from macura.core.types import PRNGKey as PRNGKey
from macura.core.types import Transition as Transition
