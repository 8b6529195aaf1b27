"""Large arrays of zeros that take memory as they are written, not when they are made.

XLA on a CPU has no uninitialised arrays: `jnp.empty` writes every byte, and memory from outside (NumPy, mmap)
cannot be donated, so its first in-place update copies all of it. Linux, however, takes pages back and serves
zeros in their place until somebody writes: the array holds the same numbers before and after, and stays
donatable. An accelerator reserves its memory in advance anyway; there, and on other systems, nothing is done.
"""

import ctypes
import mmap
import sys

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

_MADV_DONTNEED = 4
_WORTH_IT = 1 << 24


def zeros(rows: int, width: int, dtype: jnp.dtype) -> Float[Array, "rows width"]:
    """A zero matrix whose memory is taken as its rows are written, where the system can do that."""
    return give_back(jnp.zeros((rows, width), dtype), 0)


def give_back(array: Float[Array, "rows width"], first: int) -> Float[Array, "rows width"]:
    """The same array, the memory of its rows from `first` on returned to the system; they must be zero."""
    if isinstance(array, Tracer) or array.nbytes < _WORTH_IT:
        return array
    if sys.platform != "linux" or {device.platform for device in array.devices()} != {"cpu"}:
        return array
    array.block_until_ready()
    address = array.unsafe_buffer_pointer()
    row_bytes = array.nbytes // array.shape[0]
    lowest = -(-(address + first * row_bytes) // mmap.PAGESIZE) * mmap.PAGESIZE
    highest = (address + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if highest > lowest:
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        madvise(lowest, highest - lowest, _MADV_DONTNEED)  # advice: a refusal only costs memory
    return array


def filled(
    rows: Float[np.ndarray, "live width"], like: Float[Array, "rows width"]
) -> Float[Array, "rows width"]:
    """On the host: `rows` followed by zeros, at the size and in the dtype of `like`."""
    whole = np.zeros(like.shape, like.dtype)
    whole[: rows.shape[0]] = rows
    return give_back(jnp.array(whole), rows.shape[0])
