"""Batches of real and imagined rows: the shares, uniformity, and the rows themselves against Python lists."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import replay
from macura.core import UserError
from tests.oracles.mixture import batch as batch_of_lists

OBS, ACT, BATCH, UPDATES = 2, 1, 40, 600
WIDTH = replay.width(OBS, ACT)
KINDS = ("per_update", "within_batch")
plan_batches = jax.jit(replay.plan_batches, static_argnums=(0, 2, 3))


def rows(first, count):
    return jnp.arange(first, first + count, dtype=jnp.float32)[:, None] * jnp.ones((1, WIDTH))


def real_buffer(count, capacity=50):
    real = replay.init_real(capacity, OBS, ACT)
    for row in rows(0, count):
        real = replay.add(real, row)
    return real


def ring_of(count, capacity=30, turned=0, storage="float32"):
    """A ring whose live rows are 1000, 1001, ...; `turned` rows came and went before."""
    config = replay.RingConfig(rounds_kept=1, storage=storage)
    ring = replay.init_ring(config, capacity, WIDTH)
    for first, number in ((500, turned), (1000, count)):
        ring = replay.begin_round(ring)
        ring = replay.append(config, ring, rows(first, capacity), jnp.arange(capacity) < number, capacity)
    return ring


def numbers(plan, real, ring):
    read = jax.vmap(lambda i: replay.read_batch(plan, i, real, ring, OBS, ACT).reward)
    return np.asarray(read(jnp.arange(plan.index.shape[0])))


@pytest.mark.parametrize("turned", [0, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_lists(kind, turned):
    real, ring = real_buffer(17), ring_of(25, turned=turned)
    plan = plan_batches(replay.MixtureConfig(0.3, kind), jax.random.key(0), 20, BATCH, real, ring)
    imagined_list = np.concatenate(replay.trim_ring(ring).rows)[:, 0].tolist()
    assert imagined_list == list(range(1000, 1025))
    got = numbers(plan, real, ring)
    for i in range(20):
        which = np.asarray(plan.imagined[i])
        place = np.where(which, (np.asarray(plan.index[i]) - int(ring.start)) % 30, plan.index[i])
        assert got[i].tolist() == batch_of_lists(list(range(17)), imagined_list, which, place)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_a_coin_for_each_whole_batch(share):
    real, ring = real_buffer(17), ring_of(25)
    plan = plan_batches(replay.MixtureConfig(share), jax.random.key(1), UPDATES, BATCH, real, ring)
    imagined = np.asarray(plan.imagined)
    assert (imagined == imagined[:, :1]).all()
    assert (~imagined[:, 0]).mean() == pytest.approx(share, abs=0.03 if 0 < share < 1 else 0)


def test_a_share_of_every_batch():
    real, ring = real_buffer(17), ring_of(25)
    plan = plan_batches(replay.MixtureConfig(0.1, "within_batch"), jax.random.key(1), 50, BATCH, real, ring)
    assert ((~np.asarray(plan.imagined)).sum(1) == 4).all()


@pytest.mark.parametrize("kind", KINDS)
def test_uniform_with_replacement_over_what_is_held(kind):
    real, ring = real_buffer(17), ring_of(25, turned=20)
    plan = plan_batches(replay.MixtureConfig(0.5, kind), jax.random.key(2), UPDATES, BATCH, real, ring)
    values, counts = np.unique(numbers(plan, real, ring), return_counts=True)
    assert values.tolist() == [*range(17), *range(1000, 1025)]
    for half, size in ((counts[:17], 17), (counts[17:], 25)):
        np.testing.assert_allclose(half / half.sum(), 1 / size, atol=0.01)
    assert any(len(set(batch)) < BATCH for batch in numbers(plan, real, ring).tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_ring_leaves_real_data(kind):
    real, ring = real_buffer(17), ring_of(0)
    plan = plan_batches(replay.MixtureConfig(0.05, kind), jax.random.key(0), 20, BATCH, real, ring)
    assert set(numbers(plan, real, ring).ravel().tolist()) == set(range(17))


def test_without_imagination_all_is_real():
    real = real_buffer(60)  # ten rows were overwritten
    plan = plan_batches(None, jax.random.key(0), UPDATES, BATCH, real, None)
    assert plan.imagined is None
    assert set(numbers(plan, real, None).ravel().tolist()) == set(range(10, 60))


def test_one_program_whatever_is_stored():
    traces = []

    @partial(jax.jit, static_argnums=0)
    def program(mixture, key, real, ring):
        traces.append(1)
        plan = replay.plan_batches(mixture, key, 3, BATCH, real, ring)
        return replay.read_batch(plan, 2, real, ring, OBS, ACT)

    for held, imagined in ((1, 0), (17, 25), (50, 30)):
        batch = program(replay.MixtureConfig(), jax.random.key(held), real_buffer(held), ring_of(imagined))
        assert batch.obs.shape == (BATCH, OBS)
    assert len(traces) == 1


def test_half_precision_is_read_as_float32():
    real, ring = real_buffer(17), ring_of(25, storage="float16")
    plan = plan_batches(replay.MixtureConfig(0.0), jax.random.key(0), 2, BATCH, real, ring)
    batch = replay.read_batch(plan, 0, real, ring, OBS, ACT)
    assert batch.obs.dtype == jnp.float32 and (batch.reward >= 1000).all()


@pytest.mark.parametrize("settings", [dict(real_share=1.5), dict(real_share=-0.1)], ids=str)
def test_refused(settings):
    with pytest.raises(UserError, match=f"mixture.{next(iter(settings))}"):
        replay.MixtureConfig(**settings)
