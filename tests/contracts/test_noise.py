"""What every kind of exploration noise keeps to, and what tells them apart."""

import numpy as np
import pytest

from macura.exploration import ExplorationKind, epsilon_sequence

KINDS = ExplorationKind.__args__
NOISY = ("pink", "white")


def draw(kind, length=1000, act_dim=3, seed=0):
    return epsilon_sequence(kind, length, act_dim, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("length", "act_dim"), [(1000, 3), (7, 1), (2, 2), (1, 17)])
def test_shape_dtype_and_repetition(kind, length, act_dim):
    block = draw(kind, length, act_dim)
    assert block.shape == (length, act_dim) and block.dtype == np.float32
    assert np.isfinite(block).all()
    np.testing.assert_array_equal(block, draw(kind, length, act_dim))


@pytest.mark.parametrize("kind", NOISY)
def test_another_seed_is_another_block(kind):
    assert not np.any(draw(kind) == draw(kind, seed=1))


@pytest.mark.parametrize("kind", NOISY)
def test_actions_are_independent(kind):
    block = draw(kind, 200, 2000)
    correlation = (block[:, 0::2] * block[:, 1::2]).mean()
    assert correlation == pytest.approx(0, abs=0.02)


def test_deterministic_is_silent():
    assert not draw("deterministic").any()


def test_white_has_no_memory():
    block = draw("white", 1000, 1000)
    assert block.var() == pytest.approx(1, abs=0.01)
    assert (block[1:] * block[:-1]).mean() == pytest.approx(0, abs=0.01)


def test_pink_statistics():
    """Over 8000 blocks of 1000: variance 1.0737 (1.0001 without the offset of a block), and its autocorrelation."""
    blocks = np.float64(draw("pink", 1000, 8000))
    variance = (blocks**2).mean()
    assert variance == pytest.approx(1.0737, abs=0.01)
    assert (blocks - blocks.mean(0)).var() == pytest.approx(1.0001, abs=0.01)
    for lag, expected in ((1, 0.774), (10, 0.448), (100, 0.135)):
        assert (blocks[lag:] * blocks[:-lag]).mean() / variance == pytest.approx(expected, abs=0.01)


def test_pink_spectrum_falls_as_one_over_f():
    power = (np.abs(np.fft.rfft(draw("pink", 1000, 4000), axis=0)) ** 2).mean(1)
    f = np.arange(2, 400)
    slope = np.polyfit(np.log(f), np.log(power[f]), 1)[0]
    assert slope == pytest.approx(-1, abs=0.02)
