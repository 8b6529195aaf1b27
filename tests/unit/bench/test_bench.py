"""The benchmark runs, at a size at which its numbers mean nothing."""

import json

from macura.cli.main import main


def test_the_smallest_benchmark_measures_every_part(tmp_path, capsys):
    out = tmp_path / "speed.json"
    assert main(["bench", "--size", "tiny", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    printed = capsys.readouterr().out
    for part in ("improve", "fit_model", "imagine"):
        assert found[part]["share_of_peak"] > 0
        assert f"`{part}` against products of its size" in printed
    assert "act 1, improve 1, fit_model 1, imagine 1, evaluate 1" in printed
    assert out.with_suffix(".md").read_text().strip() == printed.strip()


def test_a_size_that_there_is_not_is_one_line(capsys):
    assert main(["bench", "--size", "huge"]) == 2
    assert "must be one of full, quick, tiny" in capsys.readouterr().err
