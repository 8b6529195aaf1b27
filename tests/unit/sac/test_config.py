"""Wrong numbers are refused in one line that says what to type instead."""

import pytest

from macura.core import UserError
from macura.sac import SACConfig


@pytest.mark.parametrize(
    "settings",
    [
        dict(width=0),
        dict(hidden_layers=0),
        dict(batch_size=0),
        dict(target_interval=0),
        dict(learning_rate=0.0),
        dict(learning_rate=float("nan")),
        dict(fixed_alpha=-0.1),
        dict(fixed_alpha=0.0),
        dict(discount=1.1),
        dict(target_rate=-0.1),
        dict(discount=float("nan")),
    ],
    ids=str,
)
def test_refused(settings):
    with pytest.raises(UserError, match=f"sac.{next(iter(settings))}") as caught:
        SACConfig(**settings)
    assert "\n" not in str(caught.value)


def test_what_to_type_instead_can_be_typed():
    with pytest.raises(UserError) as caught:
        SACConfig(width=0)
    assert "--sac.width" in str(caught.value)
    with pytest.raises(UserError) as caught:
        SACConfig(target_interval=0)
    assert "--sac.target-interval" in str(caught.value)
