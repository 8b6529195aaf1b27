"""The whole state of a run, saved atomically, and the newest intact one of them read back.

`checkpoints/<step>/` holds `arrays/` (orbax), `large/` (NumPy files), `state.json` (whatever else the caller remembers)
and `manifest.json` (size and SHA-256 of every other file). A step is written under another name and renamed when
complete: what carries a step's name was once whole, and the hashes tell whether it still is.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import jax
import numpy as np
from numpy.typing import NDArray

from macura.core import RunError
from macura.runs.files import JSON, reason, sha256, sync_folder
from macura.runs.warning import Warn, print_warning

FORMAT = 2
"""Version of the layout of a checkpoint."""
LARGE = 1 << 24
"""Bytes from which an array is a file of its own, written straight from its memory: orbax would copy it twice."""

Arrays = dict[str, NDArray[Any]]

Tree = Any
"""Arrays, nested in any containers that JAX knows."""


class Restored(NamedTuple):
    """What a checkpoint held: the leaves are NumPy arrays."""

    step: int
    tree: Tree
    meta: dict[str, JSON]


class _Damaged(Exception):
    """This checkpoint is not what was saved; the message says why."""


class Checkpoints:
    """The checkpoints of one run; the newest `keep` stay."""

    def __init__(self, folder: Path, keep: int = 2, warn: Warn = print_warning):
        self.folder = folder.absolute()
        self.keep = keep
        self._warn = warn

    def steps(self) -> list[int]:
        """Steps that were saved completely, oldest first (they may have been damaged since)."""
        if not self.folder.is_dir():
            return []
        names = [entry.name for entry in self.folder.iterdir() if entry.is_dir()]
        return sorted(int(name) for name in names if name.isdecimal())

    def save(self, step: int, tree: Tree, meta: Mapping[str, JSON]) -> None:
        """Save arrays and meta as the state after `step`; older checkpoints go once this one is complete.

        `RunError` if it cannot be written (disk full): nothing of it remains, and what was there is intact.
        """
        arrays = _named_arrays(tree)
        draft = self.folder / f"{step}.draft"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            _write(draft, step, arrays, meta)
            self._commit(draft, self.folder / str(step))
        except Exception as error:  # orbax and tensorstore raise many kinds
            shutil.rmtree(draft, ignore_errors=True)
            kept = self.steps()
            told = (
                f"the checkpoint of step {kept[-1]} is intact" if kept else "there is no earlier checkpoint"
            )
            raise RunError(f"cannot save the checkpoint of step {step}: {reason(error)}; {told}.") from error
        self._drop_all_but_newest(step)

    def restore(self, like: Tree | None = None) -> Restored | None:
        """The newest intact checkpoint, or None where there is none at all.

        A damaged one is skipped with a warning; `RunError` if every one is. `like` gives the structure (its
        leaves are not looked at, shapes may differ); without it the tree is a flat dictionary of names.
        """
        steps = self.steps()
        for step in reversed(steps):
            try:
                arrays, meta = _read(self.folder / str(step))
            except _Damaged as damage:
                self._warn(f"the checkpoint of step {step} is damaged and skipped: {damage}")
                continue
            return Restored(
                step, arrays if like is None else _rebuild(like, arrays, self.folder / str(step)), meta
            )
        if steps:
            raise RunError(
                f"no checkpoint in {self.folder} is intact; start the run again with another --out."
            )
        return None

    def _sweep(self) -> None:
        """Remove what interrupted saves have left."""
        for leftover in [*self.folder.glob("*.draft"), *self.folder.glob("*.replaced")]:
            shutil.rmtree(leftover)

    def _commit(self, draft: Path, final: Path) -> None:
        if (
            final.exists()
        ):  # the run went back behind this step because it was damaged, and has reached it again
            final.rename(final.with_name(f"{final.name}.replaced"))
        draft.rename(final)
        sync_folder(self.folder)

    def _drop_all_but_newest(self, saved: int) -> None:
        """Keep the newest `keep` up to `saved`; later ones were damaged, and skipped on resuming."""
        steps = self.steps()
        kept = [step for step in steps if step <= saved][-self.keep :]
        for step in set(steps) - set(kept):
            shutil.rmtree(self.folder / str(step), ignore_errors=True)
        self._sweep()


def _named_arrays(tree: Tree) -> Arrays:
    """Every leaf as a NumPy array under the name of its place in the tree."""
    named: Arrays = {}
    for name, leaf in _named_leaves(tree):
        array = np.asarray(jax.device_get(leaf))
        if array.dtype == object:
            raise TypeError(f"{name} is no array: {type(leaf).__name__}")
        named[name] = array
    return named


def _named_leaves(tree: Tree) -> list[tuple[str, object]]:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/") or ".", leaf) for path, leaf in leaves]


def _rebuild(like: Tree, arrays: Arrays, folder: Path) -> Tree:
    names = [name for name, _ in _named_leaves(like)]
    strange = sorted(set(names) ^ set(arrays))
    if strange:
        raise RunError(
            f"{folder} was saved by another version of this program ({strange[0]} is in only one of both); "
            f"go on with that version, or start again with another --out."
        )
    return jax.tree.unflatten(jax.tree.structure(like), [arrays[name] for name in names])


def _write(draft: Path, step: int, arrays: Arrays, meta: Mapping[str, JSON]) -> None:
    draft.mkdir()
    large = [name for name, array in arrays.items() if array.nbytes >= LARGE and array.dtype.kind in "biuf"]
    for number, name in enumerate(large):
        (draft / "large").mkdir(exist_ok=True)
        np.save(draft / "large" / f"{number}.npy", arrays[name], allow_pickle=False)
    filled = {name: array for name, array in arrays.items() if array.size and name not in large}
    if filled:
        _orbax().save(draft / "arrays", filled)
    # orbax refuses arrays without elements: their shapes are all there is to them
    empty = {name: [list(a.shape), a.dtype.name] for name, a in arrays.items() if not a.size}
    about = {"filled": bool(filled), "empty": empty, "large": large}
    state = {"format": FORMAT, "step": step, "meta": dict(meta)} | about
    (draft / "state.json").write_text(json.dumps(state))
    files = {
        str(path.relative_to(draft)): [path.stat().st_size, sha256(path, sync=True)]
        for path in sorted(draft.rglob("*"))
        if path.is_file()
    }
    with (draft / "manifest.json").open("w") as file:
        json.dump({"format": FORMAT, "files": files, "sha256": _digest(files)}, file)
        file.flush()
        os.fsync(file.fileno())


def _read(folder: Path) -> tuple[Arrays, dict[str, JSON]]:
    """Check every file against the manifest, then read; `_Damaged` names the first thing that is wrong."""
    _check(folder)
    try:
        state = json.loads((folder / "state.json").read_text())
        arrays = cast(Arrays, _orbax().restore(folder / "arrays")) if state["filled"] else {}
        for number, name in enumerate(state["large"]):
            arrays[name] = np.load(folder / "large" / f"{number}.npy", allow_pickle=False)
    except Exception as error:  # intact, yet unreadable: another version of orbax, or no memory
        raise _Damaged(f"it cannot be read ({reason(error)})") from error
    for name, (shape, dtype) in state["empty"].items():
        arrays[name] = np.zeros(shape, jax.numpy.dtype(dtype))
    return arrays, state["meta"]


def _check(folder: Path) -> None:
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        form, files, digest = manifest["format"], manifest["files"], manifest["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _Damaged("its manifest.json is missing or broken") from error
    if form != FORMAT:
        raise _Damaged(f"it has format {form}, and this version reads format {FORMAT}")
    if digest != _digest(files):
        raise _Damaged("its manifest.json is broken")
    for name, (size, expected) in files.items():
        path = folder / name
        try:
            found = path.stat().st_size
            if found != size:
                raise _Damaged(f"{name} has {found} bytes instead of {size}")
            if sha256(path) != expected:
                raise _Damaged(f"{name} is not what was written")
        except OSError as error:
            raise _Damaged(f"{name}: {reason(error)}") from error


def _digest(files: object) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def _is_not_of_orbax(record: logging.LogRecord) -> bool:
    """Its threads log the traceback of every failure that it also raises, and that the user is told in one line."""
    return "orbax" not in Path(record.pathname).parts


def _orbax() -> Any:
    """A synchronous checkpointer of plain trees; imported on first use, because that takes seconds."""
    import orbax.checkpoint as ocp

    logging.getLogger("absl").addFilter(_is_not_of_orbax)
    return ocp.Checkpointer(ocp.PyTreeCheckpointHandler())
