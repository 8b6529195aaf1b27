"""Large arrays of zeros that take memory as they are written, not when they are made.

XLA on a CPU has no uninitialised arrays: `jnp.empty` writes every byte, and memory from outside (NumPy, mmap)
cannot be donated, so its first in-place update copies all of it. Linux, however, takes pages back and serves
zeros in their place until somebody writes: the array holds the same numbers before and after, and stays
donatable. An accelerator reserves its memory in advance anyway; there, and on other systems, nothing is done.
"""

import ctypes
import mmap
import sys
from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

_MADV_DONTNEED = 4
_WORTH_IT = 1 << 24
_BLOCK = 1 << 16
"""Rows written at once."""


def zeros(rows: int, width: int, dtype: jnp.dtype) -> Float[Array, "rows width"]:
    """A zero matrix whose memory is taken as its rows are written, where the system can do that."""
    array = jnp.zeros((rows, width), dtype)
    if array.nbytes >= _WORTH_IT and sys.platform == "linux" and _on_cpu(array):
        _give_back(array)
    return array


def filled(
    pieces: Sequence[Float[np.ndarray, "_ width"]], empty: Float[Array, "rows width"]
) -> Float[Array, "rows width"]:
    """On the host: the rows of all pieces, one after the other, in place of the zeros of `empty`, which is used up."""
    array, first = empty, 0
    for piece in pieces:
        for begin in range(0, len(piece), _BLOCK):
            block = jnp.asarray(piece[begin : begin + _BLOCK])
            array = _write(array, block, first + begin)
        first += len(piece)
    return array


@partial(jax.jit, donate_argnums=0)
def _write(array: Array, block: Array, first: int | Int[Array, ""]) -> Array:
    return jax.lax.dynamic_update_slice_in_dim(array, block, first, 0)


def _on_cpu(array: Array) -> bool:
    return {device.platform for device in array.devices()} == {"cpu"}


def _give_back(array: Array) -> None:
    """Return the whole pages of a zero array to the system."""
    array.block_until_ready()
    address = array.unsafe_buffer_pointer()
    lowest = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    highest = (address + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    madvise(lowest, highest - lowest, _MADV_DONTNEED)  # advice: a refusal only costs memory
