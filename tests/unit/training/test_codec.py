"""Configurations as plain dictionaries: there and back, changed by name, and refused by name."""

import json
from dataclasses import dataclass, field
from typing import Literal

import pytest

from macura.core import UserError
from macura.replay import MixtureConfig
from macura.rollout import FixedHorizon, KeepAll, LinearHorizon, Ranked, Threshold
from macura.training import (
    FixedUpdates,
    Imagination,
    ProportionalUpdates,
    RunConfig,
    choices,
    codec,
    from_dict,
    override,
    to_dict,
)

FULL = RunConfig(imagination=Imagination(), updates=ProportionalUpdates(7))


@dataclass(frozen=True)
class Kinds:
    """One field of every kind."""

    whole: int = 1
    number: float = 1.0
    flag: bool = False
    text: str = "a"
    maybe: float | None = None
    word: Literal["up", "down"] = "up"
    horizon: FixedHorizon | LinearHorizon = field(default_factory=FixedHorizon)


@pytest.mark.parametrize("config", [RunConfig(), FULL, Kinds(maybe=2.5)], ids=["sac", "full", "kinds"])
def test_round_trip_through_json(config):
    assert from_dict(type(config), json.loads(json.dumps(to_dict(config)))) == config


def test_what_is_left_out_takes_its_default():
    assert from_dict(RunConfig, {}) == RunConfig()
    assert from_dict(RunConfig, {"imagination": {"every": 10}}).imagination == Imagination(every=10)


def test_one_of_several_is_named_by_its_kind():
    assert to_dict(FULL)["updates"] == {"kind": "proportional_updates", "maximum": 7, "rounding": "nearest"}
    gates = {"keep_all": KeepAll(), "ranked": Ranked(), "threshold": Threshold()}
    for kind, gate in gates.items():
        assert override(FULL, {"imagination.rollout.gate": kind}).imagination.rollout.gate == gate
        assert codec.kind_of(type(gate)) == kind


def test_a_field_called_kind_is_no_choice_of_kinds():
    mixture = override(FULL, {"imagination.mixture.kind": "within_batch"}).imagination.mixture
    assert mixture == MixtureConfig(kind="within_batch")
    with pytest.raises(UserError, match="must be a group of settings"):
        override(FULL, {"imagination.mixture": 5})


def test_a_new_kind_starts_from_its_own_defaults_and_takes_deeper_keys():
    changes = {"imagination.rollout.horizon.to_length": 4, "imagination.rollout.horizon": "linear_horizon"}
    assert override(FULL, changes).imagination.rollout.horizon == LinearHorizon(to_length=4)


def test_override_takes_dataclasses():
    changed = override(FULL, {"updates": FixedUpdates(3), "imagination.rollout.gate": Ranked(stop=True)})
    assert changed.updates == FixedUpdates(3) and changed.imagination.rollout.gate == Ranked(stop=True)


def test_override_leaves_the_original_alone():
    before = to_dict(FULL)
    override(FULL, {"sac.width": 7, "imagination.ring.storage": "float16"})
    assert to_dict(FULL) == before


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ({"number": 1}, 1.0),
        ({"whole": 2.0}, 2),
        ({"maybe": None}, None),
        ({"maybe": 3}, 3.0),
        ({"word": "down"}, "down"),
        ({"flag": True}, True),
        ({"horizon": "linear_horizon"}, LinearHorizon()),
        ({"horizon": {"kind": "fixed_horizon", "length": 3}}, FixedHorizon(3)),
    ],
    ids=str,
)
def test_values(data, value):
    found = getattr(from_dict(Kinds, data), next(iter(data)))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        ({"whole": 1.5}, "whole is 1.5, but must be a whole number."),
        ({"whole": True}, "whole is True, but must be a whole number."),
        ({"whole": "1"}, "whole is '1', but must be a whole number."),
        ({"whole": None}, "whole is None, but must be a whole number."),
        ({"whole": float("inf")}, "whole is inf, but must be a whole number."),
        ({"whole": float("nan")}, "whole is nan, but must be a whole number."),
        ({"number": "fast"}, "number is 'fast', but must be a number."),
        ({"number": False}, "number is False, but must be a number."),
        ({"number": [1.0]}, "number is [1.0], but must be a number."),
        ({"flag": 1}, "flag is 1, but must be true or false."),
        ({"text": 3}, "text is 3, but must be text."),
        ({"maybe": "x"}, "maybe is 'x', but must be a number or nothing."),
        ({"word": "sideways"}, "word is 'sideways', but must be one of up, down."),
        ({"word": ["up"]}, "word is ['up'], but must be one of up, down."),
        ({"horizon": "fixd_horizon"}, "Did you mean 'fixed_horizon'?"),
        ({"horizon": 3}, "must be a group of settings"),
        ({"horizon": {"kind": ["fixed_horizon"]}}, "must be one of fixed_horizon, linear_horizon."),
        ({"horizon": {"lenght": 3}}, "Did you mean 'length'?"),
        ({"wole": 1}, "Did you mean 'whole'?"),
    ],
    ids=str,
)
def test_refused_in_one_line(data, answer):
    with pytest.raises(UserError) as caught:
        from_dict(Kinds, data)
    assert answer in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"sac.widht": 1}, "Did you mean 'sac.width'?"),
        ({"width": 1}, "There is no setting 'width'"),
        ({"sac.width.deeper": 1}, "There is no setting 'sac.width.deeper'"),
        ({"updates.count": 1}, "There is no setting 'updates.count'"),
        ({"sac.width": 0}, "sac.width is 0"),
        ({"sac": 3}, "must be a group of settings"),
        ({"imagination.rollout.gate": "treshold"}, "Did you mean 'threshold'?"),
        ({"imagination.rollout.measure": "js"}, "imagination.rollout.measure is 'js', but must be"),
    ],
    ids=str,
)
def test_wrong_changes_are_refused_in_one_line(changes, answer):
    with pytest.raises(UserError) as caught:
        override(FULL, changes)
    assert answer in str(caught.value) and "\n" not in str(caught.value)


def test_choices():
    assert choices(FixedHorizon | LinearHorizon) == {
        "fixed_horizon": FixedHorizon,
        "linear_horizon": LinearHorizon,
    }
    assert choices(int | None) == {}
