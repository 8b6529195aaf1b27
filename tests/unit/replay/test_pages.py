"""Memory is taken as a buffer fills, and the numbers in it do not notice."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from macura.replay import pages

ROWS, WIDTH = 600_000, 40
MEGABYTES = ROWS * WIDTH * 4 / 2**20


def resident():
    """Megabytes of memory this process holds; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0.0
    fields = Path("/proc/self/status").read_text().split()
    return int(fields[fields.index("VmRSS:") + 1]) / 1024


@jax.jit
def total(array):
    return jnp.sum(jnp.abs(array))


def test_empty_buffers_take_no_memory_and_filling_them_does():
    before = resident()
    array = pages.zeros(ROWS, WIDTH, jnp.dtype(jnp.float32))
    assert resident() - before < 0.3 * MEGABYTES
    write = jax.jit(
        lambda array, rows, at: jax.lax.dynamic_update_slice(array, rows, (at, 0)), donate_argnums=0
    )
    rows = jnp.ones((ROWS // 10, WIDTH))
    address = array.unsafe_buffer_pointer()
    array = write(array, rows, 0)
    array = write(array, rows, ROWS - ROWS // 10)
    assert array.unsafe_buffer_pointer() == address
    assert resident() - before < 0.6 * MEGABYTES
    assert float(total(array[: ROWS // 10])) == rows.size
    assert float(total(array)) == 2 * rows.size


def test_filled_keeps_the_rows_and_zeros_after_them():
    live = np.random.default_rng(0).normal(size=(1001, WIDTH)).astype(np.float32)
    array = pages.filled((live[:7], live[7:]), pages.zeros(ROWS, WIDTH, jnp.dtype(jnp.float32)))
    np.testing.assert_array_equal(array[:1001], live)
    assert array.shape == (ROWS, WIDTH) and float(total(array[1001:])) == 0


def test_small_buffers_are_zeros_too():
    array = pages.filled(
        (np.ones((1, 2), np.float32), np.ones((0, 2), np.float32)), pages.zeros(3, 2, jnp.dtype("float32"))
    )
    assert array.tolist() == [[1, 1], [0, 0], [0, 0]]
