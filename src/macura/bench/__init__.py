"""How fast is it on this machine? The programs of a run against the machine's own limit: no claims, only ratios."""

from macura.bench.report import measure as measure
from macura.bench.report import table as table
from macura.bench.size import PARTS as PARTS
from macura.bench.size import SIZES as SIZES
