"""Can this environment be trained on, and what would go wrong? Gymnasium's own checker first, then ours."""

import re
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from macura.core import RunError, UserError
from macura.envs.bridge import Bridge
from macura.envs.registry import one_line
from macura.envs.task import Task

Level = Literal["ok", "warning", "problem"]

WIDEST_SCALES = 1e4
"""Largest ratio of the standard deviations of two observed numbers that passes without a warning."""
LARGEST_REWARD = 100.0
SLOWEST_STEP = 0.02
"""Seconds a step may take before the environment, and not the training, decides how long a run takes."""
LARGEST_DISAGREEMENT = 1e-3
EPISODES = 3
REPEATED_STEPS = 100

_HARMLESS = (
    "symmetric and normalized",  # actions are scaled at the border
    "maximum value is infinity",  # observations need no bounds
    "minimum value is -infinity",
    "is out of date",  # version 4, chosen on purpose
)
_COLOUR = re.compile(r"\x1b\[\d+m")


@dataclass(frozen=True)
class Finding:
    """One result of the check: what was seen, and what to do about it."""

    level: Level
    what: str
    advice: str = ""


@dataclass(frozen=True)
class Sample:
    """What random actions brought: one row a step, and the length of each whole episode by its way of ending."""

    next_obs: NDArray[np.float32]
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    terminated_lengths: list[int]
    truncated_lengths: list[int]
    seconds: float


def check(task: Task, steps: int = 2000, seed: int = 0) -> list[Finding]:
    """All findings about the environment; it is run with random actions for `steps` steps, or a few episodes."""
    task.resolved()  # an unknown id is no finding about an environment
    try:
        bridge = task.make()
    except UserError as error:
        what, _, advice = str(error).rpartition("; ")
        return [Finding("problem", what or str(error), advice or "give another environment.")]
    findings = [_spaces(bridge), *_gymnasium(bridge)]
    try:
        sample = _play(bridge, steps, seed)
        findings += [*_scales(sample), *_reward(sample), *_ends(bridge, sample)]
        return [*findings, _termination(task, sample), _repeats(task, bridge, seed), _speed(sample)]
    except RunError as error:
        advice = "mend the environment: a run would stop there, with everything until then saved."
        return [*findings, Finding("problem", str(error), advice)]
    finally:
        bridge.close()


def _spaces(bridge: Bridge) -> Finding:
    bounds = f"between {bridge.action_low.min():g} and {bridge.action_high.max():g}"
    return Finding("ok", f"an observation has {bridge.obs_dim} numbers, an action {bridge.act_dim} {bounds}")


def _gymnasium(bridge: Bridge) -> list[Finding]:
    """What `gymnasium.utils.env_checker.check_env` complains about."""
    env = bridge.env.unwrapped
    env.action_space.seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_env(env, skip_render_check=True, skip_close_check=True)
        except Exception as error:
            advice = "mend this first: Gymnasium itself will not accept the environment."
            return [
                Finding("problem", f"Gymnasium's checker: {one_line(error) or type(error).__name__}", advice)
            ]
    said = dict.fromkeys(_plain(cast(Any, warning.message)) for warning in caught)
    complaints = [line for line in said if not any(harmless in line for harmless in _HARMLESS)]
    if not complaints:
        return [Finding("ok", "Gymnasium's checker has nothing to say")]
    advice = "training works with this, but mend it: other tools may not accept the environment."
    return [Finding("warning", f"Gymnasium's checker: {line}", advice) for line in complaints]


def _plain(warning: Warning) -> str:
    return " ".join(_COLOUR.sub("", str(warning)).removeprefix("WARN: ").split())


def _play(bridge: Bridge, steps: int, seed: int) -> Sample:
    """At least `steps` random steps, and up to five times as many until a few episodes have ended."""
    rng = np.random.default_rng(seed)
    observations: list[NDArray[np.float32]] = []
    rewards: list[float] = []
    ended: list[bool] = []
    lengths: dict[bool, list[int]] = {True: [], False: []}
    seconds = 0.0
    bridge.reset(seed)
    while len(ended) < steps or (len(ended) < 5 * steps and sum(map(len, lengths.values())) < EPISODES):
        action = rng.uniform(-1.0, 1.0, bridge.act_dim).astype(np.float32)
        started = time.perf_counter()
        outcome = bridge.step(action)
        seconds += time.perf_counter() - started
        observations.append(outcome.obs)
        rewards.append(outcome.reward)
        ended.append(outcome.terminated)
        if outcome.terminated or outcome.truncated:
            lengths[outcome.terminated].append(bridge.episode_steps)
            bridge.reset(seed + len(ended))
    return Sample(
        np.stack(observations),
        np.array(rewards),
        np.array(ended),
        terminated_lengths=lengths[True],
        truncated_lengths=lengths[False],
        seconds=seconds / len(ended),
    )


def _scales(sample: Sample) -> list[Finding]:
    """Constant numbers teach nothing; wildly different scales are what networks learn badly from."""
    deviation = sample.next_obs.astype(np.float64).std(axis=0)
    size = np.abs(sample.next_obs).max(axis=0)
    constant = deviation <= 1e-7 * np.maximum(size, 1e-30)
    findings: list[Finding] = []
    if constant.any():
        findings.append(
            Finding(
                "warning",
                f"observation {_listed(np.flatnonzero(constant))} never changed under random actions",
                "leave such numbers out of the observation, unless a trained policy makes them move.",
            )
        )
    if (~constant).any():
        moving = np.where(constant, np.nan, deviation)
        ratio = float(np.nanmax(moving) / np.nanmin(moving))
        largest, smallest = int(np.nanargmax(moving)), int(np.nanargmin(moving))
        scales = f"standard deviations from {moving[smallest]:.2g} to {moving[largest]:.2g}"
        if ratio > WIDEST_SCALES:
            what = f"observed numbers have {scales} (observations {smallest} and {largest})"
            advice = (
                "give them in units that make them of similar size; the policy network does not normalise."
            )
            findings.append(Finding("warning", what, advice))
        else:
            findings.append(Finding("ok", f"observed numbers have {scales}"))
    return findings


def _reward(sample: Sample) -> list[Finding]:
    low, high = float(sample.reward.min()), float(sample.reward.max())
    if low == high:
        return [
            Finding(
                "warning",
                f"the reward was {low:g} in every step of random actions",
                "expect slow learning unless surviving is the task; a reward that grows with progress helps.",
            )
        ]
    if max(abs(low), abs(high)) > LARGEST_REWARD:
        advice = f"divide it so that it stays below {LARGEST_REWARD:g}; the step sizes are made for that."
        return [Finding("warning", f"the reward reaches from {low:.3g} to {high:.3g}", advice)]
    return [Finding("ok", f"the reward reaches from {low:.3g} to {high:.3g}")]


def _ends(bridge: Bridge, sample: Sample) -> list[Finding]:
    """A time limit must exist, and must arrive as `truncated`."""
    ended, cut = sample.terminated_lengths, sample.truncated_lengths
    findings: list[Finding] = []
    if len(ended) >= EPISODES and not cut and len(set(ended)) == 1:
        what = f"all {len(ended)} episodes ended as terminated after exactly {ended[0]} steps, as a time limit does"
        advice = "return a time limit as truncated: terminated says that no reward can follow, and is learned as that."
        findings.append(Finding("problem", what, advice))
    if bridge.time_limit is None and not cut:
        what = f"no time limit was seen in {len(sample.reward)} steps"
        findings.append(Finding("warning", what, "set one, so that evaluations end: --env.time-limit 1000."))
    if not findings:
        limit = "its own" if bridge.time_limit is None else f"{bridge.time_limit} steps"
        what = f"{len(ended)} episodes terminated and {len(cut)} were cut (time limit: {limit})"
        findings.append(Finding("ok", what))
    return findings


def _termination(task: Task, sample: Sample) -> Finding:
    """Imagined episodes end where a function, or else the model, says so."""
    function = task.builtin_termination
    if function is None and not sample.terminated.any():
        what = "there is no built-in termination function, and no episode terminated"
        advice = (
            "if the task never terminates, say so: --imagination.termination never; else the model learns it."
        )
        return Finding("warning", what, advice)
    if function is None:
        what = "there is no built-in termination function; the model learns where episodes end"
        advice = "if you know it, give it: --imagination.termination package.module:function."
        return Finding("warning", what, advice)
    share = float(np.mean(np.asarray(function(sample.next_obs)) != sample.terminated))
    what = f"the built-in termination function differs from the environment on {share:.2%} of the steps"
    if share > LARGEST_DISAGREEMENT:
        advice = "let the model learn it: --imagination.termination learned, or give your own function."
        return Finding("problem", what, advice)
    return Finding("ok", what)


def _repeats(task: Task, bridge: Bridge, seed: int) -> Finding:
    """The same seed must give the same episode: twice in one environment, and in another of the same kind."""
    first = _episode(bridge, seed)
    runs = [_episode(bridge, seed)]
    if task.independent:
        other = task.make()
        runs.append(_episode(other, seed))
        other.close()
    if all(_same(first, again) for again in runs):
        return Finding("ok", "the same seed gives the same episode")
    return Finding(
        "warning",
        "the same seed does not give the same episode",
        "draw all randomness from self.np_random and reset all state in reset; else resumed runs differ.",
    )


def _episode(bridge: Bridge, seed: int) -> list[NDArray[Any]]:
    rng = np.random.default_rng(seed)
    rows: list[NDArray[Any]] = [bridge.reset(seed)]
    for _ in range(REPEATED_STEPS):
        outcome = bridge.step(rng.uniform(-1.0, 1.0, bridge.act_dim).astype(np.float32))
        rows.append(np.append(outcome.obs, np.float64(outcome.reward)))
        if outcome.terminated or outcome.truncated:
            break
    return rows


def _same(first: list[NDArray[Any]], again: list[NDArray[Any]]) -> bool:
    return len(first) == len(again) and all(map(np.array_equal, first, again))


def _speed(sample: Sample) -> Finding:
    what = f"a step takes {1e3 * sample.seconds:.3g} ms"
    if sample.seconds > SLOWEST_STEP:
        advice = "most of a run will be spent in it; an algorithm with a model (MACURA) needs fewer steps."
        return Finding("warning", what, advice)
    return Finding("ok", what)


def _listed(places: Iterable[Any], most: int = 8) -> str:
    """The first few of many numbers."""
    listed = [str(int(place)) for place in places]
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
