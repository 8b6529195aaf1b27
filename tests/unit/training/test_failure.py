"""Failures of the device in one line each, told from the texts that JAX raises."""

import jax
import pytest

from macura.training.failure import explained


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes", "ran out of memory at step 7; lower what"),
        (
            "INTERNAL: CpuCallback error calling callback: Traceback (most recent call last):\n  File ...\n"
            "KeyError: 3\n\nDuring handling:\nrobot.Broken: ignored\nValueError: no such state",
            "function of this run failed at step 7: ValueError: no such state",
        ),
        ("INTERNAL: launch failed\nmore", "the device failed at step 7: INTERNAL: launch failed"),
    ],
)
def test_what_is_told(text, told):
    line = str(explained(jax.errors.JaxRuntimeError(text), 7))
    assert told in line
    assert "\n" not in line
