"""Fitting the ensemble: bootstrap, validation split, early stopping and best weights, in one compiled program.

Its shapes are those of the buffer, whatever the amount of data in it; how far its loops go is a run-time number.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

from macura.core import Metrics, PRNGKey, Transition
from macura.dynamics.config import ModelConfig, Outputs
from macura.dynamics.loss import member_loss, sum_of_errors
from macura.dynamics.model import ModelState, Parameters, optimiser
from macura.dynamics.normaliser import Normaliser, fit_normaliser, identity, normalise
from macura.nn import MLP, descend

VALIDATION_ROWS = 256
"""Rows scored at once; early in a run there are no more than a hundred."""
FEWEST_SORTED = 1024
"""Places that are shuffled however few there are to shuffle."""
BOUNDS_PENALTY = 0.01
"""Gradient of 0.01 (sum of upper - sum of lower bounds), which draws learned bounds together."""

Tree = TypeVar("Tree")


class Data(NamedTuple):
    """What the networks see: normalised inputs, targets, and whether the episode ended; row by row."""

    x: Float[Array, "row in"]
    y: Float[Array, "row out"]
    ended: Bool[Array, "row"]


class Split(NamedTuple):
    """Which rows train which member, and which validate; valid up to run-time counts."""

    bootstrap: Int[Array, "member position"]
    """Rows drawn with replacement, for every member its own; fixed for one refit."""
    train: Int[Array, ""]
    validation: Int[Array, "position"]
    """Rows that no member trains on."""
    validate: Int[Array, ""]


class Progress(NamedTuple):
    """Where a refit stands after some epochs."""

    parameters: Parameters
    optimiser: optax.OptState
    best: Parameters
    best_score: Float[Array, "member"]
    """The lowest validation error of every member so far; they may stem from different epochs."""
    error: Float[Array, "out"]
    """Mean squared error of `best` per output, mean over members."""
    improved: Bool[Array, ""]
    stale: Int[Array, ""]
    """Epochs since any member improved."""
    stale_steps: Int[Array, ""]
    """Gradient steps since then."""
    epochs: Int[Array, ""]
    steps: Int[Array, ""]
    finite: Bool[Array, "out"]
    """Whether the members' errors of the last epoch were finite, per output."""


def fit(
    config: ModelConfig,
    outputs: Outputs,
    model: ModelState,
    everything: Transition,
    count: Int[Array, ""],
    key: PRNGKey,
) -> tuple[ModelState, Metrics]:
    """Refit on the first `count` rows, from the weights and Adam moments of the last time.

    An epoch improves if any member's validation error falls by more than `improvement` of itself; the whole ensemble
    is then remembered. `patience` epochs (and `fewest_steps` steps) without that end the refit, and what is
    remembered is what stays; if no epoch improved, the last weights stay. A refit that ends in weights or predictions
    that are not finite is undone.
    """
    split_key, epoch_key = jax.random.split(key)
    inputs, targets, data = prepare(config, outputs, everything, count)
    split = draw_split(config, count, everything.reward.shape[0], split_key)
    fewest_steps = jnp.where(
        split.train > 0, config.fewest_steps, 0
    )  # without rows to train on, no step comes
    before = score(config, outputs, model.parameters, data, split)
    start = Progress(
        parameters=model.parameters,
        optimiser=model.optimiser,
        best=model.parameters,
        best_score=jnp.mean(before, axis=-1),
        error=jnp.mean(before, axis=0),
        improved=jnp.bool_(False),
        stale=jnp.int32(0),
        stale_steps=jnp.int32(0),
        epochs=jnp.int32(0),
        steps=jnp.int32(0),
        finite=jnp.ones(outputs.gaussians, jnp.bool_),
    )

    def goes_on(progress: Progress) -> Bool[Array, ""]:
        affordable = config.gradient_steps is None or progress.steps < config.gradient_steps
        patient = (progress.stale < config.patience) | (progress.stale_steps < fewest_steps)
        return patient & affordable & jnp.all(progress.finite)

    def epoch(progress: Progress) -> Progress:
        return run_epoch(config, outputs, progress, data, split, epoch_key)

    end = jax.lax.while_loop(goes_on, epoch, start)
    kept = _choose(end.improved, end.best, end.parameters)
    predicts = jnp.where(end.improved, jnp.all(jnp.isfinite(end.error)), jnp.all(end.finite))
    sound = predicts & _all_finite((kept, end.optimiser))
    fitted = ModelState(
        parameters=_choose(sound, kept, model.parameters),
        optimiser=_choose(sound, end.optimiser, model.optimiser),
        inputs=inputs,
        targets=targets,
        elites=jnp.argsort(end.best_score)[: model.elites.shape[0]].astype(jnp.int32),
    )
    error = end.error * jnp.square(targets.std)
    return fitted, {
        "model/epochs": end.epochs,
        "model/gradient_steps": end.steps,
        "model/validation_mse": jnp.mean(error),
        "model/validation_per_output": error,
        "model/diverged": ~end.finite | ~sound,
    }


def prepare(
    config: ModelConfig, outputs: Outputs, everything: Transition, count: Int[Array, ""]
) -> tuple[Normaliser, Normaliser, Data]:
    """Normalisers from all rows that exist, and the rows as the networks see them."""
    valid = jnp.arange(everything.reward.shape[0]) < count
    x = jnp.concatenate([everything.obs, everything.action], axis=-1)
    y = everything.next_obs - everything.obs if config.targets == "delta" else everything.next_obs
    if outputs.reward:
        y = jnp.concatenate([y, everything.reward[:, None]], axis=-1)
    inputs = fit_normaliser(x, valid)
    targets = fit_normaliser(y, valid) if config.normalise_targets else identity(outputs.gaussians)
    return inputs, targets, Data(normalise(inputs, x), normalise(targets, y), everything.terminated)


def draw_split(config: ModelConfig, count: Int[Array, ""], capacity: int, key: PRNGKey) -> Split:
    """A fresh validation set, and for every member a bootstrap sample of the other rows."""
    order_key, bootstrap_key = jax.random.split(key)
    validate = jnp.maximum(jnp.floor(config.validation_share * count).astype(jnp.int32), 1)
    train = count - validate
    shuffled = shuffle(order_key, count, capacity)
    drawn = jax.random.randint(bootstrap_key, (config.members, capacity), 0, jnp.maximum(train, 1))
    return Split(shuffled[drawn], train, jnp.roll(shuffled, -train), validate)


def shuffle(key: PRNGKey, count: Int[Array, ""], capacity: int) -> Int[Array, "capacity"]:
    """The numbers below `count` in random order, and then the others.

    The first 1024, 4096, ... places are sorted, as many as hold `count`: an epoch pays for its data, not for the
    length of the run.
    """
    sizes = [FEWEST_SORTED]
    while sizes[-1] < capacity:
        sizes.append(4 * sizes[-1])

    def of_size(size: int) -> Callable[[], Int[Array, "capacity"]]:
        def shuffled() -> Int[Array, "capacity"]:
            place = jnp.arange(min(size, capacity), dtype=jnp.uint32)
            lot = jnp.where(
                place < count, jax.random.bits(key, place.shape, jnp.uint32), jnp.uint32(2**32 - 1)
            )
            first = jax.lax.sort((lot, place), num_keys=1, is_stable=True)[1]
            return jnp.arange(capacity).at[: place.shape[0]].set(first.astype(jnp.int32))

        return shuffled

    fits = jnp.sum(count > jnp.asarray(sizes[:-1], jnp.int32))
    return jax.lax.switch(fits, [of_size(size) for size in sizes])


def run_epoch(
    config: ModelConfig, outputs: Outputs, progress: Progress, data: Data, split: Split, key: PRNGKey
) -> Progress:
    """Every training position once, in an order that the members share; then validation."""
    capacity = split.bootstrap.shape[1]
    batch = min(config.batch_size, capacity)
    order = shuffle(jax.random.fold_in(key, progress.epochs), split.train, capacity)
    order = jnp.pad(order, (0, batch))
    steps = -(-split.train // batch)
    if config.gradient_steps is not None:
        steps = jnp.minimum(steps, config.gradient_steps - progress.steps)

    def step(
        i: Int[Array, ""], carry: tuple[Parameters, optax.OptState]
    ) -> tuple[Parameters, optax.OptState]:
        place = i * batch + jnp.arange(batch)
        rows = split.bootstrap[:, jax.lax.dynamic_slice_in_dim(order, i * batch, batch)]
        return gradient_step(config, outputs, *carry, _at(data, rows), place < split.train)

    parameters, moments = jax.lax.fori_loop(0, steps, step, (progress.parameters, progress.optimiser))
    errors = score(config, outputs, parameters, data, split)
    new = jnp.mean(errors, axis=-1)
    best = progress.best_score
    improves = jnp.any((best - new) / jnp.abs(best) > config.improvement)
    return Progress(
        parameters=parameters,
        optimiser=moments,
        best=_choose(improves, parameters, progress.best),
        best_score=jnp.where(improves, jnp.fmin(best, new), best),
        error=jnp.where(improves, jnp.mean(errors, axis=0), progress.error),
        improved=progress.improved | improves,
        stale=jnp.where(improves, 0, progress.stale + 1),
        stale_steps=jnp.where(improves, 0, progress.stale_steps + steps),
        epochs=progress.epochs + 1,
        steps=progress.steps + steps,
        finite=jnp.all(jnp.isfinite(errors), axis=0),
    )


def gradient_step(
    config: ModelConfig,
    outputs: Outputs,
    parameters: Parameters,
    moments: optax.OptState,
    batch: Data,
    valid: Bool[Array, "batch"],
) -> tuple[Parameters, optax.OptState]:
    """One step of Adam on the sum of the members' losses, each on its own batch."""

    def gradient(network: MLP, own: Data) -> Parameters:
        one = Parameters(network, parameters.min_logvar, parameters.max_logvar)
        return jax.grad(member_loss)(one, outputs, own.x, own.y, own.ended, valid)

    every = jax.vmap(gradient)(parameters.networks, batch)
    low, high = jnp.zeros_like(parameters.min_logvar), jnp.zeros_like(parameters.max_logvar)
    if config.learn_logvar_bounds:
        low = jnp.sum(every.min_logvar, axis=0) - BOUNDS_PENALTY
        high = jnp.sum(every.max_logvar, axis=0) + BOUNDS_PENALTY
    return descend(optimiser(config), Parameters(every.networks, low, high), moments, parameters)


def score(
    config: ModelConfig, outputs: Outputs, parameters: Parameters, data: Data, split: Split
) -> Float[Array, "member out"]:
    """Mean squared error of every member's mean over the validation rows, per output."""
    capacity = split.validation.shape[0]
    rows_at_once = min(VALIDATION_ROWS, capacity)
    padded = jnp.pad(split.validation, (0, rows_at_once))

    def add(i: Int[Array, ""], total: Float[Array, "member out"]) -> Float[Array, "member out"]:
        place = i * rows_at_once + jnp.arange(rows_at_once)
        part = _at(data, jax.lax.dynamic_slice_in_dim(padded, i * rows_at_once, rows_at_once))
        return total + sum_of_errors(parameters, outputs, part.x, part.y, place < split.validate)

    nothing = jnp.zeros((config.members, outputs.gaussians), jnp.float32)
    chunks = -(-split.validate // rows_at_once)
    return jax.lax.fori_loop(0, chunks, add, nothing) / split.validate


def _at(data: Data, rows: Int[Array, "*place"]) -> Data:
    return Data(data.x[rows], data.y[rows], data.ended[rows])


def _choose(condition: Bool[Array, ""], yes: Tree, no: Tree) -> Tree:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _all_finite(tree: object) -> Bool[Array, ""]:
    leaves = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]
    return jnp.all(jnp.stack(leaves))
