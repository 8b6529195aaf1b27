"""`macura report`: the studies of a folder as one web page that needs no network, with tables and figures beside it."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, cast

from macura.analysis import study_figures, tables
from macura.analysis.claims import CLAIMS
from macura.analysis.loading import Damaged, Run, flat
from macura.analysis.study import Member, StudyData, load_folder
from macura.runs.files import write_atomically

MOST_MISSING = 20
"""Runs that are listed by name before the rest is only counted."""

_RESULTS = {
    "variant": "Variant",
    "seeds": "Seeds",
    "mean": "Final return, mean",
    "median": "Median",
    "iqm": "IQM",
    "collapsed": "Collapsed",
    "mean_return": "Mean return",
    "at_third": "At 1/3",
    "at_two_thirds": "At 2/3",
    "steps_to_half": "Steps to half",
}
_EXPLANATION = (
    "Final return: mean evaluation over the last tenth of the steps, with Student's 95 % limits over seeds. "
    "IQM: interquartile mean, with 95 % limits of a bootstrap over seeds, stratified by task. "
    "Mean return: area under the learning curve divided by its length. "
    "At 1/3, at 2/3: the evaluation at that share of the steps. "
    "Steps to half: median over seeds of the first step at which three evaluations average halfway from the initial "
    "return to what the best variant of the task typically reaches. "
    "Collapsed: the run diverged, or ended below its own best by more than half of what the best variant gains. "
    "A run that diverged counts from there on with its own lowest evaluation; other unfinished runs do not count."
)
_METHOD = (
    "P(A > B) is the probability that a random seed of A beats a random seed of B, averaged over tasks, with the "
    "95 % limits of a stratified bootstrap. A comparison is supported if all of the interval lies above one half, "
    "contradicted if all of it lies below, and undecided otherwise; with fewer than three complete seeds of each, "
    "nothing is concluded. "
    "With so few seeds the intervals themselves are rough."
)

_SMOKE = (
    '<p class="warning">At <code>smoke</code> scale, networks are too small and runs too short to learn: '
    "what follows shows that everything works, and its verdicts mean nothing.</p>"
)


class Written(NamedTuple):
    """The page, the other files, and one line for everything a reader should know is missing."""

    page: Path
    files: tuple[Path, ...]
    notes: tuple[str, ...]


def report(folder: Path, out: Path | None = None) -> Written:
    """Write the report of all studies in `folder`; unfinished ones say what is missing."""
    found = load_folder(folder)
    target = out or folder / "report"
    page = target if target.suffix == ".html" else target / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    others = list(tables.write(found.studies, page.parent))
    for study in found.studies:
        others += study_figures.write_figure(study, page.parent)
    write_atomically(page, render(found.studies, found.damaged, folder.resolve().name).encode())
    notes = [f"skipped {bad.path}: {bad.reason}" for bad in found.damaged]
    for study in found.studies:
        gaps = [member for member in study.members if not member.complete]
        if gaps:
            notes.append(
                f"{study.name} at {study.scale}: {len(gaps)} of {len(study.members)} runs are not complete"
            )
    return Written(page, tuple(others), tuple(notes))


def render(studies: Sequence[StudyData], damaged: Sequence[Damaged], name: str) -> str:
    """The page."""
    members = {member.folder: member for study in studies for member in study.members}
    runs = [member.run for member in members.values() if member.run is not None]
    body = [
        f"<header><h1>{escape(name)}</h1>{_summary(members.values(), runs)}{_contents(studies)}</header>",
        _damaged(damaged),
        *map(_study, studies),
        f"<section><h2>How to read the numbers</h2><p>{escape(_EXPLANATION)}</p><p>{escape(_METHOD)}</p></section>",
        _circumstances(runs),
    ]
    style = (files("macura.analysis") / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(name)}: results</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _summary(members: Iterable[Member], runs: Sequence[Run]) -> str:
    members = list(members)
    steps = sum(run.last_step for run in runs)
    tiles = {
        "runs complete": f"{sum(member.complete for member in members)} of {len(members)}",
        "environment steps": f"{steps:,}",
        "hours of runs": f"{sum(_hours(run) for run in runs):,.1f}",
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    items = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in tiles.items())
    return f'<dl class="tiles">{items}</dl>'


def _hours(run: Run) -> float:
    """Time that the phases of the run took, as it wrote itself."""
    names = [name for name in run.metrics if name.startswith("time/")]
    return sum(float(run.series(name).values.sum()) for name in names) / 3600


def _contents(studies: Sequence[StudyData]) -> str:
    links = "".join(
        f'<li><a href="#{_anchor(s)}">{escape(s.title)}</a> ({escape(s.scale)})</li>' for s in studies
    )
    return f"<nav><ul>{links}</ul></nav>"


def _damaged(damaged: Sequence[Damaged]) -> str:
    if not damaged:
        return ""
    items = "".join(f"<li><code>{escape(bad.path.name)}</code>: {escape(bad.reason)}</li>" for bad in damaged)
    return f'<section class="warning"><h2>Skipped because damaged</h2><ul>{items}</ul></section>'


def _study(study: StudyData) -> str:
    figures = "".join(f"<figure>{svg}</figure>" for svg in study_figures.as_svgs(study))
    return "\n".join(
        [
            f'<section id="{_anchor(study)}"><h2>{escape(study.title)}</h2>',
            f"<p><strong>{escape(study.question)}</strong></p>",
            f'<p class="quiet"><code>{escape(study.command)}</code> · '
            f"reproduces the figure “{escape(study.figure)}”. Mean over seeds with 95 % confidence band; "
            "published curves dashed, where there are any.</p>",
            _SMOKE if study.scale == "smoke" else "",
            f'<div class="figures">{figures}</div>' if figures else "<p>No run has been evaluated yet.</p>",
            _missing(study),
            "<h3>Claims</h3>",
            _claims(study),
            "<h3>Results</h3>",
            _results(study),
            _settings(study),
            "</section>",
        ]
    )


def _claims(study: StudyData) -> str:
    items: list[str] = []
    for key in study.claims:
        if key not in CLAIMS:
            items.append(f"<li>Unknown claim <code>{escape(key)}</code></li>")
            continue
        claim = CLAIMS[key]
        found = claim.judge(study)
        lines = "".join(f"<li>{escape(line)}</li>" for line in found.lines)
        kind = found.verdict.split(" ", 1)[0]
        items.append(
            f'<li><span class="verdict {kind}">{found.verdict}</span> {escape(claim.text)} '
            f'<span class="quiet">({escape(claim.where)})</span><ul class="evidence">{lines}</ul></li>'
        )
    return f'<ul class="claims">{"".join(items)}</ul>'


def _results(study: StudyData) -> str:
    rows = cast(list[dict[str, Any]], tables.results(study).to_dict("records"))
    parts: list[str] = []
    for task in study.tasks:
        here = [[_cell(name, row) for name in _RESULTS] for row in rows if row["task"] == task]
        parts.append(_table(list(_RESULTS.values()), here, caption=task))
    return "".join(parts)


def _cell(name: str, row: Mapping[str, Any]) -> str:
    value = row[name]
    if name == "variant":
        return str(value)
    if name == "seeds":
        return f"{value} of {row['declared']}" if value != row["declared"] else str(value)
    if name in ("mean", "iqm") and row["seeds"]:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return (
            f"{_number(value)} [{_number(low)}, {_number(high)}]" if not math.isnan(low) else _number(value)
        )
    return _number(float(value))


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "never"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _missing(study: StudyData) -> str:
    gaps = [member for member in study.members if not member.complete]
    if not gaps:
        return ""
    named = [
        f"<li>{escape(m.variant)} on {escape(m.task)}, seed {m.seed}: {escape(m.reason)}</li>"
        for m in gaps[:MOST_MISSING]
    ]
    if len(gaps) > MOST_MISSING:
        named.append(f"<li>and {len(gaps) - MOST_MISSING} more</li>")
    is_open = " open" if len(gaps) <= 5 else ""
    return (
        f'<details class="warning"{is_open}><summary>{len(gaps)} of {len(study.members)} runs are incomplete</summary>'
        f"<ul>{''.join(named)}</ul></details>"
    )


def _settings(study: StudyData) -> str:
    """What every variant was run with: first what differs, then everything, from the configurations of the runs."""
    first = {(m.variant, m.task): m for m in reversed(study.members)}
    rows: list[list[str]] = []
    for (variant, task), member in reversed(first.items()):
        record = member.record
        changes = (
            ", ".join(f"{key} {json.dumps(value)}" for key, value in record["overrides"].items()) or "none"
        )
        seeds = sorted(m.seed for m in study.of(variant, task))
        rows.append(
            [
                variant,
                member.env,
                str(record["algorithm"]),
                str(record["preset"]),
                f"{member.steps:,}",
                _seeds(seeds),
                changes,
            ]
        )
    header = ["Variant", "Environment", "Algorithm", "Preset", "Steps", "Seeds", "Changes to the preset"]
    full = {(m.variant, m.task): m.run for m in reversed(study.members) if m.run is not None}
    return (
        f"<details><summary>Settings and seeds</summary>{_table(header, rows)}"
        f"<details><summary>All settings</summary>{_all_settings(full)}</details>"
        f"<details><summary>Commands of single runs</summary>{_commands(full)}</details></details>"
    )


def _all_settings(runs: Mapping[tuple[str, str], Run]) -> str:
    """What all runs share, and what each variant and task has of its own."""
    settings = {
        name: {k: json.dumps(v) for k, v in flat(run.config).items() if k != "seed"}
        for name, run in runs.items()
    }
    if not settings:
        return "<p>No run has been started yet.</p>"
    shared = set.intersection(*(set(own.items()) for own in settings.values()))
    blocks = {"Shared by all": dict(sorted(shared))}
    for (variant, task), own in reversed(settings.items()):
        blocks[f"{variant} on {task}"] = dict(sorted(set(own.items()) - shared))
    return "".join(
        f"<h4>{escape(name)}</h4><p class='settings'>"
        + "; ".join(f"<code>{escape(key)}</code> {escape(value)}" for key, value in own.items())
        + "</p>"
        for name, own in blocks.items()
        if own
    )


def _commands(runs: Mapping[tuple[str, str], Run]) -> str:
    """One run of every variant and task; its other seeds differ by their --seed and --out."""
    lines = (
        _without_folders(str(run.manifest["command"])) for run in runs.values() if "command" in run.manifest
    )
    items = "".join(f"<li><code>{escape(line)}</code></li>" for line in dict.fromkeys(lines))
    return f'<ul class="settings">{items}</ul>'


def _seeds(seeds: Sequence[int]) -> str:
    whole = list(range(len(seeds)))
    return f"0 to {len(seeds) - 1}" if list(seeds) == whole and len(seeds) > 2 else ", ".join(map(str, seeds))


def _circumstances(runs: Sequence[Run]) -> str:
    """Versions and machines, each value with the number of runs that had it."""
    counts: dict[str, dict[str, int]] = {}
    for run in runs:
        manifest = run.manifest
        versions = manifest.get("versions")
        facts = dict(cast(Mapping[str, object], versions)) if isinstance(versions, Mapping) else {}
        facts |= {
            key: manifest[key]
            for key in ("python", "device", "usable_cores", "platform", "commit")
            if key in manifest
        }
        physics = manifest.get("physics")
        if isinstance(physics, Mapping):
            facts |= {f"physics: {key}": value for key, value in cast(Mapping[str, object], physics).items()}
        for name, value in facts.items():
            by_value = counts.setdefault(name, {})
            by_value[str(value)] = by_value.get(str(value), 0) + 1
    if not counts:
        return ""
    rows = [
        [name, "; ".join(f"{value} ({n} runs)" if len(values) > 1 else value for value, n in values.items())]
        for name, values in counts.items()
    ]
    return f"<section><h2>Versions and machines</h2>{_table(['', 'Value'], rows)}</section>"


def _without_folders(command: str) -> str:
    """A command without the folders of the machine it was typed on."""
    return re.sub(r"(?<![\w.])/[^\s']*/", "", command)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    lines = "".join(
        "<tr>"
        + f'<th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(x)}</td>" for x in row[1:])
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption or header[0] or "table")}">'
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _anchor(study: StudyData) -> str:
    return f"{study.name}-{study.scale}"
