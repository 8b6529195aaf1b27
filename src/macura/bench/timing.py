"""Clean times on a machine that does other things too."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

REPEATS = 7


def fastest(once: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of several calls, after one that compiles; noise only ever adds time."""
    once()
    times: list[float] = []
    for _ in range(repeats):
        began = time.perf_counter()
        once()
        times.append(time.perf_counter() - began)
    return min(times)


def gemm_peak(rows: int, inner: int, columns: int) -> float:
    """FLOP/s of float32 products of this size: the best of XLA's and NumPy's library, in loops of their own."""
    return max(_xla(rows, inner, columns), _numpy(rows, inner, columns))


def _repeats(rows: int, inner: int, columns: int) -> int:
    return max(20, int(2e9 / (2 * rows * inner * columns)))


def _xla(rows: int, inner: int, columns: int) -> float:
    count = _repeats(rows, inner, columns)
    x = jax.random.normal(jax.random.key(0), (rows, inner), jnp.float32)
    weight = jax.random.normal(jax.random.key(1), (inner, columns), jnp.float32)

    @jax.jit
    def chain(x: jax.Array, weight: jax.Array) -> jax.Array:
        def one(_: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            x, total = carry
            product = x @ weight
            return x + product[0, 0] * 1e-30, total + product[:1, :1]  # each product needs the one before

        return jax.lax.fori_loop(0, count, one, (x, jnp.zeros((1, 1))))[1]

    seconds = fastest(lambda: chain(x, weight).block_until_ready())
    return 2 * rows * inner * columns * count / seconds


def _numpy(rows: int, inner: int, columns: int) -> float:
    count = _repeats(rows, inner, columns)
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((rows, inner), np.float32), rng.standard_normal((inner, columns), np.float32)
    out = np.empty((rows, columns), np.float32)

    def products() -> None:
        for _ in range(count):
            np.matmul(x, weight, out=out)

    return 2 * rows * inner * columns * count / fastest(products)
