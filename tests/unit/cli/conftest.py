"""One tiny finished run for all tests of the command line, and environments that nobody should train on."""

import os
import shutil
import textwrap
from pathlib import Path

import pytest

from macura.cli.main import main

TINY = (
    "train --algorithm sac --env Pendulum-v1 --preset quick --steps 12 --epoch-steps 6 --warmup-steps 4"
    " --evaluation-episodes 2 --sac.width 8 --sac.batch-size 4 --env.time-limit 5"
)

ODD_ENVIRONMENTS = """
    import gymnasium, numpy as np
    from gymnasium.spaces import Box, Discrete

    class Odd(gymnasium.Env):
        metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
        observation_space = Box(-1, 1, (2,), np.float32)
        action_space = Box(-1, 1, (1,), np.float32)

        def __init__(self, render_mode=None):
            self.render_mode = render_mode

        def reset(self, seed=None, options=None):
            super().reset(seed=seed)
            self.time = 0
            return np.zeros(2, np.float32), {}

        def step(self, action):
            self.time += 1
            return np.full(2, self.time / 9, np.float32), 1.0, False, self.time >= 5, {}

        def render(self):
            return np.full((33, 47, 3), 20 * self.time, np.uint8)

    def whole(render_mode=None): return Odd(render_mode)

    class Blind(Odd):
        def render(self):
            raise NotImplementedError

    def blind(): return Blind()

    def unbounded():
        env = Odd(); env.action_space = Box(-np.inf, np.inf, (1,), np.float32); return env

    def image():
        env = Odd(); env.observation_space = Box(0, 255, (8, 8, 3), np.uint8); return env

    def broken(): raise RuntimeError("no licence")

    def nothing(): return None

    def wrong_shape(next_obs): return next_obs

    number = 5

    class Failing(Odd):
        def step(self, action):
            if self.time == 3:
                return np.array([np.nan, 0], np.float32), 1.0, False, False, {}
            return super().step(action)

    def failing(): return Failing()
"""


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with the module `odd_envs` and the finished run `done_run`; tests work in copies of it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "odd_envs.py").write_text(textwrap.dedent(ODD_ENVIRONMENTS))
    assert main([*TINY.split(), "--out", str(folder / "done_run")]) == 0
    return folder


@pytest.fixture
def here(place, tmp_path, monkeypatch):
    """The current directory: a fresh copy of `place`, with an unfinished run besides."""
    copy = tmp_path / "here"
    shutil.copytree(place, copy)
    shutil.copytree(place / "done_run", copy / "open_run")
    (copy / "open_run" / "done").unlink()
    monkeypatch.chdir(copy)
    monkeypatch.syspath_prepend(str(place))
    return copy


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder, with what is in it; compiled Python left out."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts and os.path.basename(path) != "lock"
    }
