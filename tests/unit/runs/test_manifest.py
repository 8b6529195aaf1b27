import json
import os
import sys

from macura.runs import commit, describe, manifest, usable_cores, versions


def test_the_circumstances_are_json_and_name_what_decides_bits(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["macura", "train", "--out", "a b"])
    described = json.loads(json.dumps(describe("cpu (x)", {"mujoco": "3.3.3"})))
    assert described["command"] == "macura train --out 'a b'"
    assert described["physics"] == {"mujoco": "3.3.3"}
    assert described["usable_cores"] == usable_cores()
    assert {"jax", "numpy", "mujoco"} <= described["versions"].keys()


def test_only_installed_packages_are_listed(monkeypatch):
    monkeypatch.setattr(manifest, "PACKAGES", ("numpy", "no-such-package"))
    assert list(versions()) == ["numpy"]


def test_cores_are_those_this_process_may_use():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_outside_a_checkout_there_is_no_commit(monkeypatch):
    assert commit() is None or len(commit().removesuffix("+dirty")) == 40
    monkeypatch.setenv("PATH", "")
    assert commit() is None


def test_only_what_can_change_bits_is_told():
    before, after = describe("cpu"), describe("cpu") | {"command": "other", "host": "other"}
    assert manifest.changes(before, after) == []
    assert manifest.changes(before, after | {"device": "gpu"}) == [
        'this run began with device = "cpu", and goes on with "gpu"'
    ]
