"""A transition survives its journey through a flat row."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import replay
from macura.core import Transition

OBS, ACT = 3, 2


@pytest.mark.parametrize("shape", [(), (4,), (2, 4)], ids=str)
def test_round_trip(shape):
    rng = np.random.default_rng(0)
    transition = Transition(
        obs=jnp.asarray(rng.normal(size=(*shape, OBS)), jnp.float32),
        action=jnp.asarray(rng.normal(size=(*shape, ACT)), jnp.float32),
        reward=jnp.asarray(rng.normal(size=shape), jnp.float32),
        next_obs=jnp.asarray(rng.normal(size=(*shape, OBS)), jnp.float32),
        terminated=jnp.asarray(rng.random(shape) < 0.5),
    )
    rows = replay.pack(transition)
    assert rows.shape == (*shape, replay.width(OBS, ACT)) and rows.dtype == jnp.float32
    for back in (
        replay.unpack(rows, OBS, ACT),
        jax.jit(replay.unpack, static_argnums=(1, 2))(rows, OBS, ACT),
    ):
        for got, expected in zip(back, transition, strict=True):
            np.testing.assert_array_equal(got, expected)
            assert got.dtype == expected.dtype


def test_half_precision_comes_back_as_float32():
    rows = jnp.ones((2, replay.width(OBS, ACT)), jnp.float16)
    back = replay.unpack(rows, OBS, ACT)
    assert {leaf.dtype.name for leaf in back} == {"float32", "bool"}
    assert back.terminated.all()


@pytest.mark.parametrize("terminated", [False, True])
def test_the_row_made_on_the_host_is_the_row_made_on_the_device(terminated):
    rng = np.random.default_rng(0)
    obs, next_obs = (rng.normal(size=OBS).astype(np.float32) for _ in range(2))
    action, reward = rng.normal(size=ACT).astype(np.float32), 0.25
    host = replay.pack_row(obs, action, reward, next_obs, terminated)
    device = replay.pack(
        Transition(*map(jnp.asarray, (obs, action, np.float32(reward), next_obs, terminated)))
    )
    np.testing.assert_array_equal(host, device)
    assert host.dtype == np.float32
