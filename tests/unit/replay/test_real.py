"""The real buffer against a Python list."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import replay

CAPACITY, OBS, ACT = 5, 2, 1
WIDTH = replay.width(OBS, ACT)
add = jax.jit(replay.add, donate_argnums=0)


def row(number):
    return jnp.full((WIDTH,), number, jnp.float32)


def filled(count):
    real = replay.init_real(CAPACITY, OBS, ACT)
    for number in range(count):
        real = add(real, row(number))
    return real


def numbers(rows):
    return np.asarray(rows)[:, 0].astype(int).tolist()


@pytest.mark.parametrize("count", range(12))
def test_holds_the_last_rows(count):
    real = filled(count)
    expected = list(range(count))[-CAPACITY:]
    assert int(replay.size(real)) == len(expected)
    assert sorted(numbers(real.rows)[: len(expected)]) == expected
    assert int(real.count) == count


@pytest.mark.parametrize("count", [0, 1, 3, 5, 7, 11])
@pytest.mark.parametrize("asked", [1, 3, 5])
def test_newest(count, asked):
    rows, valid = replay.newest(filled(count), asked)
    expected = list(range(count))[-asked:]
    assert [n for n, v in zip(numbers(rows), valid, strict=True) if v] == expected
    assert rows.shape == (asked, WIDTH)


@pytest.mark.parametrize("count", [1, 3, 5, 7])
def test_start_states_are_uniform_over_what_is_held(count):
    draws = replay.sample_observations(filled(count), jax.random.key(0), 5000, OBS)
    assert draws.shape == (5000, OBS)
    found, frequency = np.unique(numbers(draws), return_counts=True)
    expected = list(range(count))[-CAPACITY:]
    assert found.tolist() == expected
    np.testing.assert_allclose(frequency / 5000, 1 / len(expected), atol=0.03)


@pytest.mark.parametrize("count", [0, 3, 5, 8])
def test_goes_to_disk_and_back(count):
    real = filled(count)
    saved = replay.trim_real(real)
    assert isinstance(saved.rows, np.ndarray) and saved.rows.shape[0] == min(count, CAPACITY)
    back = replay.restore_real(saved, replay.init_real(CAPACITY, OBS, ACT))
    for got, expected in zip(jax.tree.leaves(back), jax.tree.leaves(real), strict=True):
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype
    more, also = add(back, row(99)), add(filled(count), row(99))
    np.testing.assert_array_equal(more.rows, also.rows)
