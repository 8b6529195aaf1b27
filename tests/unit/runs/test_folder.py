import json
import os
import subprocess
import sys

import pytest

from macura.core import UserError
from macura.runs import RunFolder, describe

CONFIG = {"steps": 10, "sac": {"width": 64}}
MANIFEST = describe("cpu (test)")


@pytest.fixture
def folder(tmp_path):
    with RunFolder(tmp_path / "runs" / "one") as made:
        yield made


def begun(folder):
    folder.begin(CONFIG, MANIFEST)
    return folder


def ended(folder, status="finished"):
    begun(folder).end(status)
    return folder


def test_a_run_from_nothing_to_its_end(folder):
    assert folder.state() == "empty"
    assert folder.begin(CONFIG, MANIFEST) == (False, [])
    assert folder.state() == "unfinished"
    assert folder.read_config() == CONFIG
    assert folder.read_manifest()["status"] == "running"
    folder.end("finished", "well")
    assert folder.state() == "finished"
    assert folder.read_manifest()["message"] == "well"
    assert folder.read_manifest()["sessions"][0]["usable_cores"] == MANIFEST["usable_cores"]


def test_an_unfinished_run_goes_on_and_keeps_its_sessions(folder):
    ended(folder, "interrupted")
    assert folder.begin(CONFIG, MANIFEST).resumed
    statuses = [session["status"] for session in folder.read_manifest()["sessions"]]
    assert statuses == ["interrupted", "running"]


def test_what_changed_in_between_is_told(folder):
    ended(folder, "interrupted")
    notes = folder.begin(CONFIG, MANIFEST | {"usable_cores": 99}).notes
    assert notes == [f"this run began with usable_cores = {MANIFEST['usable_cores']}, and goes on with 99"]


def test_a_finished_run_is_never_reused(folder):
    ended(folder)
    before = {path: path.read_bytes() for path in folder.path.iterdir()}
    with pytest.raises(UserError, match="finished and is never overwritten; choose another --out"):
        folder.begin(CONFIG, MANIFEST)
    assert {path: path.read_bytes() for path in folder.path.iterdir()} == before


def test_another_configuration_is_refused_by_its_differences(folder):
    ended(folder, "failed")
    with pytest.raises(
        UserError, match=r"another configuration \(sac.width was 64, is 32\); choose another --out"
    ):
        folder.begin(CONFIG | {"sac": {"width": 32}}, MANIFEST)


def test_a_folder_of_other_things_is_left_alone(folder):
    folder.path.mkdir(parents=True)
    (folder.path / "thesis.tex").write_text("precious")
    with pytest.raises(UserError, match="holds other things than a run"):
        folder.begin(CONFIG, MANIFEST)
    assert [path.name for path in folder.path.iterdir()] == ["thesis.tex"]


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file, not the folder of a run"):
        RunFolder(tmp_path / "file").begin(CONFIG, MANIFEST)


def test_what_a_kill_while_starting_left_counts_as_empty(folder):
    folder.path.mkdir(parents=True)
    (folder.path / "manifest.json").write_text('{"half":')
    (folder.path / "lock").write_text("1\n")
    (folder.path / ".config.json.7.draft").write_text("{")
    assert folder.state() == "empty"
    assert not begun(folder).read_manifest()["sessions"][1:]
    assert not list(folder.path.glob(".*.draft"))


def test_a_second_process_is_refused(folder):
    begun(folder)
    program = (
        "import sys; from macura.runs import RunFolder; from macura.core import UserError\n"
        "try: RunFolder(sys.argv[1]).begin({'steps': 10, 'sac': {'width': 64}}, {})\n"
        "except UserError as error: print(error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, str(folder.path)], capture_output=True, text=True, check=True
    )
    assert f"is in use by another process (pid {os.getpid()})" in said.stdout
    folder.end("interrupted")
    with RunFolder(folder.path) as other:
        assert other.begin(CONFIG, MANIFEST).resumed


@pytest.mark.parametrize("text", ["{", "[1]", ""])
def test_a_damaged_configuration_is_named(folder, text):
    ended(folder, "failed")
    folder.config_file.write_text(text)
    with pytest.raises(UserError, match=r"config.json is damaged"):
        folder.begin(CONFIG, MANIFEST)


def test_reading_a_run_that_is_not_there(folder):
    with pytest.raises(UserError, match=r"there is no run in .*; start one with: macura train --out"):
        folder.read_config()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot .*choose a folder that you may write to"):
        RunFolder(tmp_path / "file" / "run").begin(CONFIG, MANIFEST)


def test_numbers_may_be_written_either_way(folder):
    ended(folder, "failed")
    assert folder.begin({"steps": 10.0, "sac": {"width": 64}}, MANIFEST).resumed
    assert json.loads(folder.config_file.read_text()) == CONFIG
