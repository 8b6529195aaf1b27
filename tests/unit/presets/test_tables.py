"""Every number of the paper's presets against tables typed in from the paper and its published settings.

They are laid out as the paper prints them, task by task, and share nothing with the tables of the library.
"""

import pytest

from macura import presets
from macura.rollout import FixedHorizon, KeepAll, LinearHorizon, Ranked, Threshold
from macura.training import FixedUpdates, ProportionalUpdates

TASKS = ("Humanoid", "Ant", "HalfCheetah", "Walker2d", "Hopper")
MODEL_BASED = ("mbpo", "macura", "m2ac")


def row(*values):
    return dict(zip(TASKS, values, strict=True))


# Paper, appendix: epochs of 1000 steps; updates; rollouts per environment step; target entropy; width.
EPOCHS = row(300, 300, 400, 200, 125)
UPDATES = row(20, 20, 10, 30, 30)
UPDATES_MACURA = row(40, 40, 20, 60, 60)
ROLLOUTS = row(400, 400, 200, 400, 400)
ROLLOUTS_MBPO = row(406, 406, 203, 406, 406)
ENTROPY = row(-10, -1, -4, -1, 0)
ENTROPY_M2AC = row(-17, None, -6, -1, 0)
ENTROPY_M2AC_STOCHASTIC = row(-17, -1, -4, None, None)
ENTROPY_SAC = row(-17, None, -6, -6, -3)
WIDTH = row(2048, 1024, 1024, 1024, 1024)
WIDTH_M2AC = row(1024, 1024, 512, 1024, 1024)
MODEL_WIDTH = row(400, 200, 200, 200, 200)
SCALE = row(5, 5, 2, 0.3, 30)
HORIZON_MBPO = row(
    LinearHorizon(20, 300, 1, 25),
    LinearHorizon(20, 100, 1, 25),
    FixedHorizon(1),
    FixedHorizon(1),
    LinearHorizon(20, 100, 1, 15),
)
# Published settings, where the paper is silent.
EPOCHS_KEPT = row(5, 1, 1, 3, 1)
PATIENCE = row(10, 10, 5, 10, 5)
RATE = row(1e-4, 1e-4, 3e-4, 7e-5, 3e-4)
BATCH = row(512, 512, 256, 512, 256)
BATCH_M2AC = row(256, 256, 256, 512, 256)
INTERVAL = row(4, 4, 1, 4, 4)
MIN_LOGVAR_M2AC = row(-10, -6, -6, -10, -10)
MODEL_RATE_M2AC = row(3e-4, 3e-4, 1e-3, 3e-4, 3e-4)
DECAY_M2AC = row(5e-5, 5e-5, 1e-5, 5e-5, 5e-5)
# What follows: rows of the imagined buffer.
CAPACITY_MACURA = row(20_000_000, 4_000_000, 2_000_000, 12_000_000, 4_000_000)
CAPACITY_M2AC = row(5_000_000, 1_000_000, 500_000, 3_000_000, 1_000_000)
CAPACITY_MBPO = row(25 * 101_500 * 20, 25 * 101_500 * 4, 50_750 * 4, 101_500 * 12, 15 * 101_500 * 4)


def expected_of(algorithm, task):
    """All settings that have a number, by dotted name."""
    common = {
        "steps": EPOCHS[task] * 1000 + 5000,
        "epoch_steps": 1000,
        "warmup_steps": 5000,
        "sac.hidden_layers": 2,
        "sac.layer_norm": None,
        "sac.discount": 0.99,
        "sac.target_rate": 0.005,
    }
    if algorithm == "sac":
        return common | {
            "warmup_actions": "uniform",
            "exploration": "white",
            "sac.width": 256,
            "sac.learning_rate": 3e-4,
            "sac.batch_size": 256,
            "sac.target_interval": 1,
            "sac.target_entropy": ENTROPY_SAC[task],
            "sac.fixed_alpha": 0.2 if task == "Ant" else None,
            "updates": FixedUpdates(1),
            "imagination": None,
        }
    rollouts = (ROLLOUTS_MBPO if algorithm == "mbpo" else ROLLOUTS)[task]
    shared = common | {
        "warmup_actions": "policy",
        "exploration": "pink" if algorithm == "macura" else "deterministic",
        "sac.width": WIDTH[task],
        "sac.learning_rate": RATE[task],
        "sac.batch_size": BATCH[task],
        "sac.target_interval": INTERVAL[task],
        "sac.target_entropy": ENTROPY[task],
        "sac.fixed_alpha": None,
        "imagination.every": 250,
        "imagination.reward": "learned",
        "imagination.model.members": 7,
        "imagination.model.hidden_layers": 4,
        "imagination.model.width": MODEL_WIDTH[task],
        "imagination.model.learning_rate": 3e-4,
        "imagination.model.weight_decay": 5e-5,
        "imagination.model.batch_size": 256,
        "imagination.model.validation_share": 0.2,
        "imagination.model.patience": PATIENCE[task],
        "imagination.model.improvement": 0.01,
        "imagination.model.min_logvar": -10,
        "imagination.model.max_logvar": 0.5,
        "imagination.model.learn_logvar_bounds": False,
        "imagination.model.elites": None,
        "imagination.model.normalise_targets": False,
        "imagination.model.targets": "delta",
        "imagination.model.gradient_steps": None,
        "imagination.rollout.rollouts": rollouts * 250,
        "imagination.rollout.horizon": FixedHorizon(10),
        "imagination.rollout.penalty": 0.0,
        "imagination.ring.rounds_kept": 4 * EPOCHS_KEPT[task],
        "imagination.ring.capacity_share": 1.0,
        "imagination.ring.evict_by_age": False,
        "imagination.ring.storage": "float32",
        "imagination.mixture.real_share": 0.05,
        "imagination.mixture.kind": "per_update",
    }
    own = {
        "macura": {
            "updates": ProportionalUpdates(UPDATES_MACURA[task], "nearest"),
            "imagination.rollout.measure": "geometric_js",
            "imagination.rollout.gate": Threshold(scale=float(SCALE[task]), quantile=0.95),
            "imagination.ring.evict_by_age": True,
            "imagination.capacity": CAPACITY_MACURA[task],
        },
        "mbpo": {
            "updates": FixedUpdates(UPDATES[task]),
            "imagination.rollout.measure": None,
            "imagination.rollout.gate": KeepAll(),
            "imagination.rollout.horizon": HORIZON_MBPO[task],
            "imagination.capacity": CAPACITY_MBPO[task],
        },
        "m2ac": {
            "sac.width": WIDTH_M2AC[task],
            "sac.target_entropy": ENTROPY_M2AC[task],
            "sac.fixed_alpha": 0.2 if ENTROPY_M2AC[task] is None else None,
            "sac.batch_size": BATCH_M2AC[task],
            "updates": FixedUpdates(UPDATES[task]),
            "imagination.model.width": 200,
            "imagination.model.learning_rate": MODEL_RATE_M2AC[task],
            "imagination.model.weight_decay": DECAY_M2AC[task],
            "imagination.model.min_logvar": MIN_LOGVAR_M2AC[task],
            "imagination.rollout.measure": "one_vs_rest",
            "imagination.rollout.gate": Ranked(stop=True),
            "imagination.rollout.penalty": 0.001,
            "imagination.ring.capacity_share": 0.25,
            "imagination.capacity": CAPACITY_M2AC[task],
        },
    }
    return shared | own[algorithm]


def at(config, dotted):
    for name in dotted.split("."):
        config = getattr(config, name)
    return config


def differences(config, expected):
    return {name: (at(config, name), value) for name, value in expected.items() if at(config, name) != value}


@pytest.mark.parametrize("version", ["v5", "v4"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("algorithm", ["sac", *MODEL_BASED])
def test_paper(algorithm, task, version):
    config = presets.build(algorithm, f"{task}-{version}", preset="paper")
    assert differences(config, expected_of(algorithm, task)) == {}
    assert config.env.id == f"{task}-{version}"


@pytest.mark.parametrize("task", TASKS)
def test_m2ac_with_stochastic_exploration(task):
    config = presets.build("m2ac", f"{task}-v5", preset="paper_stochastic")
    expected = expected_of("m2ac", task) | {
        "exploration": "pink",
        "sac.width": 1024,
        "sac.target_entropy": ENTROPY_M2AC_STOCHASTIC[task],
        "sac.fixed_alpha": 0.2 if ENTROPY_M2AC_STOCHASTIC[task] is None else None,
        "updates": FixedUpdates(row(20, 20, 10, 10, 30)[task]),
    }
    assert differences(config, expected) == {}


PUBLISHED = {
    ("macura", "Walker2d"): {"imagination.model.width": 400},
    ("macura", "Hopper"): {
        "steps": 155_000,
        "imagination.rollout.gate": Threshold(scale=30.0, quantile=0.90),
    },
    ("mbpo", "Hopper"): {"steps": 155_000, "imagination.rollout.horizon": LinearHorizon(20, 150, 1, 15)},
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("algorithm", ["sac", *MODEL_BASED])
def test_published_departs_from_the_paper_where_it_says(algorithm, task):
    config = presets.build(algorithm, f"{task}-v5", preset="published")
    expected = expected_of(algorithm, task) | PUBLISHED.get((algorithm, task), {})
    if algorithm == "macura":
        expected["imagination.rollout.measure"] = "geometric_js_dual"
        expected["updates"] = ProportionalUpdates(UPDATES_MACURA[task], "down")
    if algorithm == "m2ac":
        expected["imagination.rollout.gate"] = Ranked(stop=False)
    assert differences(config, expected) == {}


def test_the_schedules_of_mbpo_reach_their_lengths_when_the_notes_say():
    """First epoch, counted from 0 after the warm-up, with length 2, 5, 10 and the longest."""
    when = {
        ("Humanoid", "paper"): (31, 66, 124, 299),
        ("Ant", "paper"): (23, 33, 49, 99),
        ("Hopper", "paper"): (25, 42, 71, 99),
        ("Hopper", "published"): (29, 57, 103, 149),
    }
    for (task, preset), epochs in when.items():
        config = presets.build("mbpo", f"{task}-v5", preset=preset)
        horizon = config.imagination.rollout.horizon
        for length, epoch in zip((2, 5, 10, horizon.longest()), epochs, strict=True):
            step = config.warmup_steps + 1000 * epoch
            assert horizon.at(config.epoch_of(step)) >= length > horizon.at(config.epoch_of(step - 1))


def test_the_buffer_of_mbpo_grows_with_its_horizon():
    imagination = presets.build("mbpo", "Hopper-v5", preset="paper").imagination
    for epoch in (0, 25, 42, 71, 99, 124):
        assert imagination.limit_at(epoch) == imagination.rollout.horizon.at(epoch) * 101_500 * 4
