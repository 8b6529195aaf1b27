"""Runs `macura` up to a chosen moment, and there kills its own process with SIGKILL, or waits for the test.

`python -m tests.faults.moments PHASE NUMBER kill train ...` dies at event NUMBER inside PHASE, counted since the
process began. With a path instead of `kill` it makes that file, and goes on when the file is gone. With NUMBER 0
nothing happens, and it tells at its end how many events every phase had, as JSON on the last line of standard output.

Events are calls and returns in our own code and in that which writes checkpoints, calls into C
included: finer than any operation on a file, and the same moments whatever the load of the machine.
"""

import functools
import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import orbax.checkpoint  # its import would be most of the events of the first save

import macura
from macura.cli.main import main
from macura.runs import RunFolder
from macura.training.session import Session

PHASES = {
    "begin": RunFolder,
    "restore": Session,
    "begin_epoch": Session,
    "act": Session,
    "fit_model": Session,
    "imagine": Session,
    "improve": Session,
    "evaluate": Session,
    "save": Session,
    "end": RunFolder,
}
"""Methods that a run goes through, and whose they are."""
COUNTED = tuple(os.path.dirname(module.__file__) for module in (macura, orbax.checkpoint))


class Watch:
    """Counts the events of a phase, and acts at the one it was told."""

    def __init__(self, phase, number, act):
        self.moment, self.act = (phase, number), act
        self.counts = Counter()
        self.counted = {}
        for name, owner in PHASES.items():
            if not number or name == phase:
                setattr(owner, name, self.watched(name, getattr(owner, name)))

    def watched(self, name, method):
        def note(frame, event, arg):
            code = frame.f_code
            if code not in self.counted:
                self.counted[code] = code.co_filename.startswith(COUNTED)
            if self.counted[code]:
                self.counts[name] += 1
                if (name, self.counts[name]) == self.moment:
                    self.act()

        @functools.wraps(method)
        def watching(*arguments):
            sys.setprofile(note)
            try:
                return method(*arguments)
            finally:
                sys.setprofile(None)

        return watching


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def wait(meeting):
    meeting.touch()
    while meeting.exists():
        time.sleep(0.01)


if __name__ == "__main__":
    phase, number, action, *command = sys.argv[1:]
    watch = Watch(phase, int(number), die if action == "kill" else functools.partial(wait, Path(action)))
    sys.argv = ["macura", *command]
    status = main(command)
    print(json.dumps(watch.counts))
    sys.exit(status)
