"""One run while it is going on: the state on the device, the environment on the host, and what each step does."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from macura import exploration, replay, runs, sac
from macura.core import RunError, Stream, host_rng, host_seed, root_key
from macura.envs import Bridge, Task
from macura.runs.warning import print_warning
from macura.training import health
from macura.training import state as states
from macura.training.clock import Clock
from macura.training.config import RunConfig
from macura.training.evaluate import evaluate
from macura.training.judges import Judges
from macura.training.phases import Phases, compile_phases, required
from macura.training.saved_policy import SavedPolicy
from macura.training.state import Shape, State


@dataclass
class Progress:
    """Where the run stands, besides the state on the device."""

    step: int = 0
    best_return: float = -np.inf
    episode_return: float = 0.0
    episode_length: int = 0


class Session:
    """Everything that changes while a run goes on. Its methods are the lines of `loop.train`."""

    def __init__(
        self, config: RunConfig, task: Task, bridge: Bridge, judges: Judges, folder: runs.RunFolder
    ) -> None:
        self.config = config
        self.task = task
        self.bridge = bridge
        self.folder = folder
        self.checkpoints = runs.Checkpoints(folder.checkpoints, config.checkpoints_kept)
        self.clock = Clock()
        self.progress = Progress()
        self.root = root_key(config.seed)
        self.evaluators: list[Bridge] = []
        learns = config.imagination is not None
        self.shape = Shape(
            obs=bridge.obs_dim,
            act=bridge.act_dim,
            learned_reward=learns and judges.reward is None,
            learned_termination=learns and judges.terminate is None,
        )
        self.phases: Phases = compile_phases(config, self.shape, judges)
        self.state: State = states.init(config, self.shape, bridge.action_scale, self.root)
        self.best = _on_host(self.state.learner.policy)
        self.imagined = 0
        self._start_tally()

    @property
    def step(self) -> int:
        """Environment steps so far."""
        return self.progress.step

    @contextmanager
    def recording(self, sinks: Sequence[runs.Sink]) -> Generator[None]:
        """Keep the files of the run open; if it is cut short, the policies it has so far are still written."""
        resumed_at = self.step or None
        with runs.Recorder(self.folder.metrics_file, sinks, resumed_at) as self.recorder:
            try:
                yield
            except BaseException:
                with suppress(Exception):  # the first failure is the one to tell of
                    self.write_policies()
                raise

    def begin_epoch(self) -> None:
        """Reset the environment from the run's own seed and draw the epoch's exploration noise.

        What happens in an epoch therefore depends on nothing but the state at its start: resumed, a run repeats it.
        """
        self._reset()
        length, act_dim = self.config.epoch_steps, self.shape.act
        rng = host_rng(self.config.seed, Stream.EXPLORATION, self.step)
        self.noise = exploration.epsilon_sequence(self.config.exploration, length, act_dim, rng)
        self.warmup_noise = exploration.epsilon_sequence("white", length, act_dim, rng)
        self.warmup_uniform = rng.uniform(-1, 1, (length, act_dim)).astype(np.float32)

    def act(self) -> None:
        """One action, and the step of the environment that it causes."""
        with self.clock("act"):
            action = self._action()
            if not np.isfinite(action).all():
                raise self._diverged(f"the action is {action.tolist()}")
        with self.clock("env"):
            outcome = self.bridge.step(action)
        self.newest = replay.pack_row(self.obs, action, outcome.reward, outcome.obs, outcome.terminated)
        self.obs = outcome.obs
        self.progress.step += 1
        self.recorder.progress(self.step)
        self.progress.episode_return += outcome.reward
        self.progress.episode_length += 1
        if outcome.terminated or outcome.truncated:
            self._end_episode()

    def fit_model(self) -> None:
        """Refit the ensemble on all real data."""
        with self.clock("fit_model"):
            model, info = self.phases.fit_model(
                self.state.model, self.state.real, self.root, np.int32(self.step)
            )
            self.state = self.state._replace(model=model)
            info = jax.device_get(info)
        health.refuse_wrong_judges(required(self.config.imagination), self.step - 1, info)
        self._tell(health.after_fit(self.shape, self._round(), info))
        self.round_info = info

    def imagine(self) -> None:
        """One round of rollouts."""
        horizon, limit = self._schedule()
        with self.clock("imagine"):
            ring, gate, info = self.phases.imagine(
                self.state.ring,
                self.state.gate,
                self.state.real,
                self.state.model,
                self.state.learner.policy,
                self.root,
                np.array([horizon, limit, self.step], np.int32),
            )
            self.state = self.state._replace(ring=ring, gate=gate)
            info = jax.device_get(info)
        self.imagined = int(ring.count)
        self._tell(health.after_rollouts(self.shape, self._round(), info))
        info["updates/count"] = self.config.updates_after(self.step, self.imagined)
        self.recorder.record(self.step, self.round_info | info)

    def improve(self) -> None:
        """Store the newest transition and do the agent's updates."""
        updates = self.config.updates_after(self.step, self.imagined)
        with self.clock("improve"):
            learner, real, self.tally = self.phases.improve(
                self.state.learner,
                self.state.real,
                self.tally,
                self.state.ring,
                self.root,
                self.newest,
                np.int32(updates),
                np.int32(self.step),
            )
            # At once: the old learner's memory is gone, and waiting may be interrupted.
            self.state = self.state._replace(learner=learner, real=real)
            jax.block_until_ready(self.tally)
        self.updates += updates

    def evaluate(self) -> None:
        """Whole episodes without noise; the policy is kept if it is the best so far."""
        learned = self._losses()
        with self.clock("evaluate"):
            if not self.evaluators:
                lanes = self.config.evaluation_episodes if self.task.independent else 1
                self.evaluators = [self.task.make() for _ in range(lanes)]
            policy = self.state.learner.policy
            silence = np.zeros((len(self.evaluators), self.shape.act), np.float32)

            def deterministic(obs: NDArray[Any]) -> NDArray[Any]:
                return np.asarray(self.phases.evaluate(policy, obs, silence))

            episodes = self.config.evaluation_episodes
            try:
                returns = evaluate(self.evaluators, deterministic, self.config.seed, episodes)
            except RunError as failure:  # whose steps are those of the evaluation
                raise RunError(f"in the evaluation after step {self.step}: {failure}") from failure
        mean = float(np.mean(returns))
        if mean > self.progress.best_return:
            self.progress.best_return = mean
            self.best = _on_host(policy)
        summary = {
            "eval/return_mean": mean,
            "eval/returns": returns,
            "sac/alpha": float(np.exp(self.state.learner.log_alpha)),
            "updates/total": int(self.state.learner.updates),
        }
        self.recorder.record(self.step, summary | learned | self.clock.read())
        self._start_tally()

    def save(self) -> None:
        """The state of the run as a checkpoint, then the best policy and the last one as files."""
        with self.clock("save"):
            self.recorder.sync()
            tree = {"state": states.to_disk(self.state), "best": self.best}
            self.checkpoints.save(self.step, tree, {"best_return": self.progress.best_return})
            self.write_policies()

    def restore(self) -> bool:
        """Go on from the newest intact checkpoint, if there is one."""
        restored = self.checkpoints.restore({"state": states.to_disk(self.state), "best": self.best})
        if restored is None:
            return False
        self.state = states.from_disk(restored.tree["state"], self.state)
        self.best = restored.tree["best"]
        self.progress = Progress(step=restored.step, best_return=float(restored.meta["best_return"]))
        self.bridge.steps = restored.step
        self.imagined = 0 if self.state.ring is None else int(self.state.ring.count)
        self.write_policies()
        return True

    def write_policies(self) -> None:
        """`policy.safetensors`, the best by evaluation, and `last.safetensors`."""
        best = SavedPolicy.of(self.best, self.bridge, self.config)
        last = SavedPolicy.of(self.state.learner.policy, self.bridge, self.config)
        best.save(self.folder.policy_file)
        last.save(self.folder.path / "last.safetensors")

    def close(self) -> None:
        """Let go of the environments of the evaluation."""
        for bridge in self.evaluators:
            bridge.close()

    def _action(self) -> NDArray[Any]:
        place = self.step % self.config.epoch_steps
        warming_up = self.step < self.config.warmup_steps
        if warming_up and self.config.warmup_actions == "uniform":
            return self.warmup_uniform[place]
        epsilon = (self.warmup_noise if warming_up else self.noise)[place]
        return np.asarray(self.phases.act(self.state.learner.policy, self.obs[None], epsilon[None]))[0]

    def _reset(self) -> None:
        self.obs = self.bridge.reset(host_seed(self.config.seed, Stream.ENV_RESET, self.step))
        self.progress.episode_return, self.progress.episode_length = 0.0, 0

    def _end_episode(self) -> None:
        progress = self.progress
        self.recorder.record(
            self.step,
            {
                "train/episode_return": progress.episode_return,
                "train/episode_length": progress.episode_length,
            },
        )
        self._reset()

    def _schedule(self) -> tuple[int, int]:
        imagination = required(self.config.imagination)
        epoch = self.config.epoch_of(self.step - 1)
        return imagination.rollout.horizon.at(epoch), imagination.limit_at(epoch)

    def _round(self) -> str:
        return f"round {self.config.round_at(self.step)} (step {self.step})"

    def _start_tally(self) -> None:
        self.tally = sac.no_metrics()
        self.updates = 0

    def _losses(self) -> dict[str, float]:
        """Means over the updates since the last evaluation; nothing if there were none."""
        losses = {name: float(total) / max(self.updates, 1) for name, total in self.tally.items()}
        if not np.isfinite(list(losses.values())).all():
            raise self._diverged(", ".join(f"{name} {value}" for name, value in losses.items()))
        return losses if self.updates else {}

    def _diverged(self, evidence: str) -> RunError:
        return RunError(
            f"the agent diverged before step {self.step} ({evidence});"
            " try a smaller --sac.learning-rate, or --sac.layer-norm features."
        )

    def _tell(self, news: str | None) -> None:
        if news is not None:
            print_warning(news)


def _on_host(policy: sac.Policy) -> sac.Policy:
    """A copy that later updates, which reuse the memory of the old networks, leave alone."""
    return jax.tree.map(np.array, policy)
