"""The ten studies as they are declared: they can be built, share what is the same, and ask claims that exist."""

import json
from pathlib import Path

import pytest

from macura import presets
from macura.analysis.claims import CLAIMS
from macura.cli import train
from macura.cli.main import main
from macura.core import UserError
from macura.studies import catalogue, declare
from macura.studies.record import Record, job
from macura.training import to_dict

STUDIES = catalogue.STUDIES
OUT = Path("out")


def runs(name: str, scale: str, tasks: tuple[str, ...] = ()) -> list[declare.Entry]:
    return declare.entries(STUDIES[name], scale, OUT, tasks=tasks)


@pytest.mark.parametrize("scale", declare.SCALES)
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_can_be_built_at_every_scale(name, scale):
    entries = runs(name, scale)
    places = {(entry.variant.label, entry.task, entry.job.record.seed) for entry in entries}
    assert len(places) == len(entries) == len({entry.job.name for entry in entries})
    assert set(STUDIES[name].claims) <= set(CLAIMS)


def test_there_are_ten_and_together_they_test_every_claim():
    assert len(STUDIES) == 10
    assert {claim for study in STUDIES.values() for claim in study.claims} == set(CLAIMS)


def test_paper_scale_is_the_papers():
    benchmark = runs("benchmark", "paper")
    assert len(benchmark) == 4 * 5 * 5
    humanoid = next(e for e in benchmark if e.task == "Humanoid-v4" and e.variant.label == "MACURA")
    assert humanoid.job.record.config() == presets.build("macura", "Humanoid-v4", "paper")
    assert {entry.job.steps for entry in runs("prolonged", "paper")} == {1_000_000}
    noisy = next(e for e in runs("exploration", "paper") if e.variant.label == "M2AC, pink")
    assert noisy.job.record.preset == "paper_stochastic" and noisy.job.record.config().exploration == "pink"


def test_m2ac_takes_its_second_table_at_laptop_scale_too_where_there_is_one():
    hopper = runs("exploration", "laptop", ("Hopper-v4",))
    by_label = {entry.variant.label: entry.job.record.config() for entry in hopper}
    assert by_label["M2AC, deterministic"].sac.target_entropy == 0.0
    assert by_label["M2AC, white"].sac.fixed_alpha == 0.2


@pytest.mark.parametrize("scale", ["paper", "laptop"])
def test_more_updates_lie_between_the_usual_ones_and_the_most_of_macura(scale):
    updates = {e.variant.label: e.job.record.config().updates for e in runs("updates", scale)}
    most = updates.pop("MACURA").maximum
    for label, rule in updates.items():
        assert most / 2 < rule.count < most if ", G = " in label else rule.count == most / 2, label


def test_what_two_studies_have_in_common_is_one_run():
    def names(study: str, *labels: str) -> set[str]:
        found = {e.job.name for e in runs(study, "laptop") if e.variant.label in labels}
        assert found
        return found

    assert names("kappa", "MACURA") <= names("benchmark", "MACURA")
    plain = names("ablation", "MACURA")
    assert plain == names("scaling", "ξ = 1") == names("exploration", "MACURA, pink")
    assert plain == names("measures", "MACURA, dual GJS")
    assert names("ablation", "one-versus-rest") == names("measures", "MACURA, one-versus-rest")
    assert names("ablation", "deterministic") == names("exploration", "MACURA, deterministic")
    assert names("rollouts", "MACURA") == names("updates", "MACURA")


def test_the_folder_is_named_by_everything_that_decides_the_run():
    record = Record("macura", "Hopper-v5", "laptop", 3, 5000, {"exploration": "white"})
    name = job(record, OUT).name
    assert name.startswith("macura-Hopper-v5-3-")
    assert job(Record(**json.loads(json.dumps(record.to_json()))), OUT).name == name
    others = [
        Record("macura", "Hopper-v5", "laptop", 4, 5000, {"exploration": "white"}),
        Record("macura", "Hopper-v5", "laptop", 3, 5001, {"exploration": "white"}),
        Record("macura", "Hopper-v5", "laptop", 3, 5000, {"exploration": "pink"}),
        Record("macura", "Hopper-v5", "quick", 3, 5000, {"exploration": "white"}),
    ]
    assert len({name, *(job(other, OUT).name for other in others)}) == 5
    same = Record("macura", "Hopper-v5", "laptop", 3, 5000, {"exploration": "pink"})
    assert job(same, OUT).name == job(Record("macura", "Hopper-v5", "laptop", 3, 5000), OUT).name


@pytest.mark.parametrize("name", STUDIES)
def test_the_command_in_the_manifest_does_the_same_run(name):
    for entry in runs(name, "smoke")[-3:]:
        words = entry.job.record.command(Path("somewhere"))
        assert words[:2] == ["macura", "train"]
        asked = train.understand(words[2:])
        assert to_dict(train.configure(asked.settings)) == to_dict(entry.job.record.config())


@pytest.mark.parametrize(
    ("name", "scale", "near"), [("benchmrk", "smoke", "'benchmark'"), ("benchmark", "papr", "'paper'")]
)
def test_wrong_names_suggest_the_near_one(name, scale, near):
    with pytest.raises(UserError, match=f"Did you mean {near}"):
        catalogue.find(name, scale)


def test_an_unknown_task_is_refused_before_anything_is_written(tmp_path, capsys):
    assert main(["study", "kappa", "--tasks", "Hoper-v5", "--out", str(tmp_path / "x")]) == 2
    assert "Hopper" in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_a_real_study_from_the_command_line_to_its_report(tmp_path, capsys):
    """One run, twice (the second time it is skipped), and the page about it."""
    out = str(tmp_path / "out")
    asked = ["study", "kappa", "--scale", "smoke", "--seeds", "1"]
    assert main([*asked, "--jobs", "1", "--out", out]) == 0
    assert main([*asked, "--jobs", "1", "--out", out]) == 0
    told = capsys.readouterr()
    assert "1 runs done, 0 were finished" in told.out and "0 runs done, 1 were finished" in told.out
    assert main(["report", out]) == 0
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert "1 of 1" in page and "Threshold κ" in page and "--algorithm macura" in page
    assert f"<code>macura {' '.join(asked)}</code>" in page
    manifest = json.loads(next((tmp_path / "out" / "runs").glob("*/manifest.json")).read_text())
    assert manifest["usable_cores"] == 1
    assert list((tmp_path / "out" / "programs" / "1-cores").iterdir()), "the next run needs not compile"
