"""The folder of one run: who may write into it, and whether it is empty, unfinished or finished."""

import errno
import fcntl
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, NamedTuple, cast

from macura.core import RunError, UserError
from macura.runs import manifest as manifests
from macura.runs.compare import differences
from macura.runs.files import JSON, reason, write_json

FORMAT = 1
"""Version of the folder's layout, written into every manifest."""

State = Literal["empty", "unfinished", "finished"]
Status = Literal["running", "finished", "interrupted", "failed"]

_BEFORE_CONFIG = {"lock", "manifest.json"}
"""What a process killed while creating the folder may have left without a configuration."""


class Opening(NamedTuple):
    """How a folder was opened: whether it had been begun before, and what is worth telling the user."""

    resumed: bool
    notes: list[str]


class RunFolder:
    """One run on disk.

    `begin` takes the folder (an advisory lock that dies with the process), `end` writes how it ended. Reading
    (`state`, `read_config`, `read_manifest` and the paths) needs no lock.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._lock: IO[str] | None = None

    @property
    def config_file(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.json"

    @property
    def manifest_file(self) -> Path:
        """Versions, commit, device, command, and every session of the run."""
        return self.path / "manifest.json"

    @property
    def metrics_file(self) -> Path:
        """One JSON object a line, each with `step`."""
        return self.path / "metrics.jsonl"

    @property
    def tensorboard(self) -> Path:
        """Folder of the TensorBoard event files."""
        return self.path / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints, one sub-folder a step."""
        return self.path / "checkpoints"

    @property
    def policy_file(self) -> Path:
        """The best policy by evaluation."""
        return self.path / "policy.safetensors"

    @property
    def done_file(self) -> Path:
        """The marker of a finished run."""
        return self.path / "done"

    def state(self) -> State:
        """Empty (or not there), unfinished, or finished; `UserError` for what is not the folder of a run."""
        with _asking(self.path, "read"):
            if not self.path.exists():
                return "empty"
            if not self.path.is_dir():
                raise UserError(f"{self.path} is a file, not the folder of a run; choose another --out.")
            names = {entry.name for entry in self.path.iterdir() if not entry.name.endswith(".draft")}
        if "config.json" in names:
            return "finished" if "done" in names else "unfinished"
        if names <= _BEFORE_CONFIG:
            return "empty"
        raise UserError(
            f"{self.path} holds other things than a run (there is no config.json); choose another --out."
        )

    def read_config(self) -> dict[str, JSON]:
        """The configuration the run was begun with; `UserError` if there is none."""
        if self.state() == "empty":
            raise UserError(f"there is no run in {self.path}; start one with: macura train --out {self.path}")
        return _read_json(self.config_file)

    def read_manifest(self) -> dict[str, JSON]:
        """The manifest of the run, its `sessions` last; `UserError` if there is none."""
        return _read_json(self.manifest_file)

    def begin(self, config: Mapping[str, JSON], manifest: Mapping[str, JSON]) -> Opening:
        """Take the folder and start the run in it, or go on with an unfinished run of the same configuration.

        Refused with a `UserError`, and nothing touched: a folder that is not a run, a finished run, another
        configuration, a folder in use by another process, a folder that cannot be written.
        """
        plain: dict[str, JSON] = json.loads(json.dumps(config))
        self._refuse(plain)
        with _asking(self.path, "write to"):
            self.path.mkdir(parents=True, exist_ok=True)
            notes = self._take_lock()
        try:
            self._refuse(plain)  # another process may have ended the run before the lock was ours
            resumed = self.state() == "unfinished"
            with _asking(self.path, "write to"):
                for leftover in self.path.glob(".*.draft"):  # of a process that was killed while writing
                    leftover.unlink()
                notes += self._open_session(manifest, resumed)
                if not resumed:
                    write_json(self.config_file, plain)
        except BaseException:
            self.close()
            raise
        return Opening(resumed, notes)

    def end(self, status: Status, message: str = "") -> None:
        """Write how the session ended (a finished one gets its `done` marker) and let go of the folder."""
        try:
            content = self.read_manifest()
            ending: dict[str, JSON] = {"ended": manifests.now(), "status": status}
            if message:
                ending["message"] = message
            sessions: list[dict[str, JSON]] = content["sessions"]
            sessions[-1] |= ending
            write_json(self.manifest_file, content | ending | {"sessions": sessions})
            if status == "finished":
                write_json(self.done_file, ending)
        except OSError as error:
            raise RunError(f"cannot write to {self.path}: {reason(error)}.") from error
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the folder; harmless when it was not taken."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refuse(self, config: Mapping[str, JSON]) -> None:
        state = self.state()
        if state == "finished":
            raise UserError(
                f"the run in {self.path} is finished and is never overwritten; choose another --out, "
                f"or look at it with: macura evaluate {self.path}"
            )
        if state == "unfinished":
            found = differences(self.read_config(), config)
            if found:
                told = "; ".join(str(d) for d in found[:3]) + (
                    f"; and {len(found) - 3} more" if found[3:] else ""
                )
                raise UserError(
                    f"{self.path} holds an unfinished run with another configuration ({told}); "
                    f"choose another --out, or go on with it as it is: macura train --resume {self.path}"
                )

    def _take_lock(self) -> list[str]:
        lock = (self.path / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise UserError(
                f"{self.path} is in use by another process (pid {holder}); "
                "wait until it ends, or choose another --out."
            ) from error
        except OSError as error:
            lock.close()
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL):
                raise
            return [
                f"the file system of {self.path} has no locks: make sure that one process at a time uses it"
            ]
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock = lock  # kept open: closing it, or the end of the process in any way, lets go
        return []

    def _open_session(self, manifest: Mapping[str, JSON], resumed: bool) -> list[str]:
        session: dict[str, JSON] = {
            "started": manifests.now(),
            "ended": None,
            "status": "running",
            "pid": os.getpid(),
        }
        session |= manifest
        before = self.read_manifest() if resumed else {}
        sessions: list[JSON] = before.get("sessions", [])
        first = before or session
        kept = {k: v for k, v in first.items() if k not in ("pid", "message")}
        now: dict[str, JSON] = {"ended": None, "status": "running", "sessions": [*sessions, session]}
        write_json(self.manifest_file, {"format": FORMAT} | kept | now)
        return manifests.changes(before, manifest) if resumed else []


@contextmanager
def _asking(path: Path, what: str) -> Generator[None]:
    """Turn what the system refuses into a line for the user."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot {what} {path}: {reason(error)}; choose a folder that you may write to."
        ) from error


def _read_json(path: Path) -> dict[str, JSON]:
    with _asking(path, "read"):
        text = path.read_bytes()
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UserError(
            f"{path} is damaged (not JSON: {reason(error)}); restore it or choose another --out."
        ) from error
    if not isinstance(content, dict):
        raise UserError(f"{path} is damaged (no JSON object); restore it or choose another --out.")
    return cast(dict[str, JSON], content)
