import pytest

from macura.core import UserError
from macura.rollout import FixedHorizon, KeepAll, LinearHorizon, Ranked, RolloutConfig, Threshold
from macura.training.codec import from_dict, to_dict


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: RolloutConfig(rollouts=0), "rollout.rollouts"),
        (lambda: RolloutConfig(chunk=0), "rollout.chunk"),
        (lambda: RolloutConfig(penalty=-1.0), "rollout.penalty"),
        (lambda: RolloutConfig(penalty=float("nan")), "rollout.penalty"),
        (lambda: RolloutConfig(measure=None), "Threshold needs an uncertainty"),
        (lambda: RolloutConfig(measure=None, gate=Ranked()), "Ranked needs an uncertainty"),
        (
            lambda: RolloutConfig(measure=None, gate=KeepAll(), penalty=0.1),
            "rollout.penalty 0.1 needs an uncertainty",
        ),
        (lambda: Threshold(scale=0.0), "gate.scale"),
        (lambda: Threshold(scale=float("nan")), "gate.scale"),
        (lambda: Threshold(quantile=95.0), "gate.quantile"),
        (lambda: Threshold(fixed=0.0), "gate.fixed"),
        (lambda: Threshold(window=0), "gate.window"),
    ],
)
def test_refusals_name_the_setting_in_one_line(make, names):
    with pytest.raises(UserError) as refusal:
        make()
    assert names in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "config",
    [
        RolloutConfig(),
        RolloutConfig(rollouts=7, measure=None, gate=KeepAll(), horizon=LinearHorizon(1, 2, 3, 4)),
        RolloutConfig(measure="one_vs_rest", gate=Ranked(stop=True), penalty=0.001, chunk=64),
        RolloutConfig(gate=Threshold(2.0, 0.9, fixed=150.0, window=5), horizon=FixedHorizon(3)),
    ],
)
def test_config_survives_its_file(config):
    assert from_dict(RolloutConfig, to_dict(config)) == config
