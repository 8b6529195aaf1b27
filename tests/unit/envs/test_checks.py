"""What the check of an environment finds, and that each finding says what to do."""

import numpy as np
import pytest

from macura.core import UserError
from macura.envs import EnvConfig, Task, check, checks
from tests.fakes import envs as fakes


def findings(given, steps=300, **config):
    return check(Task(EnvConfig("mine:env", **config), given), steps)


def only(found, level):
    return [finding.what for finding in found if finding.level == level]


@pytest.mark.parametrize(
    "env_id", ["Hopper-v5", "HalfCheetah-v4", "Ant-v4", "Pendulum-v1", "macura/Pendulum-v0"]
)
def test_known_tasks_pass_without_a_word(env_id):
    found = check(Task(EnvConfig(env_id)), steps=200)
    assert [finding.level for finding in found] == ["ok"] * 8
    assert any(
        "termination function differs from the environment on 0.00%" in finding.what for finding in found
    )


def test_deepmind_control_is_told_that_it_never_terminates():
    found = check(Task(EnvConfig("dm_control/cartpole-swingup-v0")), steps=200)
    assert only(found, "problem") == []
    assert [finding.advice for finding in found if finding.level == "warning"] == [
        "if the task never terminates, say so: --imagination.termination never; else the model learns it."
    ]


@pytest.mark.parametrize(
    ("given", "level", "what"),
    [
        (fakes.discrete, "problem", "The actions of mine:env are Discrete(3)"),
        (fakes.fails, "problem", "mine:env failed to make an environment"),
        (fakes.Raises, "problem", "step raised OSError: the motor does not answer"),
        (fakes.NanObservation, "problem", "observation[1] is nan"),
        (fakes.OldStep, "problem", "step 1 (step 1 of its episode): step returned 4 values"),
        (fakes.TimeLimitAsEnd, "problem", "all 6 episodes ended as terminated after exactly 50 steps"),
        (fakes.Endless, "warning", "no time limit was seen in 1500 steps"),
        (fakes.Unseeded, "warning", "the same seed does not give the same episode"),
        (fakes.BadlyScaled, "warning", "observation 0 never changed"),
        (fakes.BadlyScaled, "warning", "(observations 2 and 1)"),
        (fakes.BadlyScaled, "warning", "the reward reaches from -"),
        (fakes.Unpaid, "warning", "the reward was 0 in every step"),
        (fakes.Point, "warning", "there is no built-in termination function, and no episode terminated"),
        (fakes.TimeLimitAsEnd, "warning", "the model learns where episodes end"),
    ],
)
def test_each_fault_is_found(given, level, what):
    found = findings(given)
    assert any(what in line for line in only(found, level))
    for finding in found:
        assert (finding.advice == "") == (finding.level == "ok")
        assert "\n" not in finding.what + finding.advice


def test_what_gymnasiums_checker_says_is_passed_on_without_colours():
    class ShortNumbers(fakes.Point):
        def observe(self):
            return self.state.astype(np.float32)  # the space says float64

    def said(given, level):
        return [line for line in only(findings(given), level) if line.startswith("Gymnasium's checker: ")]

    reset, step = said(ShortNumbers(), "warning")
    assert "float64, actual type: float32" in reset
    assert "\x1b" not in reset + step
    assert len(said(fakes.OldStep(), "problem")) == 1

    class Loud(fakes.Point):
        def terminated(self):
            return 0

    [line] = said(Loud(), "warning")
    assert "`terminated` signal to be a boolean" in line


def test_a_wrong_termination_function_is_found(monkeypatch):
    monkeypatch.setattr(Task, "builtin_termination", property(lambda task: lambda obs: obs[..., 0] > 0))
    assert any(
        "termination function differs from the environment on" in what
        for what in only(findings(fakes.Point), "problem")
    )


def test_an_unknown_id_is_no_finding():
    with pytest.raises(UserError, match="Did you mean 'Hopper-v5'"):
        check(Task(EnvConfig("Hoper-v5")))


def test_a_slow_step_is_found(monkeypatch):
    monkeypatch.setattr(checks, "SLOWEST_STEP", 0.0)
    assert any(what.startswith("a step takes") for what in only(findings(fakes.Point), "warning"))


def test_a_time_limit_of_ones_own_settles_the_warning():
    assert not any(
        "time limit was seen" in what for what in only(findings(fakes.Endless, time_limit=40), "warning")
    )


def test_an_instance_is_left_open():
    env = fakes.Point()
    findings(env)
    assert not env.closed
