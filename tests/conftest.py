"""Strict numerics and run-time checked shapes for every test."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from jaxtyping import install_import_hook

# Shapes in signatures are checked while testing, and only then.
_hook = install_import_hook("macura", "beartype.beartype")
_hook.__enter__()

import jax  # noqa: E402  (after the hook, so that what it imports of ours is checked)

jax.config.update("jax_numpy_rank_promotion", "allow")
jax.config.update("jax_numpy_dtype_promotion", "standard")
