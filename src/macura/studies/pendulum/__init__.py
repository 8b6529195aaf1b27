"""The paper's illustration and its return bound on a pendulum whose dynamics are known (`macura toy`)."""

from macura.studies.pendulum.settings import ToyConfig as ToyConfig
from macura.studies.pendulum.study import prepare as prepare
from macura.studies.pendulum.study import run as run
from macura.studies.pendulum.study import write as write
