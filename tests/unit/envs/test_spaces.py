"""Observations as rows of numbers, whatever the environment shows."""

import json

import numpy as np
import pytest
from gymnasium import spaces

from macura.core import UserError
from macura.envs import Spaces
from macura.envs.spaces import spaces_of

ACTION = spaces.Box(-1.0, 1.0, (2,), np.float32)


def box(*shape):
    return spaces.Box(-9.0, 9.0, shape, np.float32)


def of(space):
    return spaces_of(space, ACTION, "Fake")


SHOWN = {
    "a vector": box(3),
    "a matrix": box(2, 3),
    "a single number": box(1),
    "a scalar": box(),
    "one row": box(1, 4),
    "a dictionary": spaces.Dict({"b": box(2), "a": box(2, 2), "c": box()}),
    "a tuple": spaces.Tuple((box(2), box(1))),
    "nested": spaces.Dict({"arm": spaces.Dict({"angle": box(2)}), "rest": spaces.Tuple((box(1), box(3)))}),
}


@pytest.mark.parametrize("name", SHOWN)
def test_one_observation_and_a_batch_become_gymnasiums_flat_rows(name):
    space = SHOWN[name]
    space.seed(0)
    ours = Spaces.from_json(json.loads(json.dumps(of(space).to_json())))
    assert ours == of(space)
    several = [space.sample() for _ in range(4)]
    flat = [spaces.utils.flatten(space, obs) for obs in several]
    rows, batched = ours.rows(several[0])
    assert not batched
    np.testing.assert_array_equal(rows, [flat[0]])
    np.testing.assert_array_equal(ours.flat(several[0]), flat[0])
    for count in (1, 4):
        rows, batched = ours.rows(stack(space, several[:count]))
        assert batched
        np.testing.assert_array_equal(rows, flat[:count])
        rows, batched = ours.rows(np.stack(flat[:count]))
        np.testing.assert_array_equal(rows, flat[:count])


def stack(space, several):
    """As a vectorised environment shows them: arrays inside, not observations in an array."""
    if isinstance(space, spaces.Dict):
        return {key: stack(inner, [obs[key] for obs in several]) for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(stack(inner, [obs[i] for obs in several]) for i, inner in enumerate(space.spaces))
    return np.stack(several)


@pytest.mark.parametrize(
    ("name", "obs"),
    [
        ("a vector", np.zeros(4)),
        ("a vector", np.zeros(6)),  # two observations, but not as a batch
        ("a vector", np.zeros((0, 3))),
        ("a vector", "three"),
        ("a dictionary", {"a": np.zeros((2, 2)), "b": np.zeros(2)}),
        ("a dictionary", {"a": np.zeros((5, 2, 2)), "b": np.zeros((4, 2)), "c": np.zeros(5)}),
        ("a dictionary", np.zeros(6)),
        ("a tuple", (np.zeros(2),)),
    ],
)
def test_what_is_no_observation_is_told_what_is_read(name, obs):
    with pytest.raises(UserError, match=r"this policy reads \d numbers"):
        of(SHOWN[name]).rows(obs)


def test_keys_and_shapes_are_told():
    with pytest.raises(UserError, match=r"obs\['a'\] of shape \(2, 2\), obs\['b'\] of shape \(2,\)"):
        of(SHOWN["a dictionary"]).rows({})
