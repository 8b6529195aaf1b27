"""What a failure inside a compiled program means, in one line."""

import re

from macura.core import RunError

OUT_OF_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|out of memory", re.IGNORECASE)
RAISED = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)


def explained(failure: Exception, step: int) -> RunError:
    """A `JaxRuntimeError` as a line for people: the device's memory, or a function of the user's that raised."""
    text = str(failure)
    if OUT_OF_MEMORY.search(text):
        return RunError(
            f"the device ran out of memory at step {step}; lower what `macura train --print-config` names as largest"
        )
    raised = RAISED.findall(text)
    reason = raised[-1] if raised else text.strip().splitlines()[0]
    if "callback" in text.lower():
        return RunError(f"the termination or reward function of this run failed at step {step}: {reason}")
    return RunError(f"the device failed at step {step}: {reason}")
