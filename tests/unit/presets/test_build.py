"""From names to a configuration: everything builds, what is laptop-sized is small, and typos are answered."""

import dataclasses
import itertools

import pytest

from macura import presets
from macura.core import UserError
from macura.envs import EnvConfig
from macura.training import RunConfig, from_dict, memory, override, to_dict
from macura.training.updates import ProportionalUpdates

KNOWN = [f"{task}-{version}" for task in presets.TASKS for version in ("v4", "v5")]
UNKNOWN = ["InvertedPendulum-v5", "Pendulum-v1"]
# Dimensions of observation and action (Ant and Humanoid without contact forces and inertias).
SHAPES = {
    "HalfCheetah": (17, 6),
    "Hopper": (11, 3),
    "Walker2d": (17, 6),
    "Ant": (27, 8),
    "Humanoid": (45, 17),
}


def every():
    """All sensible combinations of preset, algorithm and environment."""
    for preset, algorithm, env in itertools.product(presets.PRESETS, presets.ALGORITHMS, KNOWN + UNKNOWN):
        needs_task = preset in ("paper", "paper_stochastic", "published")
        if needs_task and env in UNKNOWN:
            continue
        if preset == "paper_stochastic" and algorithm != "m2ac":
            continue
        yield preset, algorithm, env


@pytest.mark.parametrize(("preset", "algorithm", "env"), list(every()))
def test_builds_and_survives_a_round_trip(preset, algorithm, env):
    config = presets.build(algorithm, env, preset=preset, seed=3)
    assert (config.algorithm, config.preset, config.env.id, config.seed) == (algorithm, preset, env, 3)
    assert (config.imagination is None) == (algorithm == "sac")
    assert config.warmup_steps < config.steps
    assert from_dict(RunConfig, to_dict(config)) == config
    assert override(config, {}) == config


@pytest.mark.parametrize("algorithm", presets.ALGORITHMS)
@pytest.mark.parametrize("preset", ["default", "laptop", "quick"])
def test_small_presets_are_small(preset, algorithm):
    for env in KNOWN + UNKNOWN:
        config = presets.build(algorithm, env, preset=preset)
        assert config.sac.width <= 256
        if config.imagination is not None:
            assert config.imagination.rollout.rollouts <= 25_000
            assert config.imagination.model.gradient_steps is not None
        parts = memory.estimate(config, *SHAPES.get(presets.task_of(env) or "Hopper"))
        assert sum(parts.values()) < 4 * 2**30


def test_laptop_keeps_what_belongs_to_the_task():
    for task in presets.TASKS:
        for algorithm in presets.ALGORITHMS:
            laptop, paper = (presets.build(algorithm, f"{task}-v5", preset=p) for p in ("laptop", "paper"))
            assert laptop.sac.target_entropy == paper.sac.target_entropy
            assert laptop.sac.fixed_alpha == paper.sac.fixed_alpha
            assert laptop.sac.target_interval == paper.sac.target_interval
            if algorithm == "macura":
                theirs = dataclasses.replace(paper.imagination.rollout.gate, window=20)
                assert laptop.imagination.rollout.gate == theirs


@pytest.mark.parametrize(
    ("algorithm", "task", "storage", "gigabytes"),
    [
        ("macura", "HalfCheetah", "float32", 0.5),
        ("macura", "Humanoid", "float32", 10),
        ("macura", "Humanoid", "float16", 5),
    ],
)
def test_buffers_of_the_paper_fit(algorithm, task, storage, gigabytes):
    config = presets.build(
        algorithm, f"{task}-v5", preset="paper", overrides={"imagination.ring.storage": storage}
    )
    parts = memory.estimate(config, *SHAPES[task])
    assert parts["real_buffer"] + parts["imagined_buffer"] < gigabytes * 1e9


def test_settings_are_changed_by_dotted_names():
    config = presets.build(
        "macura",
        "Hopper-v5",
        steps=777,
        overrides={"sac.width": 32, "imagination.rollout.gate": "ranked", "updates.maximum": 4},
    )
    assert config.steps == 777 and config.sac.width == 32
    assert type(config.imagination.rollout.gate).__name__ == "Ranked"
    assert config.updates == ProportionalUpdates(4)


def test_an_environment_may_come_with_its_own_settings():
    config = presets.build("sac", EnvConfig("HalfCheetah-v5", action_noise=0.1))
    assert config.env.action_noise == 0.1
    assert presets.build("sac", "Ant-v5").env.contact_cost is False


@pytest.mark.parametrize(
    ("env", "task"),
    [
        ("Hopper-v5", "Hopper"),
        ("Hopper-v4", "Hopper"),
        ("Hopper-v2", None),
        ("HopperStand-v5", None),
        ("dm_control/hopper-stand-v0", None),
        ("my.module:Hopper-v5", None),
    ],
)
def test_task_of(env, task):
    assert presets.task_of(env) == task


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (dict(algorithm="macra"), "Did you mean 'macura'?"),
        (dict(algorithm="ppo"), "Choose from macura, mbpo, m2ac, sac"),
        (dict(preset="papr"), "Did you mean 'paper'?"),
        (dict(preset="paper", env="InvertedPendulum-v5"), "only for HalfCheetah"),
        (dict(preset="paper_stochastic", env="Hopper-v5"), "try --preset paper"),
        (dict(env="Hoper-v5"), "Hopper-v5"),
        (dict(overrides={"sac.widht": 3}), "Did you mean 'sac.width'?"),
        (dict(algorithm="sac", overrides={"imagination.every": 3}), "There is no setting"),
        (dict(steps=0), "steps is 0"),
        (dict(seed=-1), "seed is -1"),
    ],
    ids=str,
)
def test_refused_in_one_line(arguments, answer):
    with pytest.raises(UserError) as caught:
        presets.build(**({"algorithm": "macura"} | arguments))
    assert answer in str(caught.value) and "\n" not in str(caught.value)
