"""The compiled programs of a run. Each is traced once, whatever the amount of data, the horizon, or G."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from macura import dynamics, replay, rollout, sac
from macura.core import Metrics, PRNGKey, Stream, Transition, stream_key
from macura.training.config import Imagination, RunConfig
from macura.training.judges import Judges
from macura.training.state import Shape


@dataclass(frozen=True)
class Phases:
    """The programs, and how often each was traced."""

    act: Callable[..., Float[Array, "batch act"]]
    evaluate: Callable[..., Float[Array, "batch act"]]
    improve: Callable[..., tuple[sac.Learner, replay.RealBuffer, Metrics]]
    fit_model: Callable[..., tuple[dynamics.ModelState, Metrics]]
    imagine: Callable[..., tuple[replay.Ring, rollout.GateState, Metrics]]
    traces: dict[str, int] = field(default_factory=dict)


def compile_phases(config: RunConfig, shape: Shape, judges: Judges) -> Phases:
    """All programs of one run; nothing is compiled before its first call."""
    traces: dict[str, int] = {}

    def counted(name: str, program: Callable[..., Any], donate: tuple[int, ...] = ()) -> Callable[..., Any]:
        def traced(*arguments: Any) -> Any:
            traces[name] = traces.get(name, 0) + 1
            return program(*arguments)

        return jax.jit(traced, donate_argnums=donate)

    return Phases(
        act=counted("act", act(config)),
        evaluate=counted("evaluate", act(config)),
        improve=counted("improve", improve(config, shape), donate=(0, 1, 2)),
        fit_model=counted("fit_model", fit_model(config, shape, judges), donate=(0,)),
        imagine=counted("imagine", imagine(config, shape, judges), donate=(0, 1)),
        traces=traces,
    )


def act(config: RunConfig) -> Callable[..., Float[Array, "batch act"]]:
    """(policy, obs, epsilon) -> actions in [-1, 1]."""

    def program(
        policy: sac.Policy, obs: Float[Array, "batch obs"], epsilon: Float[Array, "batch act"]
    ) -> Float[Array, "batch act"]:
        return sac.act(policy.actor, obs, epsilon, config.sac.normalised_in_actor)

    return program


def improve(config: RunConfig, shape: Shape) -> Callable[..., tuple[sac.Learner, replay.RealBuffer, Metrics]]:
    """Store the newest transition, then do G updates; G is a run-time number."""
    most = max(config.updates.most(), 1)  # rows of the plan; none of them is read where no update is due
    mixture = config.imagination.mixture if config.imagination else None
    batch_size = config.sac.batch_size

    def program(
        learner: sac.Learner,
        real: replay.RealBuffer,
        tally: Metrics,
        ring: replay.Ring | None,
        root: PRNGKey,
        newest: Float[Array, "width"],
        updates: Int[Array, ""],
        step: Int[Array, ""],
    ) -> tuple[sac.Learner, replay.RealBuffer, Metrics]:
        real = replay.add(real, newest)
        plan_key, noise_key = jax.random.split(stream_key(root, Stream.IMPROVE, step))
        plan = replay.plan_batches(mixture, plan_key, most, batch_size, real, ring)

        def one(i: Int[Array, ""], carry: tuple[sac.Learner, Metrics]) -> tuple[sac.Learner, Metrics]:
            learner, tally = carry
            batch = replay.read_batch(plan, i, real, ring, shape.obs, shape.act)
            key = jax.random.fold_in(noise_key, i)
            epsilon = jax.random.normal(key, (2, batch_size, shape.act), jnp.float32)
            learner, info = sac.update(config.sac, learner, batch, epsilon)
            return learner, jax.tree.map(jnp.add, tally, info)

        learner, tally = jax.lax.fori_loop(0, updates, one, (learner, tally))
        return learner, real, tally

    return program


def fit_model(
    config: RunConfig, shape: Shape, judges: Judges
) -> Callable[..., tuple[dynamics.ModelState, Metrics]]:
    """Refit the ensemble on all real data; before that, say how wrong it was about the newest."""

    def program(
        model: dynamics.ModelState, real: replay.RealBuffer, root: PRNGKey, step: Int[Array, ""]
    ) -> tuple[dynamics.ModelState, Metrics]:
        imagination = required(config.imagination)
        everything = replay.unpack(real.rows, shape.obs, shape.act)
        count = replay.size(real)
        recent, valid = replay.newest(real, imagination.every)
        surprise = dynamics.error(
            imagination.model, shape.outputs, model, replay.unpack(recent, shape.obs, shape.act), valid
        )
        wrong = disagreement(judges, everything, jnp.arange(real.rows.shape[0]) < count)
        key = stream_key(root, Stream.FIT_MODEL, step)
        model, fitted = dynamics.fit(imagination.model, shape.outputs, model, everything, count, key)
        return model, surprise | wrong | fitted

    return program


def disagreement(judges: Judges, data: Transition, valid: Bool[Array, "batch"]) -> Metrics:
    """How often, over all real data, the termination and reward functions in use differ from what happened.

    A reward differs if it is off by more than a thousandth of its own size plus a thousandth.
    """
    rows = jnp.maximum(jnp.sum(valid), 1)
    ended = data.terminated & valid
    metrics: Metrics = {"model/terminations": jnp.sum(ended)}
    if judges.terminate is not None:
        ends = judges.terminate(data.next_obs)
        metrics["model/termination_disagreement"] = jnp.sum((ends != data.terminated) & valid) / rows
        metrics["model/terminations_missed"] = jnp.sum(ended & ~ends)
    if judges.reward is not None:
        gap = jnp.abs(judges.reward(data.obs, data.action, data.next_obs) - data.reward)
        differs = ~(gap <= 1e-3 * (1 + jnp.abs(data.reward)))
        metrics["model/reward_disagreement"] = jnp.sum(differs & valid) / rows
    return metrics


def imagine(
    config: RunConfig, shape: Shape, judges: Judges
) -> Callable[..., tuple[replay.Ring, rollout.GateState, Metrics]]:
    """One round of rollouts from real states under the current policy, kept as the gate decides."""

    def program(
        ring: replay.Ring,
        gate_state: rollout.GateState,
        real: replay.RealBuffer,
        model: dynamics.ModelState,
        policy: sac.Policy,
        root: PRNGKey,
        round_numbers: Int[Array, "3"],
    ) -> tuple[replay.Ring, rollout.GateState, Metrics]:
        imagination = required(config.imagination)
        horizon, limit, step = round_numbers
        start_key, unroll_key = jax.random.split(stream_key(root, Stream.IMAGINE, step))
        starts = replay.sample_observations(real, start_key, imagination.rollout.rollouts, shape.obs)

        def policy_sample(obs: Float[Array, "batch obs"], key: PRNGKey) -> Float[Array, "batch act"]:
            epsilon = jax.random.normal(key, (obs.shape[0], shape.act), jnp.float32)
            return sac.act(policy.actor, obs, epsilon, config.sac.normalised_in_actor)

        def emit(ring: replay.Ring, transitions: Transition, keep: Bool[Array, "batch"]) -> replay.Ring:
            return replay.append(imagination.ring, ring, replay.pack(transitions), keep, limit)

        imagined_step = rollout.model_step(
            imagination.rollout,
            imagination.model,
            shape.outputs,
            model,
            policy_sample,
            judges.terminate,
            judges.reward,
        )
        ring, gate_state, info = rollout.unroll(
            imagination.rollout,
            imagined_step,
            gate_state,
            starts,
            horizon,
            unroll_key,
            emit,
            replay.begin_round(ring),
        )
        ring = replay.end_round(ring)
        return ring, gate_state, info | {"rollout/fill": ring.count / ring.rows.shape[0]}

    return program


def required(imagination: Imagination | None) -> Imagination:
    """The model-based part, where only runs that have one arrive."""
    assert imagination is not None, "a run without a model has no rounds"
    return imagination
