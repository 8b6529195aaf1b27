import sys

import onnxruntime
import pytest

from macura.cli.main import main

from .conftest import snapshot


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("done_run", "done_run/policy.onnx"),
        ("done_run/last.safetensors", "done_run/last.onnx"),
        ("done_run --out new/cart.onnx", "new/cart.onnx"),
    ],
)
def test_a_graph_is_written_and_named(line, file, here, capsys):
    assert main(["export", *line.split()]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert onnxruntime.InferenceSession(file).get_inputs()[0].shape == ["batch", 3]


def test_a_graph_that_is_there_is_replaced_as_figures_and_policies_are(here):
    (here / "policy.onnx").write_text("old")
    assert main(["export", "done_run", "--out", "policy.onnx"]) == 0
    onnxruntime.InferenceSession("policy.onnx")


def test_without_onnx_one_line_names_the_extra(here, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnx", None)
    before = snapshot(here)
    assert main(["export", "done_run", "--out", "new/policy.onnx"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and 'pip install "macura[export]"' in error
    assert snapshot(here) == before


def test_a_place_that_cannot_be_written_is_a_failure_in_one_line(here, capsys):
    assert main(["export", "done_run", "--out", "odd_envs.py/policy.onnx"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("macura: cannot write odd_envs.py/policy.onnx") and error.count("\n") == 1
