"""Clean times on a machine that does other things too."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Calls = dict[str, Callable[[], Any]]

REST = 0.3
"""Seconds before every call: the threads of NumPy's products go on waiting actively after one, on everybody's cores."""


def fastest(calls: Calls, repeats: int) -> dict[str, float]:
    """Seconds of the fastest of several calls of each, taken in turns, after one that compiles.

    Noise only ever adds time, and in turns it meets all of them alike.
    """
    for once in calls.values():
        once()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, once in calls.items():
            time.sleep(REST)
            began = time.perf_counter()
            once()
            times[name].append(time.perf_counter() - began)
    return {name: min(of_one) for name, of_one in times.items()}


def gemm(rows: int, inner: int, columns: int, flops: float) -> tuple[Calls, float]:
    """Float32 products of this size, in loops of XLA's and of NumPy's library, and the FLOPs of one loop."""
    one = 2 * rows * inner * columns
    count = max(1, round(flops / one))
    calls: Calls = {
        "gemm/xla": _xla(rows, inner, columns, count),
        "gemm/numpy": _numpy(rows, inner, columns, count),
    }
    return calls, float(one * count)


def _xla(rows: int, inner: int, columns: int, count: int) -> Callable[[], Any]:
    x = jax.random.normal(jax.random.key(0), (rows, inner), jnp.float32)
    weight = jax.random.normal(jax.random.key(1), (inner, columns), jnp.float32)

    @jax.jit
    def chain(x: jax.Array, weight: jax.Array) -> jax.Array:
        def one(_: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            x, total = carry
            product = x @ weight
            return x + product[0, 0] * 1e-30, total + product[:1, :1]  # each product needs the one before

        return jax.lax.fori_loop(0, count, one, (x, jnp.zeros((1, 1))))[1]

    return lambda: chain(x, weight).block_until_ready()


def _numpy(rows: int, inner: int, columns: int, count: int) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, inner), np.float32)
    weight = rng.standard_normal((inner, columns), np.float32)
    out = np.empty((rows, columns), np.float32)

    def products() -> None:
        for _ in range(count):
            np.matmul(x, weight, out=out)

    return products
