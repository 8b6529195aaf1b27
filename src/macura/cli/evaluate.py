"""`macura evaluate`: what a trained policy is worth, and what it looks like."""

import dataclasses
import json
import os
import sys
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from macura.cli import arguments, settings
from macura.core import Stream, UserError, host_seed
from macura.envs import Bridge, EnvConfig, Task
from macura.training import RunConfig, SavedPolicy, evaluate, override

FRAMES_PER_SECOND = 30
"""Of a video, where the environment does not say."""


ABOUT = (
    "Run whole episodes of a trained policy, in the environment it was trained on or with changes to it:"
    " --env ID, --env.action-noise, --env.time-limit and --env.contact-cost as for `macura train`."
)


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What `macura evaluate` takes; besides, every --env.… flag of `macura train`."""

    run: tyro.conf.Positional[str]
    """Folder of a run (its best policy), or a file that agent.save wrote."""
    episodes: int | None = None
    """Whole episodes without exploration noise; without it, as many as the run's own evaluations had."""
    seed: int | None = None
    """Seed of the episodes; without it that of the run, which gives the run's own evaluation again."""
    video: str | None = None
    """File such as film.mp4 for a film of the first episode."""
    json: bool = False
    """Print one JSON object instead of lines."""


def run(argv: Sequence[str]) -> int:
    """Print the returns of some episodes, and film one if asked."""
    if arguments.wants_help(argv):
        arguments.print_help(Arguments, "evaluate", ABOUT)
        return 0
    line = arguments.take_apart(argv, arguments.switches(Arguments))
    about_env = {key: text for key, text in line.flags.items() if key == "env" or key.startswith("env.")}
    own = {key: text for key, text in line.flags.items() if key not in about_env}
    asked = arguments.parse(
        Arguments, arguments.Line(line.words, own), "evaluate", "a run folder or policy file"
    )
    _refuse(asked)
    saved = SavedPolicy.load(asked.run)
    given = settings.changes(saved.config, settings.in_full(about_env))
    config = override(saved.config, given)
    seed = config.seed if asked.seed is None else asked.seed
    if asked.video is not None:
        film(saved, config.env, host_seed(seed, Stream.EVALUATE, 0), Path(asked.video))
    returns = _returns(saved, config, seed, asked.episodes or config.evaluation_episodes)
    _tell(config.env, seed, returns, asked.json)
    return 0


def film(saved: SavedPolicy, env: EnvConfig, seed: int, out: Path) -> None:
    """Write one deterministic episode as a video; `UserError` if nothing here can draw or encode it."""
    import imageio.v2

    _choose_renderer()
    with arguments.writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    Task(env).make().close()  # what goes wrong from here on has to do with pictures
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*GLFW.*|.*X11.*")  # the exception says the same
            bridge = Task(env).make("rgb_array")
            obs = bridge.reset(seed)
            picture = bridge.render()
    except Exception as error:  # whatever the drivers of this machine raise
        raise UserError(_no_pictures(env, error)) from error
    rate = float(bridge.env.metadata.get("render_fps") or FRAMES_PER_SECOND)
    try:
        with warnings.catch_warnings(), imageio.v2.get_writer(out, **_encoding(out, rate)) as opened:
            # The encoder is a process of its own, which begins with a fork and touches nothing of JAX.
            warnings.filterwarnings("ignore", ".*os.fork.*", RuntimeWarning)
            video: Any = opened
            video.append_data(picture)
            over = False
            while not over:
                outcome = bridge.step(saved.act(obs[None])[0])
                obs, over = outcome.obs, outcome.terminated or outcome.truncated
                video.append_data(bridge.render())
    except (OSError, ValueError) as error:
        raise UserError(f"Cannot write the video {out} ({error}); give a file such as film.mp4.") from error
    finally:
        bridge.close()
    print(f"film of the first episode: {out}", file=sys.stderr)


def _encoding(out: Path, rate: float) -> dict[str, Any]:
    """How fast, and for encoders of films that the size need only be even."""
    return {"duration": 1000 / rate} if out.suffix.lower() == ".gif" else {"fps": rate, "macro_block_size": 2}


def _refuse(asked: Arguments) -> None:
    if asked.episodes is not None and asked.episodes < 1:
        arguments.refuse_number("episodes", asked.episodes, "at least 1")
    if asked.seed is not None and not 0 <= asked.seed < 2**32:
        arguments.refuse_number("seed", asked.seed, "in [0, 2**32)")
    if asked.video is not None and Path(asked.video).suffix.lower() not in (".mp4", ".gif", ".webm"):
        raise UserError(f"--video {asked.video} is no video file; give one that ends in .mp4, .webm or .gif.")


def _returns(saved: SavedPolicy, config: RunConfig, seed: int, episodes: int) -> list[float]:
    """As many environments side by side as in the run's own evaluations, so that the same bits come out."""
    task = Task(config.env)
    bridges: list[Bridge] = [task.make() for _ in range(config.evaluation_episodes)]
    try:
        if (bridges[0].obs_dim, bridges[0].act_dim) != (saved.obs_dim, saved.act_dim):
            raise UserError(
                f"The policy reads {saved.obs_dim} numbers and gives {saved.act_dim} actions, but {config.env.id} has"
                f" {bridges[0].obs_dim} and {bridges[0].act_dim}; it was trained on {saved.config.env.id}."
            )
        return evaluate(bridges, saved.act, seed, episodes)
    finally:
        for bridge in bridges:
            bridge.close()


def _tell(env: EnvConfig, seed: int, returns: Sequence[float], as_json: bool) -> None:
    mean, std = float(np.mean(returns)), float(np.std(returns))
    if as_json:
        told: dict[str, Any] = {"env": env.id, "seed": seed, "episodes": len(returns)}
        print(json.dumps(told | {"return_mean": mean, "return_std": std, "returns": list(returns)}))
        return
    for number, value in enumerate(returns):
        print(f"episode {number + 1}: return {value:.6g}")
    print(
        f"mean {mean:.6g}, standard deviation {std:.4g} of {len(returns)} episodes on {env.id}, seed {seed}"
    )


def _choose_renderer() -> None:
    """Without a screen only EGL draws; MuJoCo would try to open a window."""
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("MUJOCO_GL", "egl")


def _no_pictures(env: EnvConfig, error: Exception) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    if "draws no pictures" in said or "not installed" in said:
        return said
    renderer = os.environ.get("MUJOCO_GL", "none")
    return (
        f"{env.id} cannot be drawn here (MUJOCO_GL is {renderer}: {textwrap.shorten(said, 100)}); without a screen"
        " set MUJOCO_GL=egl and install the packages libegl1 and libgl1 (Debian, Ubuntu), or leave --video out."
        " `macura doctor` tries all renderers."
    )
