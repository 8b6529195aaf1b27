"""What every measure of uncertainty keeps to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura import uncertainty
from macura.core import Gaussians
from macura.uncertainty.registry import MIXTURE_SAMPLES, MeasureName
from tests.oracles import uncertainty as oracle

NAMES = MeasureName.__args__
MEMBERS, ROWS, OUT = 5, 12, 4
KEY = jax.random.key(7)
MEMBER = jnp.arange(ROWS) % MEMBERS

CASES = {
    "ordinary": (1.0, 1.0, (-3.0, 0.5)),
    "at the variance floor, large means": (1e3, 1e-2, (-10.0, -10.0)),
    "at the variance floor, near the data": (3.0, 1e-2, (-10.0, -9.5)),
    "nearly equal members": (1.0, 1e-2, (-1.0, -0.99)),
    "far apart": (0.0, 50.0, (-10.0, 0.5)),
}


def ensemble(case):
    """Members scattered around a common centre."""
    centre, scatter, (low, high) = CASES[case]
    rng = np.random.default_rng(list(CASES).index(case))
    mean = centre * (1 + rng.random((1, ROWS, OUT))) + scatter * rng.normal(size=(MEMBERS, ROWS, OUT))
    logvar = rng.uniform(low, high, (MEMBERS, ROWS, OUT))
    return Gaussians(jnp.asarray(mean, jnp.float32), jnp.asarray(logvar, jnp.float32))


def reference(name, gaussians):
    """The twin, row by row, from the same float32 numbers."""
    mean, logvar = (np.asarray(leaf, np.float64) for leaf in gaussians)
    keys = jax.random.split(KEY, MIXTURE_SAMPLES)
    draws = np.stack([jax.random.normal(key, mean.shape, jnp.float32) for key in keys])
    values = []
    for row in range(ROWS):
        extra = {"one_vs_rest": (int(MEMBER[row]),), "kl_to_mixture": (draws[:, :, row],)}.get(name, ())
        values.append(getattr(oracle, name)(mean[:, row], logvar[:, row], *extra))
    return np.array(values)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NAMES)
def test_float32_is_the_float64_twin(name, case):
    gaussians = ensemble(case)
    got = jax.jit(uncertainty.measure(name))(gaussians, MEMBER, KEY)
    # The Monte Carlo measure is a difference from E log E; what rounds is that, not the result.
    rounding = 1e-6 * MEMBERS * np.log(MEMBERS) if name == "kl_to_mixture" else 0.0
    np.testing.assert_allclose(got, reference(name, gaussians), rtol=1e-4, atol=rounding)


@pytest.mark.parametrize("name", NAMES)
def test_one_program_for_all_data(name):
    """jit changes nothing, data of the same shape is not traced again, and float32 stays float32."""
    measure, traces = uncertainty.measure(name), []

    @jax.jit
    def compiled(gaussians, member, key):
        traces.append(name)
        return measure(gaussians, member, key)

    for case in ("ordinary", "nearly equal members"):
        gaussians = ensemble(case)
        got = compiled(gaussians, MEMBER, KEY)
        np.testing.assert_allclose(got, measure(gaussians, MEMBER, KEY), rtol=2e-5, atol=1e-6)
        assert got.dtype == jnp.float32 and got.shape == (ROWS,)
    assert len(traces) == 1


@pytest.mark.parametrize("name", NAMES)
def test_finite_at_the_ends_of_what_a_model_can_say(name):
    """Log-variances between the soft bounds -10 and 0.5, means up to 1e6 apart."""
    mean = jnp.array([0.0, 1e6, -1e6])[:, None, None] * jnp.ones((3, 2, OUT))
    logvar = jnp.array([-10.0, 0.5, -3.0])[:, None, None] * jnp.ones((3, 2, OUT))
    value = uncertainty.measure(name)(Gaussians(mean, logvar), jnp.array([0, 1]), KEY)
    assert np.isfinite(value).all() and (value > 0).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "kl_to_mixture"])
def test_broken_predictions_do_not_look_certain(name):
    """A NaN or infinite mean gives an uncertainty that no threshold lets pass."""
    gaussians = ensemble("ordinary")
    for broken in (jnp.nan, jnp.inf):
        value = uncertainty.measure(name)(
            gaussians._replace(mean=gaussians.mean.at[1, 0, 0].set(broken)), MEMBER, KEY
        )
        assert not value[0] < 1e30
        assert np.isfinite(value[1:]).all()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
@pytest.mark.parametrize("name", ["geometric_js", "geometric_js_dual", "ensemble_variance", "mean_variance"])
def test_public_functions_take_any_batch(name, shape):
    rng = np.random.default_rng(0)
    mean, logvar = (jnp.asarray(rng.normal(size=(MEMBERS, *shape, OUT)), jnp.float32) for _ in range(2))
    function = getattr(uncertainty, name)
    whole = function(mean, logvar)
    assert whole.shape == shape
    for place in np.ndindex(shape):
        one = function(mean[(slice(None), *place)], logvar[(slice(None), *place)])
        np.testing.assert_allclose(whole[place], one, rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_the_measures_with_further_arguments_take_any_batch(shape):
    rng = np.random.default_rng(0)
    mean, logvar = (jnp.asarray(rng.normal(size=(MEMBERS, *shape, OUT)), jnp.float32) for _ in range(2))
    member = jnp.asarray(rng.integers(0, MEMBERS, shape), jnp.int32)
    assert uncertainty.one_vs_rest(mean, logvar, member).shape == shape
    assert uncertainty.kl_to_mixture(mean, logvar, KEY, 3).shape == shape


def test_kl_to_mixture_draws_what_its_key_says():
    gaussians = ensemble("ordinary")
    program = jax.jit(uncertainty.measure("kl_to_mixture"))
    first, again = (program(gaussians, MEMBER, KEY) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, program(gaussians, MEMBER, jax.random.key(8)))
