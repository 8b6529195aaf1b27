"""The ring on the device against a Python list."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from macura import replay
from tests.oracles.ring import ListRing

CAPACITY, CHUNK, WIDTH = 11, 5, 3


@partial(jax.jit, static_argnums=0)
def append(config, ring, rows, keep, limit):
    return replay.append(config, ring, rows, keep, limit)


chunk = st.lists(st.booleans(), min_size=CHUNK, max_size=CHUNK)
round_of_chunks = st.tuples(st.integers(1, CAPACITY), st.lists(chunk, max_size=3))


def live(ring):
    return np.concatenate(replay.trim_ring(ring).rows)[:, 0].tolist()


@settings(max_examples=60, deadline=None)
@given(rounds=st.lists(round_of_chunks, max_size=9), kept=st.integers(1, 4), by_age=st.booleans())
def test_ring_is_the_list(rounds, kept, by_age):
    config = replay.RingConfig(rounds_kept=kept, evict_by_age=by_age)
    ring, oracle, number = replay.init_ring(config, CAPACITY, WIDTH), ListRing(kept, by_age), 0.0
    for limit, chunks in rounds:
        ring = replay.begin_round(ring)
        oracle.begin_round()
        for keep in chunks:
            values = [number + i for i in range(CHUNK)]
            number += CHUNK
            rows = jnp.tile(jnp.asarray(values)[:, None], (1, WIDTH))
            before = oracle.contents
            ring = append(config, ring, rows, jnp.asarray(keep), limit)
            oracle.append(values, keep, limit)
            after = live(ring)
            assert after == oracle.contents
            assert int(ring.count) == len(oracle.contents) <= limit
            arrived = [v for v, k in zip(values, keep, strict=True) if k]
            assert (before + arrived)[len(before) + len(arrived) - len(after) :] == after
            if by_age:
                lives = [life for life, _ in oracle.rows]
                expected = [lives.count(life) for life in range(1, kept + 1)]
                assert ring.round_counts.tolist() == expected
        ring = replay.end_round(ring)
        assert live(ring) == oracle.contents
        assert 0 <= int(ring.start) < CAPACITY


def test_ring_of_one_round_forgets_everything_at_the_first_row_of_the_next():
    config = replay.RingConfig(rounds_kept=1)
    ring = replay.init_ring(config, 4, 1)
    for values, expected in (([1.0, 2.0], [1, 2]), ([], [1, 2]), ([3.0], [3])):
        ring = replay.begin_round(ring)
        rows = jnp.asarray(values + [0.0] * (2 - len(values)))[:, None]
        ring = append(config, ring, rows, jnp.arange(2) < len(values), 4)
        assert live(ring) == expected
