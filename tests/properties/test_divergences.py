"""Laws of the divergences, on ensembles that hypothesis makes up."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macura import uncertainty

PAIRWISE = ("geometric_js", "geometric_js_dual")
SYMMETRIC = (*PAIRWISE, "ensemble_variance", "mean_variance")
MEMBERS, OUT = 4, 3
programs = {name: jax.jit(getattr(uncertainty, name)) for name in (*SYMMETRIC, "one_vs_rest")}

eighth = st.integers(-32, 32).map(lambda n: n / 8)  # differences are either zero or well above rounding
vector = st.lists(eighth, min_size=OUT, max_size=OUT)
gaussian = st.tuples(vector, st.lists(st.integers(-80, 4).map(lambda n: n / 8), min_size=OUT, max_size=OUT))
ensembles = st.lists(gaussian, min_size=MEMBERS, max_size=MEMBERS)


def arrays(members):
    """(mean, logvar), each (member, 1, out)."""
    return tuple(jnp.asarray(np.array(part)[:, None], jnp.float32) for part in zip(*members, strict=True))


def value(name, members, *extra):
    return float(programs[name](*arrays(members), *extra)[0])


@pytest.mark.parametrize("name", PAIRWISE)
@settings(max_examples=50, deadline=None)
@given(one=gaussian, other=gaussian)
def test_symmetric_non_negative_and_zero_only_for_equals(name, one, other):
    forth, back = value(name, [one, other]), value(name, [other, one])
    assert forth == pytest.approx(back, rel=1e-6)
    assert (forth == 0) == (one == other)
    assert forth >= 0


@settings(max_examples=50, deadline=None)
@given(members=ensembles, same=gaussian, member=st.integers(0, MEMBERS - 1))
def test_one_vs_rest_is_non_negative_and_zero_for_equals(members, same, member):
    index = jnp.array([member])
    assert value("one_vs_rest", members, index) >= 0
    assert value("one_vs_rest", [same] * MEMBERS, index) == 0


@settings(max_examples=30, deadline=None)
@given(members=ensembles)
def test_one_vs_rest_knows_which_member_it_is_about(members):
    """Reordering the members and asking about the same one changes nothing."""
    turned = members[1:] + members[:1]
    for member in range(MEMBERS):
        moved = jnp.array([(member - 1) % MEMBERS])
        expected = value("one_vs_rest", members, jnp.array([member]))
        assert value("one_vs_rest", turned, moved) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", SYMMETRIC)
@settings(max_examples=30, deadline=None)
@given(members=ensembles, order=st.permutations(range(MEMBERS)))
def test_the_order_of_the_members_does_not_matter(name, members, order):
    shuffled = value(name, [members[e] for e in order])
    assert shuffled == pytest.approx(value(name, members), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", [*PAIRWISE, "mean_variance"])
@settings(max_examples=30, deadline=None)
@given(same=gaussian)
def test_members_that_agree_are_certain(name, same):
    assert value(name, [same] * MEMBERS) == 0


@settings(max_examples=30, deadline=None)
@given(same=gaussian)
def test_ensemble_variance_of_members_that_agree_is_their_own(same):
    expected = np.linalg.norm(np.exp(same[1]))
    assert value("ensemble_variance", [same] * MEMBERS) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", PAIRWISE)
@settings(max_examples=30, deadline=None)
@given(
    members=ensembles, scale=st.lists(st.sampled_from([0.125, 0.5, 2.0, 16.0]), min_size=OUT, max_size=OUT)
)
def test_divergences_do_not_see_the_units_of_an_output(name, members, scale):
    scaled = [
        (list(np.multiply(mean, scale)), list(np.add(logvar, 2 * np.log(scale)))) for mean, logvar in members
    ]
    assert value(name, scaled) == pytest.approx(value(name, members), rel=2e-4, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(one=gaussian, other=gaussian)
def test_hellinger_from_the_dual(one, other):
    """1 - H^2 = exp(-D): D is Bhattacharyya's distance, the affinity an integral over each output."""
    affinity = 1.0
    for d in range(OUT):
        (m1, v1), (m2, v2) = ((mean[d], np.exp(logvar[d])) for mean, logvar in (one, other))
        reach = 9 * np.sqrt(max(v1, v2))
        fine = np.sqrt(min(v1, v2)) / 8
        x = np.linspace(min(m1, m2) - reach, max(m1, m2) + reach, int(2e5) if fine < 1e-3 else 40_001)
        exponent = -((x - m1) ** 2) / (4 * v1) - (x - m2) ** 2 / (4 * v2)
        affinity *= np.trapezoid(np.exp(exponent), x) / np.sqrt(2 * np.pi * np.sqrt(v1 * v2))
    assert np.exp(-value("geometric_js_dual", [one, other])) == pytest.approx(affinity, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", PAIRWISE)
@settings(max_examples=20, deadline=None)
@given(members=ensembles)
def test_the_measure_of_an_ensemble_is_the_mean_over_its_pairs(name, members):
    pairs = [value(name, list(pair)) for pair in itertools.combinations(members, 2)]
    assert value(name, members) == pytest.approx(np.mean(pairs), rel=1e-5, abs=1e-6)
