"""What is remembered? Real transitions, a ring of imagined ones with a lifetime, and the mixture of both."""

from macura.replay.mixture import MixtureConfig as MixtureConfig
from macura.replay.mixture import Plan as Plan
from macura.replay.mixture import plan_batches as plan_batches
from macura.replay.mixture import read_batch as read_batch
from macura.replay.real import RealBuffer as RealBuffer
from macura.replay.real import add as add
from macura.replay.real import init_real as init_real
from macura.replay.real import newest as newest
from macura.replay.real import restore_real as restore_real
from macura.replay.real import sample_observations as sample_observations
from macura.replay.real import size as size
from macura.replay.real import trim_real as trim_real
from macura.replay.ring import Ring as Ring
from macura.replay.ring import RingConfig as RingConfig
from macura.replay.ring import append as append
from macura.replay.ring import begin_round as begin_round
from macura.replay.ring import end_round as end_round
from macura.replay.ring import init_ring as init_ring
from macura.replay.ring import restore_ring as restore_ring
from macura.replay.ring import trim_ring as trim_ring
from macura.replay.rows import pack as pack
from macura.replay.rows import pack_row as pack_row
from macura.replay.rows import unpack as unpack
from macura.replay.rows import width as width
