"""The one unroll: all rollouts of a round, paid for by the rows that are still live.

Live rows stand at the front of the arrays, in the order of their rollouts. A step goes over them in chunks of a fixed
size, as many as are needed, so that one compiled program serves every horizon and every number of live rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from macura.core import Metrics, PRNGKey, Transition
from macura.rollout.config import RolloutConfig
from macura.rollout.gates import GateState
from macura.rollout.step import Imagined, ImaginedStep

Sink = TypeVar("Sink")
Emit = Callable[[Sink, Transition, Bool[Array, "batch"]], Sink]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the uncertainty at first steps, as reported in `rollout/uncertainty_quantiles`."""


class Rollouts(NamedTuple):
    """What is known of every rollout, in their order."""

    live: Bool[Array, "rollout"]
    uncertainty: Float[Array, "rollout"]
    """Of the last step; infinite after a gate or a prediction that is not finite ended the rollout."""
    first_uncertainty: Float[Array, "rollout"]
    stored: Int[Array, "rollout"]
    """Transitions kept."""


class Tally(NamedTuple):
    """Sums over the round."""

    stopped_by_gate: Int[Array, ""]
    stopped_by_termination: Int[Array, ""]
    nonfinite: Int[Array, ""]
    nonfinite_outputs: Int[Array, "out"]
    """Predictions that were not finite: of each number of the next observation, then of the reward."""
    uncertainty: Float[Array, ""]
    mean_variance: Float[Array, ""]


class Verdict(NamedTuple):
    """What happens to every rollout after a step."""

    keep: Bool[Array, "rollout"]
    """This step's transition is stored."""
    survive: Bool[Array, "rollout"]
    """The rollout goes on."""


class Round(NamedTuple):
    """All that changes while a round is unrolled. Rows are padded to whole chunks; only the live ones mean anything."""

    step: Int[Array, ""]
    obs: Float[Array, "row obs"]
    imagined: Imagined
    rollouts: Rollouts
    tally: Tally
    gate: Any
    sink: Any


def unroll(
    config: RolloutConfig,
    imagined_step: ImaginedStep,
    gate_state: GateState,
    starts: Float[Array, "rollout obs"],
    horizon: Int[Array, ""],
    key: PRNGKey,
    emit: Emit[Sink],
    sink: Sink,
) -> tuple[Sink, GateState, Metrics]:
    """One round from `starts`, at most `horizon` steps; `emit` stores the kept transitions, chunk by chunk."""
    chunk = min(config.chunk or default_chunk(), starts.shape[0])
    begun = begin(imagined_step, gate_state, starts, chunk, sink)

    def goes_on(state: Round) -> Bool[Array, ""]:
        return (state.step < horizon) & jnp.any(state.rollouts.live)

    def one_step(state: Round) -> Round:
        count = jnp.sum(state.rollouts.live, dtype=jnp.int32)
        chunks = -(-count // chunk)
        step_key = jax.random.fold_in(key, state.step)
        imagined = predict(imagined_step, state.obs, state.imagined, chunk, chunks, step_key)
        state = state._replace(imagined=imagined)
        row = rows_of(state.rollouts.live, state.obs.shape[0])
        state, verdict = judge(config, state, row, horizon)
        obs, sink = store(emit, state, verdict, row, chunk, chunks)
        return state._replace(step=state.step + 1, obs=obs, sink=sink)

    done = jax.lax.while_loop(goes_on, one_step, begun)
    return done.sink, done.gate, report(config, done)


def default_chunk() -> int:
    """Rows whose activations fit the cache of a CPU; more on an accelerator, which wants large products."""
    return 512 if jax.default_backend() == "cpu" else 32768


def begin(
    imagined_step: ImaginedStep,
    gate_state: GateState,
    starts: Float[Array, "rollout obs"],
    chunk: int,
    sink: Any,
) -> Round:
    """Before the first step all rollouts are live."""
    count = starts.shape[0]
    padding = -count % chunk
    some = jax.ShapeDtypeStruct((chunk, starts.shape[1]), starts.dtype)
    like = jax.eval_shape(imagined_step, some, jax.random.key(0))
    return Round(
        step=jnp.int32(0),
        obs=jnp.pad(starts, ((0, padding), (0, 0))),
        imagined=jax.tree.map(lambda leaf: jnp.zeros((count + padding, *leaf.shape[1:]), leaf.dtype), like),
        rollouts=Rollouts(
            live=jnp.ones(count, jnp.bool_),
            uncertainty=jnp.zeros(count, jnp.float32),
            first_uncertainty=jnp.zeros(count, jnp.float32),
            stored=jnp.zeros(count, jnp.int32),
        ),
        tally=Tally(
            stopped_by_gate=jnp.int32(0),
            stopped_by_termination=jnp.int32(0),
            nonfinite=jnp.int32(0),
            nonfinite_outputs=jnp.zeros(starts.shape[1] + 1, jnp.int32),
            uncertainty=jnp.float32(0),
            mean_variance=jnp.float32(0),
        ),
        gate=gate_state,
        sink=sink,
    )


def rows_of(live: Bool[Array, "rollout"], rows: int) -> Int[Array, "row"]:
    """The rollout in each row: the live ones in their order, then a number that no rollout has."""
    return jnp.nonzero(live, size=rows, fill_value=live.shape[0])[0].astype(jnp.int32)


def predict(
    imagined_step: ImaginedStep,
    obs: Float[Array, "row obs"],
    imagined: Imagined,
    chunk: int,
    chunks: Int[Array, ""],
    key: PRNGKey,
) -> Imagined:
    """One step of the first `chunks` chunks of rows; the other rows keep what they have."""

    def one_chunk(c: int | Int[Array, ""], imagined: Imagined) -> Imagined:
        first = c * chunk
        rows = jax.lax.dynamic_slice_in_dim(obs, first, chunk)
        new = imagined_step(rows, jax.random.fold_in(key, c))
        return jax.tree.map(
            lambda all_, some: jax.lax.dynamic_update_slice_in_dim(all_, some, first, 0), imagined, new
        )

    return jax.lax.fori_loop(0, chunks, one_chunk, imagined)


def judge(
    config: RolloutConfig, state: Round, row: Int[Array, "row"], horizon: Int[Array, ""]
) -> tuple[Round, Verdict]:
    """Ask the gate about all rollouts at once; count why they end.

    A prediction that is not finite is never kept and ends its rollout, whatever the gate says.
    """
    before, imagined = state.rollouts, state.imagined
    place = jnp.cumsum(before.live) - 1
    finite = is_finite(imagined)[place]
    u = jnp.where(finite, imagined.uncertainty[place], jnp.inf)
    u = jnp.where(before.live, u, before.uncertainty)
    gate, passes = config.gate.decide(state.gate, u, state.step, horizon)
    keep = before.live & finite & passes
    stopped = before.live & finite & ~passes & config.gate.stops
    terminated = before.live & finite & ~stopped & imagined.transition.terminated[place]
    rollouts = Rollouts(
        live=before.live & finite & ~stopped & ~terminated,
        uncertainty=jnp.where(stopped, jnp.inf, u),
        first_uncertainty=jnp.where(state.step == 0, u, before.first_uncertainty),
        stored=before.stored + keep,
    )
    kept_row = keep.at[row].get(mode="fill", fill_value=False)
    tally = Tally(
        stopped_by_gate=jnp.sum(stopped, dtype=jnp.int32),
        stopped_by_termination=jnp.sum(terminated, dtype=jnp.int32),
        nonfinite=jnp.sum(before.live & ~finite, dtype=jnp.int32),
        nonfinite_outputs=count_nonfinite(imagined.transition, row < before.live.shape[0]),
        uncertainty=jnp.sum(jnp.where(kept_row, imagined.uncertainty, 0.0)),
        mean_variance=jnp.sum(jnp.where(kept_row, imagined.mean_variance, 0.0)),
    )
    tally = jax.tree.map(jnp.add, state.tally, tally)
    return state._replace(gate=gate, rollouts=rollouts, tally=tally), Verdict(keep, rollouts.live)


def is_finite(imagined: Imagined) -> Bool[Array, "row"]:
    """Whether next observation, reward and uncertainty of a row are all finite."""
    transition = imagined.transition
    return (
        jnp.all(jnp.isfinite(transition.next_obs), axis=-1)
        & jnp.isfinite(transition.reward)
        & jnp.isfinite(imagined.uncertainty)
    )


def count_nonfinite(transition: Transition, predicted: Bool[Array, "row"]) -> Int[Array, "out"]:
    """How many of the predicted rows are not finite, by output."""
    outputs = jnp.concatenate([transition.next_obs, transition.reward[:, None]], axis=-1)
    return jnp.sum(predicted[:, None] & ~jnp.isfinite(outputs), axis=0, dtype=jnp.int32)


def store(
    emit: Emit[Any],
    state: Round,
    verdict: Verdict,
    row: Int[Array, "row"],
    chunk: int,
    chunks: Int[Array, ""],
) -> tuple[Float[Array, "row obs"], Any]:
    """Emit what is kept, and move the surviving rows to the front."""

    def one_chunk(c: int | Int[Array, ""], carry: tuple[Array, Any, Array]) -> tuple[Array, Any, Array]:
        obs, sink, survivors = carry

        def cut(leaf: Array) -> Array:
            return jax.lax.dynamic_slice_in_dim(leaf, c * chunk, chunk)

        transition: Transition = jax.tree.map(cut, state.imagined.transition)
        rollout = cut(row)
        keep, survive = (flag.at[rollout].get(mode="fill", fill_value=False) for flag in verdict)
        dropped = obs.shape[0] + jnp.arange(chunk)
        place = jnp.where(survive, survivors + jnp.cumsum(survive) - 1, dropped)
        obs = obs.at[place].set(transition.next_obs, mode="drop", unique_indices=True)
        return obs, emit(sink, transition, keep), survivors + jnp.sum(survive, dtype=jnp.int32)

    obs, sink, _ = jax.lax.fori_loop(0, chunks, one_chunk, (state.obs, state.sink, jnp.int32(0)))
    return obs, sink


def report(config: RolloutConfig, done: Round) -> Metrics:
    """What the round was like, as documented with the metrics."""
    rollouts, tally = done.rollouts, done.tally
    count = rollouts.live.shape[0]
    stored = jnp.sum(rollouts.stored)
    metrics: Metrics = {
        "rollout/stored": stored,
        "rollout/mean_length": stored / count,
        "rollout/lengths": jnp.zeros(config.horizon.longest() + 1, jnp.int32).at[rollouts.stored].add(1),
        "rollout/stopped_by_gate": tally.stopped_by_gate / count,
        "rollout/stopped_by_termination": tally.stopped_by_termination / count,
        "rollout/nonfinite": tally.nonfinite,
        "rollout/nonfinite_outputs": tally.nonfinite_outputs,
    }
    if config.measure is not None:
        first = jnp.where(jnp.isfinite(rollouts.first_uncertainty), rollouts.first_uncertainty, jnp.nan)
        metrics |= {
            "rollout/uncertainty_mean": tally.uncertainty / jnp.maximum(stored, 1),
            "rollout/uncertainty_quantiles": jnp.nanquantile(first, jnp.asarray(QUANTILES)),
            "rollout/mean_variance": tally.mean_variance / jnp.maximum(stored, 1),
        }
    return metrics | config.gate.info(done.gate)
