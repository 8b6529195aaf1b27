"""How figures look, and how they reach PNG, SVG and a web page with light and dark."""

import io
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from macura.core import UserError
from macura.runs.files import write_atomically

INK, MUTED, RULE, SURFACE = "#1d2530", "#5f6b7a", "#dfe4ea", "#fefefe"
ALGORITHM_COLOURS = {"macura": "#1f6feb", "mbpo": "#e07b00", "m2ac": "#12916a", "sac": "#7a6f9b"}
COLOURS = ("#1f6feb", "#e07b00", "#12916a", "#c2347f", "#7a6f9b", "#a4781f", "#0f8fa8", "#d1442f")
"""For curves that are not told apart by their algorithm; readable on both themes and with colour blindness."""

_VARIABLES = {INK: "--ink", MUTED: "--muted", RULE: "--rule", SURFACE: "--surface"}

_RC = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.8,
    "axes.facecolor": SURFACE,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "figure.facecolor": SURFACE,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.9,
    "savefig.facecolor": SURFACE,
    "svg.fonttype": "none",
    "svg.hashsalt": "macura",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": MUTED,
}


@contextmanager
def styled() -> Generator[None]:
    """Draw in the project's style while the context lasts; the reader's own settings stay out and unchanged."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast(Any, _RC))
        yield


def new_axes(axes: Axes, title: str = "", ylabel: str = "", xlabel: str = "Environment steps") -> Axes:
    """Give axes their grid, names and readable step numbers."""
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_title(title)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    return axes


def short_number(value: float) -> str:
    """5000 -> 5k, 1000000 -> 1M."""
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{suffix}"
    return f"{value:.4g}"


def legend_below(figure: Figure, sources: Sequence[Axes], columns: int = 4) -> None:
    """One legend for the whole figure under its axes, each name once."""
    entries: dict[str, Artist] = {}
    for axes in sources:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside lower center",
            ncols=min(columns, len(entries)),
        )


def save(figure: Figure, out: Path, dpi: int = 200) -> tuple[Path, ...]:
    """Write the figure as PNG and SVG beside each other; `out` names either, or neither."""
    if out.suffix not in ("", ".png", ".svg"):
        better = out.with_suffix(".png")
        raise UserError(
            f"--out {out} ends in {out.suffix!r}, but figures are PNG and SVG; try --out {better}."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    files = (out.with_suffix(".png"), out.with_suffix(".svg"))
    write_atomically(files[0], _drawn(figure, "png", dpi=dpi))
    write_atomically(files[1], _drawn(figure, "svg", metadata={"Date": None}))
    return files


def _drawn(figure: Figure, form: str, **how: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, **how)
    return buffer.getvalue()


def inline_svg(figure: Figure, name: str, alt: str) -> str:
    """The figure as an `<svg>` element whose ids are its own and whose greys follow the page's CSS variables."""
    svg = _drawn(figure, "svg", metadata={"Date": None}, transparent=True).decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)
