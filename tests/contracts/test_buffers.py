"""What both buffers keep to: one program while they fill and turn over, in place, and the same after a restart."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import replay

CAPACITY, OBS, ACT, STEPS = 7, 2, 1, 20
WIDTH = replay.width(OBS, ACT)


class Kind(NamedTuple):
    """A buffer that is given one row at a time."""

    empty: object
    store: object
    trim: object
    restore: object


def ring_kind(storage):
    config = replay.RingConfig(rounds_kept=3, evict_by_age=False, storage=storage)

    def store(ring, row):
        ring = replay.begin_round(ring)
        ring = replay.append(config, ring, row[None], jnp.array([True]), CAPACITY)
        return replay.end_round(ring)

    return Kind(
        lambda: replay.init_ring(config, CAPACITY, WIDTH), store, replay.trim_ring, replay.restore_ring
    )


KINDS = {
    "real": Kind(
        lambda: replay.init_real(CAPACITY, OBS, ACT), replay.add, replay.trim_real, replay.restore_real
    ),
    "ring": ring_kind("float32"),
    "ring in half precision": ring_kind("float16"),
}


def row(number):
    return jnp.full((WIDTH,), number, jnp.float32)


def held(kind, buffer):
    rows = kind.trim(buffer).rows  # a ring's are in two pieces
    return sorted(np.concatenate(rows if isinstance(rows, tuple) else (rows,))[:, 0].astype(int).tolist())


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def test_one_program_in_place_holds_the_last_rows(kind):
    traces = []

    def traced(buffer, row):
        traces.append(1)
        return kind.store(buffer, row)

    store = jax.jit(traced, donate_argnums=0)
    buffer = kind.empty()
    address, dtype = buffer.rows.unsafe_buffer_pointer(), buffer.rows.dtype
    for number in range(STEPS):
        buffer = store(buffer, row(number))
        assert held(kind, buffer) == list(range(number + 1))[-CAPACITY:]
        assert buffer.rows.dtype == dtype and buffer.rows.shape == (CAPACITY, WIDTH)
        assert buffer.rows.unsafe_buffer_pointer() == address
    assert len(traces) == 1


@pytest.mark.parametrize("before", [0, 3, CAPACITY, STEPS])
def test_a_restart_in_between_changes_nothing(kind, before):
    store = jax.jit(kind.store)
    straight = kind.empty()
    for number in range(before):
        straight = store(straight, row(number))
    restarted = kind.restore(kind.trim(straight), kind.empty())
    assert jax.tree.structure(restarted) == jax.tree.structure(straight)
    for number in range(before, before + CAPACITY + 2):
        assert held(kind, restarted) == held(kind, straight)
        straight, restarted = store(straight, row(number)), store(restarted, row(number))
    assert held(kind, restarted) == held(kind, straight)


def test_half_precision_clips_what_does_not_fit():
    buffer = KINDS["ring in half precision"].store(KINDS["ring in half precision"].empty(), row(1e9))
    assert np.isfinite(np.asarray(buffer.rows)).all()
    assert float(buffer.rows[0, 0]) == pytest.approx(65504)
