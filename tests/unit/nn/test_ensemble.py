"""Both ways of applying an ensemble agree with one member at a time."""

import jax
import jax.numpy as jnp
import numpy as np

from macura.nn import ensemble, mlp, truncated_normal

NETWORK = mlp.init_ensemble(jax.random.key(0), 3, (5, 8, 8, 2), truncated_normal)


def test_shared_and_own_inputs_match_each_member() -> None:
    own = jax.random.normal(jax.random.key(1), (3, 4, 5))
    shared_out = jax.jit(lambda n, x: ensemble.apply_shared(n, x, jax.nn.silu))(NETWORK, own[0])
    own_out = jax.jit(lambda n, x: ensemble.apply_own(n, x, jax.nn.silu))(NETWORK, own)
    for e in range(3):
        one = mlp.member(NETWORK, e)
        np.testing.assert_allclose(shared_out[e], mlp.apply(one, own[0], jax.nn.silu), atol=1e-5)
        np.testing.assert_allclose(own_out[e], mlp.apply(one, own[e], jax.nn.silu), atol=1e-5)


def test_gradients_stay_with_their_member() -> None:
    x = jax.random.normal(jax.random.key(1), (4, 5))
    grads = jax.grad(lambda n: jnp.square(ensemble.apply_shared(n, x, jax.nn.silu)[1]).sum())(NETWORK)
    for leaf in jax.tree.leaves(grads):
        assert not np.any(leaf[0]) and not np.any(leaf[2]) and np.any(leaf[1])
