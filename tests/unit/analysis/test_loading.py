import json

from macura.analysis.loading import Damaged, flat, group_by_settings, load, load_all


def test_a_run_is_read_as_it_was_written(run_folder):
    run = load(run_folder("one", algorithm="macura", seed=3, steps=5000))
    assert (run.algorithm, run.env, run.task, run.seed, run.steps) == (
        "macura",
        "Hopper-v5",
        "Hopper",
        3,
        5000,
    )
    assert run.finished and run.torn == 0 and run.last_step == 5000
    assert run.series("eval/return_mean").steps.tolist() == [1000, 2000, 3000, 4000, 5000]
    assert run.series("nothing").steps.size == 0
    assert "rollout/kappa" in run.metrics and "step" not in run.metrics and "eval/returns" not in run.metrics
    assert run.setting("imagination.rollout.gate.kind") == "keep_all"
    assert run.setting("imagination.absent.kind", "none") == "none"


def test_torn_and_strange_lines_are_counted_and_left_out(run_folder):
    folder = run_folder("one", steps=2000)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('\n[]\n{"step": null}\n{"step": 3000, "eval/retu')
    run = load(folder)
    assert (len(run.rows), run.torn) == (2, 3)
    assert load_all([folder]).notes() == (f"{folder}: 3 unreadable lines in metrics.jsonl left out",)


def test_a_step_written_twice_counts_as_last_written(run_folder):
    folder = run_folder("one", steps=2000)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 2000, "eval/return_mean": 7.0, "sac/alpha": null}\n')
    series = load(folder).series("eval/return_mean")
    assert series.steps.tolist() == [1000, 2000] and series.values[-1] == 7.0


def test_what_cannot_be_read_is_named(run_folder, tmp_path):
    without = run_folder("a")
    (without / "config.json").unlink()
    broken = run_folder("b")
    (broken / "config.json").write_text("{")
    listed = run_folder("c")
    (listed / "config.json").write_text("[]")
    noise = run_folder("d")
    (noise / "metrics.jsonl").write_text("noise\n")
    assert load(without) == Damaged(without, "config.json is missing")
    assert load(broken) == Damaged(broken, "config.json is not valid JSON")
    assert load(listed) == Damaged(listed, "config.json is not a JSON object")
    assert load(noise) == Damaged(noise, "metrics.jsonl has no readable line")
    absent = tmp_path / "absent"
    assert load_all([absent]).damaged == (Damaged(absent, "does not exist"),)


def test_a_run_that_has_just_begun_and_lost_its_manifest_is_still_a_run(run_folder):
    folder = run_folder("one", until=0)
    (folder / "manifest.json").write_text("{")
    (folder / "metrics.jsonl").unlink()
    run = load(folder)
    assert run.rows == () and run.manifest == {} and run.last_step == 0
    assert load_all([folder]).notes() == (f"unfinished {folder}: 0 of 10,000 steps",)


def test_folders_are_searched_but_runs_are_not(run_folder, tmp_path):
    outer = run_folder("study/b")
    run_folder("study/a", seed=1)
    (outer / "checkpoints").mkdir()
    (outer / "checkpoints" / "config.json").write_text("{}")
    loaded = load_all([tmp_path / "study", outer])
    assert [run.path.name for run in loaded.runs] == ["a", "b"]


def test_seeds_are_one_group_and_labels_say_what_differs(run_folder):
    names = [run_folder(f"s{seed}", seed=seed) for seed in (0, 1)]
    names += [run_folder("sac", algorithm="sac"), run_folder("other", preset="paper")]
    names += [run_folder("wide", algorithm="sac", sac={"width": 512})]
    groups = group_by_settings(load_all(names).runs)
    assert {group.label: len(group.runs) for group in groups} == {
        "MACURA (preset default)": 2,
        "SAC": 1,
        "MACURA (preset paper)": 1,
        "SAC (width 512)": 1,
    }


def test_nested_settings_become_dotted_keys():
    assert flat(json.loads('{"a": {"b": {"c": 1}}, "d": [2]}')) == {"a.b.c": 1, "d": [2]}
