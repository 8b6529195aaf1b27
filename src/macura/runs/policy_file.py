"""The policy as a file that people share: safetensors with configuration and SHA-256 inside; no code."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from macura.core import RunError, UserError
from macura.runs.files import JSON, reason, write_atomically

FORMAT = 1
"""Version of the file's layout."""

# One metadata entry only: safetensors writes several in an order that changes from process to process.
_KEY = "macura_policy"

Arrays = dict[str, NDArray[Any]]


class Content(NamedTuple):
    """What a policy file holds."""

    arrays: Arrays
    config: dict[str, JSON]
    spaces: dict[str, JSON] | None
    """What the environment shows and takes; `None` in the first files of this format."""


def save(
    path: str | Path,
    arrays: Mapping[str, NDArray[Any]],
    config: Mapping[str, JSON],
    spaces: Mapping[str, JSON] | None = None,
) -> None:
    """Write named arrays, their configuration, and the spaces of the environment, atomically.

    The same content gives the same bytes.
    """
    import safetensors.numpy

    path = Path(path)
    tensors = {name: np.asarray(array, order="C") for name, array in sorted(arrays.items())}
    digest = _digest(tensors, config, spaces)
    header = {"format": FORMAT, "config": config, "spaces": spaces, "sha256": digest}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, safetensors.numpy.save(tensors, {_KEY: json.dumps(header, sort_keys=True)}))
    except OSError as error:
        raise RunError(f"cannot write {path}: {reason(error)}.") from error


def load(path: str | Path) -> Content:
    """What a policy file holds; `UserError` for what is not an intact one."""
    import safetensors

    path = Path(path)
    if not path.is_file():
        raise UserError(f"there is no policy file {path}; give a *.safetensors file or the folder of a run.")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(_KEY)
            header = _header(text, path)
            arrays = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError, ValueError, TypeError) as error:
        raise UserError(
            f"{path} is not a policy file, cut short, or damaged ({reason(error)}); save or copy it again."
        ) from error
    config, spaces = cast(dict[str, JSON], header["config"]), header.get("spaces")
    if header.get("sha256") != _digest(arrays, config, spaces):
        raise UserError(
            f"{path} is damaged (its contents do not match their SHA-256); save or copy it again."
        )
    return Content(arrays, config, spaces)


def _header(text: str | None, path: Path) -> dict[str, JSON]:
    if text is None:
        raise UserError(
            f"{path} holds tensors, but no policy saved by macura; give a file that agent.save wrote."
        )
    header = json.loads(text)
    if not isinstance(header, dict) or not isinstance(cast(dict[str, JSON], header).get("config"), dict):
        raise ValueError("its header holds no configuration")
    form = cast(dict[str, JSON], header).get("format")
    if form != FORMAT:
        raise UserError(
            f"{path} has format {form}, but this macura reads format {FORMAT}; use the version that wrote it."
        )
    return cast(dict[str, JSON], header)


def _digest(
    arrays: Mapping[str, NDArray[Any]], config: Mapping[str, JSON], spaces: Mapping[str, JSON] | None
) -> str:
    """SHA-256 over names, types, shapes and bytes of the arrays, the configuration, and the spaces."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    if spaces is not None:
        digest.update(json.dumps(spaces, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
