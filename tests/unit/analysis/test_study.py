"""Studies read from disk, their tables, the verdicts on claims, and the report."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from macura.analysis import report, study, tables
from macura.analysis.claims import CLAIMS
from macura.analysis.evidence import higher, stability
from macura.core import UserError

VARIANTS = {"MACURA": ("macura", 1.0), "MBPO": ("mbpo", 0.6), "M2AC": ("m2ac", 0.5), "SAC": ("sac", 0.2)}


@pytest.fixture
def make_study(run_folder, tmp_path):
    """`make_study(seeds=3)` writes a finished benchmark of two tasks into tmp_path, and returns its folder."""

    def make(seeds=3, claims=("macura_faster", "untuned")) -> Path:
        runs = []
        for label, (algorithm, level) in VARIANTS.items():
            for env in ("Hopper-v5", "Ant-v5"):
                for seed in range(seeds):
                    name = f"{algorithm}-{env}-{seed}"
                    run_folder(f"runs/{name}", algorithm=algorithm, env=env, seed=seed, level=level)
                    record = {
                        "algorithm": algorithm,
                        "env": env,
                        "preset": "laptop",
                        "seed": seed,
                        "overrides": {},
                    }
                    place = {"variant": label, "group": "", "task": env, "seed": seed, "steps": 10_000}
                    runs.append(place | {"folder": f"runs/{name}", "record": record})
        content = {"study": "benchmark", "scale": "laptop", "title": "Side by side", "figure": "Benchmark"}
        content |= {
            "command": "macura study benchmark --scale laptop",
            "question": "Which?",
            "claims": list(claims),
            "metrics": ["eval/return_mean"],
            "runs": runs,
        }
        (tmp_path / "studies").mkdir()
        (tmp_path / "studies" / "benchmark-laptop.json").write_text(json.dumps(content))
        return tmp_path

    return make


def load(folder: Path) -> study.StudyData:
    (only,) = study.load_folder(folder).studies
    return only


def test_comparisons_are_decided_where_seeds_are_enough(make_study):
    data = load(make_study())
    assert higher(data, "MACURA", "SAC").verdict == "supported"
    assert higher(data, "SAC", "MACURA").verdict == "contradicted"
    assert higher(data, "MACURA", "MACURA").verdict == "undecided"
    assert "1.00 [1.00, 1.00]" in higher(data, "MACURA", "SAC").lines[0]


def test_two_seeds_are_not_enough_for_any_claim_of_comparison(make_study):
    data = load(make_study(seeds=2))
    assert higher(data, "MACURA", "SAC").verdict == "not enough data"
    assert CLAIMS["macura_faster"].judge(data).verdict == "not enough data"


def test_every_claim_can_be_asked_of_a_study_that_has_nothing(make_study):
    """Whatever is missing, a claim answers; and never that it is supported."""
    folder = make_study()
    for path in (folder / "runs").iterdir():
        (path / "metrics.jsonl").unlink()
        (path / "done").unlink()
    data = load(folder)
    for key, claim in CLAIMS.items():
        if key != "untuned":  # which is read from the settings
            assert claim.judge(data).verdict == "not enough data", key


def test_a_diverged_run_counts_at_its_lowest_and_as_collapsed(make_study):
    folder = make_study()
    fallen = folder / "runs" / "macura-Hopper-v5-0"
    (fallen / "done").unlink()
    (fallen / "manifest.json").write_text(
        json.dumps({"status": "failed", "message": "the agent diverged before step 5000"})
    )
    lines = (fallen / "metrics.jsonl").read_text().splitlines()[:5]
    (fallen / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    data = load(folder)
    member = next(m for m in data.members if m.folder == "runs/macura-Hopper-v5-0")
    curve = study.returns(member)
    assert member.complete and curve.steps[-1] == 10_000
    assert study.final_return(member) == curve.values.min()
    assert data.collapsed("MACURA", "Hopper") == 1 and data.collapsed("MACURA", "Ant") == 0
    assert stability(data, "MACURA", stable=True).verdict == "undecided"


def test_unfinished_damaged_and_missing_runs_are_named_and_left_out(make_study):
    folder = make_study()
    (folder / "runs" / "sac-Ant-v5-0" / "done").unlink()
    (folder / "runs" / "sac-Ant-v5-1" / "config.json").write_text("{")
    (folder / "runs" / "sac-Ant-v5-2").rename(folder / "elsewhere")
    (folder / "studies" / "broken.json").write_text("[]")
    found = study.load_folder(folder)
    reasons = [member.reason for member in found.studies[0].of("SAC", "Ant")]
    assert reasons == ["unfinished: 10,000 of 10,000 steps", "config.json is not valid JSON", "not started"]
    assert sorted(bad.path.name for bad in found.damaged) == ["broken.json", "sac-Ant-v5-1"]
    written = report.report(folder)
    page = written.page.read_text()
    assert (
        "3 of 24 runs are incomplete" in page and "not started" in page and "Skipped because damaged" in page
    )
    assert any("3 of 24" in note for note in written.notes)
    row = tables.results(found.studies[0]).query("variant == 'SAC' and task == 'Ant'").iloc[0]
    assert row.seeds == 0 and row.declared == 3 and np.isnan(row["mean"])


def test_a_folder_without_studies_says_what_to_type(tmp_path):
    with pytest.raises(UserError, match="macura study benchmark"):
        report.report(tmp_path)


def test_tables_hold_what_the_runs_wrote(make_study):
    folder = make_study()
    files = tables.write(study.load_folder(folder).studies, folder / "tables")
    curves = pd.read_csv(folder / "tables" / "curves.csv")
    again = pd.read_parquet(folder / "tables" / "curves.parquet")
    assert list(curves.columns) == list(tables.COLUMNS) == list(again.columns)
    pd.testing.assert_frame_equal(curves, again, check_dtype=False)
    one = curves.query("run == 'macura-Ant-v5-1' and metric == 'eval/return_mean'")
    rows = (json.loads(x) for x in (folder / "runs/macura-Ant-v5-1/metrics.jsonl").read_text().splitlines())
    assert dict(zip(one.step, one.value, strict=True)) == pytest.approx(
        {r["step"]: r["eval/return_mean"] for r in rows}
    )
    scores = pd.read_csv(folder / "tables" / "scores.csv")
    assert len(scores) == 24 and set(scores.state) == {"finished"}
    assert len(files) == 4


def test_the_matrix_for_rliable_has_a_row_a_seed_and_a_column_a_task(make_study):
    folder = make_study()
    (folder / "runs" / "sac-Ant-v5-0" / "done").unlink()
    matrix = tables.score_matrix(load(folder))
    assert matrix["MACURA"].shape == (3, 2)
    assert matrix["SAC"].shape == (2, 2), "a seed that one task lacks is left out"
    assert np.isfinite(matrix["SAC"]).all()


class Strict(HTMLParser):
    """Every element is closed in order; ids are unique; nothing is fetched."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.wanted: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("meta", "link", "br", "hr", "img", "input"):
            self.open.pop()
        self.note(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)

    def note(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href", "src"):
                (self.wanted if value.startswith("#") else self.loads).append(value)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1:]}>"
        self.open.pop()


def test_the_page_is_well_formed_and_needs_no_network(make_study):
    page = report.report(make_study(claims=tuple(CLAIMS))).page.read_text()
    strict = Strict()
    strict.feed(page)
    strict.close()
    assert not strict.open
    assert len(strict.ids) == len(set(strict.ids))
    assert {target[1:] for target in strict.wanted} <= set(strict.ids)
    assert all(target.startswith("data:") for target in strict.loads)
    assert "@import" not in page and "url(http" not in page and "<script" not in page
    assert page.count("<svg") == 2 and 'name="viewport"' in page and "prefers-color-scheme: dark" in page
    for verdict in ("supported", "not enough data"):
        assert verdict in page


def test_names_from_outside_are_escaped(make_study):
    folder = make_study()
    path = folder / "studies" / "benchmark-laptop.json"
    path.write_text(path.read_text().replace("Side by side", "<b>A&amp;B</b>"))
    page = report.report(folder).page.read_text()
    assert "&lt;b&gt;A&amp;amp;B" in page


def test_published_curves_are_drawn_beside_ours(make_study):
    page = report.report(make_study()).page.read_text()
    assert re.search(r"MACURA published", page) and re.search(r"MBPO published", page)


def test_published_curves_are_left_out_where_our_task_is_noisier(make_study):
    folder = make_study()
    for path in folder.glob("runs/*/config.json"):
        config = json.loads(path.read_text())
        config["env"]["action_noise"] = 0.1
        path.write_text(json.dumps(config))
    page = report.report(folder).page.read_text()
    assert "MACURA, 3 seeds" in page and "MACURA published" not in page
