"""Small files that are either there in full or not at all."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

JSON = Any
"""What a JSON file can hold: None, numbers, strings, lists and dictionaries of them."""


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step; a crash or a full disk leaves what was there before."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` outlive a power cut, where the file system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def write_json(path: Path, content: Mapping[str, JSON]) -> None:
    """Write `content` as indented JSON, atomically."""
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())


def sha256(path: Path, sync: bool = False) -> str:
    """Hexadecimal SHA-256 of a file's bytes; `sync` first forces them onto the disk."""
    with path.open("rb") as file:
        if sync:
            os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def reason(error: BaseException) -> str:
    """The one line of an exception that a reader needs."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split()) or type(error).__name__
    for told in ("No space left on device", "File too large", "Disk quota exceeded"):
        if told in text:
            return told
    return text if len(text) <= 200 else text[:197] + "..."
