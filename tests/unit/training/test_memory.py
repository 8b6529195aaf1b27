"""The estimate of memory before anything is allocated, and what is said when there is too little."""

import jax
import numpy as np
import pytest

from macura import presets
from macura.core import UserError, root_key
from macura.training import memory, state
from macura.training.state import Shape


@pytest.mark.parametrize("algorithm", ["sac", "macura"])
def test_the_estimate_is_what_the_state_takes(algorithm):
    config = presets.build(algorithm, "Hopper-v5", preset="quick", steps=3000)
    full = state.init(config, Shape(11, 3, True, False), np.ones(3, np.float32), root_key(0))
    parts = memory.estimate(config, 11, 3)

    def size(tree):
        return sum(leaf.nbytes for leaf in jax.tree.leaves(tree))

    assert parts["real_buffer"] == full.real.rows.nbytes
    # Actor and critics; gradients and the best actor come on top while a run goes on.
    assert 0.6 * parts["agent"] < size(full.learner) <= parts["agent"]
    if full.ring is not None:
        assert parts["imagined_buffer"] == full.ring.rows.nbytes
        assert 0.5 * parts["model"] < size(full.model) <= 1.1 * parts["model"]


def test_half_precision_halves_the_imagined_buffer():
    single, half = (
        memory.estimate(
            presets.build(
                "macura", "Humanoid-v5", preset="paper", overrides={"imagination.ring.storage": storage}
            ),
            45,
            17,
        )
        for storage in ("float32", "float16")
    )
    assert half["imagined_buffer"] * 2 == single["imagined_buffer"] == 20_000_000 * 109 * 4


@pytest.mark.parametrize(
    ("largest", "remedy"),
    [
        ("imagined_buffer", "--imagination.ring.storage float16"),
        ("real_buffer", "lower --steps"),
        ("rollouts", "lower --imagination.rollout.rollouts"),
        ("agent", "use smaller networks"),
    ],
)
def test_too_much_is_refused_with_what_to_lower(largest, remedy, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 4 * 2**30)
    with pytest.raises(UserError) as caught:
        memory.refuse_too_much({"programs": 2**20, largest: 5 * 2**30})
    told = str(caught.value)
    assert remedy in told and "5.0 GiB" in told and "4.0 GiB" in told and "\n" not in told
    memory.refuse_too_much({"programs": 2**20, largest: 3 * 2**30})


def test_a_machine_that_does_not_tell_is_trusted(monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: None)
    memory.refuse_too_much({"real_buffer": 2**60})


def test_this_machine_has_memory():
    found = memory.machine_memory()
    assert found is None or found > 2**28
