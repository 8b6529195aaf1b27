"""Random streams are named, independent, and the same in every process."""

import jax
import numpy as np

from macura.core import Stream, host_rng, host_seed, root_key, stream_key

STEPS = (0, 1, 2, 1000)


def test_numbers_of_streams_are_part_of_every_result():
    """Append, never renumber."""
    assert [(s.name, s.value) for s in Stream][:10] == [
        ("AGENT_INIT", 0),
        ("MODEL_INIT", 1),
        ("ENV_RESET", 2),
        ("EXPLORATION", 3),
        ("IMPROVE", 4),
        ("FIT_MODEL", 5),
        ("IMAGINE", 6),
        ("EVALUATE", 7),
        ("ENV_NOISE", 8),
        ("PREDICT", 9),
    ]


def test_device_streams_never_meet():
    keys = [
        tuple(jax.random.key_data(stream_key(root_key(seed), stream, step)).tolist())
        for seed in (0, 1, 2**32 - 1)
        for stream in Stream
        for step in STEPS
    ]
    assert len(set(keys)) == len(keys)


def test_a_traced_step_gives_the_same_key():
    traced = jax.jit(lambda step: jax.random.key_data(stream_key(root_key(3), Stream.IMPROVE, step)))
    for step in STEPS:
        expected = jax.random.key_data(stream_key(root_key(3), Stream.IMPROVE, step))
        np.testing.assert_array_equal(traced(np.int32(step)), expected)


def test_host_streams_never_meet_and_repeat():
    seeds = [host_seed(seed, stream, step) for seed in (0, 1) for stream in Stream for step in STEPS]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    draws = [host_rng(0, stream, step).random() for stream in Stream for step in STEPS]
    assert len(set(draws)) == len(draws)
    assert draws == [host_rng(0, stream, step).random() for stream in Stream for step in STEPS]


def test_the_numbers_of_a_seed_are_these():
    """What a run of today draws, a run of tomorrow draws."""
    assert jax.random.key_data(stream_key(root_key(0), Stream.IMAGINE, 250)).tolist() == [
        1324021434,
        1317781585,
    ]
    assert host_seed(0, Stream.ENV_RESET, 1000) == 441974153
