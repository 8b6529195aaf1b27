"""Models that diverge: in a refit, or only in what they predict."""

import jax
import numpy as np
import pytest

from macura import runs
from macura.cli.main import main
from macura.training.session import Session

from .conftest import command

ROUND = 14
"""The step of a round in the middle of the run, with rounds every 4 steps from step 6 on."""
EXTRA = "--updates.maximum 20"


def rounds(folder):
    """The metrics of every round, by step."""
    rows = runs.read_metrics(runs.RunFolder(folder).metrics_file)
    return {row["step"]: row for row in rows if "rollout/stored" in row}


def around_rounds(monkeypatch, change):
    """Let rounds imagine with another state; the rings before and after each of them, by step."""
    rings = {}
    imagine = Session.imagine

    def changed(session):
        state = session.state
        if session.step == ROUND:
            session.state = change(state)
        before = jax.tree.map(np.array, session.state.ring)
        imagine(session)
        rings[session.step] = before, jax.tree.map(np.array, session.state.ring)
        session.state = session.state._replace(model=state.model)

    monkeypatch.setattr(Session, "imagine", changed)
    return rings


def scaled(state, factor):
    """The state with the networks of its model scaled."""
    parameters = state.model.parameters
    networks = jax.tree.map(lambda leaf: leaf * factor, parameters.networks)
    model = state.model._replace(parameters=parameters._replace(networks=networks))
    return state._replace(model=model)


@pytest.mark.parametrize("algorithm", ["macura", "mbpo"])
@pytest.mark.parametrize("factor", [1e36, np.nan], ids=["predictions", "weights"])
def test_rollouts_of_a_diverged_model_are_reported_and_never_stored(
    factor, algorithm, tmp_path, capsys, monkeypatch
):
    rings = around_rounds(monkeypatch, lambda state: scaled(state, factor))
    assert main(command(algorithm, tmp_path / "run")) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert len(told) == 1
    assert told[0].startswith("warning: 12 rollouts of round ")
    assert f"(step {ROUND}) ended at predictions that are not finite (observation[0]" in told[0]
    assert told[0].endswith("reward), which were discarded")
    before, after = rings[ROUND]
    jax.tree.map(np.testing.assert_array_equal, after.rows, before.rows)
    assert after.round_counts.tolist() == before.round_counts.tolist()
    said = rounds(tmp_path / "run")
    assert said[ROUND]["rollout/stored"] == 0
    assert said[ROUND]["rollout/nonfinite"] == 12
    assert said[ROUND + 4]["rollout/stored"] > 0
    assert all(np.isfinite(ring.rows).all() for pair in rings.values() for ring in pair)


def test_a_round_in_which_every_rollout_stops_at_once_is_survived(tmp_path, capsys, monkeypatch):
    """No warning: the gate may be right. Nothing ages, and G follows from what is in the buffer."""

    def stop_all(state):
        full = np.full_like(state.gate.quantiles, -1.0)  # a mean of these is below every uncertainty
        return state._replace(gate=state.gate._replace(quantiles=full))

    rings = around_rounds(monkeypatch, stop_all)
    assert main(command("macura", tmp_path / "run", EXTRA)) == 0
    assert "warning" not in capsys.readouterr().err
    before, after = rings[ROUND]
    assert int(before.count) > 0
    for name in ("rows", "count", "round_counts"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    said = rounds(tmp_path / "run")
    assert said[ROUND]["rollout/stored"] == 0
    assert said[ROUND]["rollout/stopped_by_gate"] == 1
    assert said[ROUND]["updates/count"] == said[ROUND - 4]["updates/count"] > 0


def test_where_the_gate_never_lets_anything_pass_the_run_goes_to_its_end(tmp_path):
    folder = tmp_path / "run"
    assert main(command("macura", folder, "--imagination.rollout.gate.fixed 1e-30")) == 0
    assert {row["rollout/stored"] for row in rounds(folder).values()} == {0}
    assert {row["updates/count"] for row in rounds(folder).values()} == {0}


def test_a_refit_that_diverges_is_told_by_step_and_output_and_the_run_goes_on(tmp_path, capsys):
    line = command("mbpo", tmp_path / "run", "--updates.count 0")
    line[line.index("tests.fakes.envs:point")] = "tests.fakes.envs:overpaid"
    assert main(line) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: the model")]
    assert told[0].startswith("warning: the model diverged in the refit of round ")
    assert "(step 6) (" in told[0]
    assert told[0].endswith("reward); it goes on from its earlier weights")


def test_what_ended_a_run_is_told_although_its_networks_went_with_it(tmp_path, monkeypatch):
    """A program that fails on the device has taken the memory of what was donated to it."""

    def improve(session):
        jax.tree.map(lambda leaf: leaf.delete(), session.state.learner)
        raise MemoryError("no room")

    monkeypatch.setattr(Session, "improve", improve)
    with pytest.raises(MemoryError, match="no room"):
        main(command("sac", tmp_path / "run"))
    assert runs.RunFolder(tmp_path / "run").read_manifest()["message"] == "MemoryError: no room"
