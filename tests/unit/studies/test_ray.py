"""Ray, for real: clusters of two nodes on this machine. What is killed is done again elsewhere, to the same bits."""

import json
import os
import re
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from macura.cli.main import main
from macura.core import UserError
from macura.studies import ray as executor
from macura.studies.pool import Pool
from macura.studies.record import Record, job
from macura.studies.schedule import execute, plan

ray = executor.import_ray()
from ray.cluster_utils import Cluster as RayCluster  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves its own files and sockets open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def two_nodes(tmp_path, monkeypatch):
    """A cluster whose tasks run on two nodes of one CPU; the head has none, so that it is never the one removed."""
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    cluster = RayCluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)]
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


def test_fake_runs_finish_and_fail_as_in_the_pool(fake_work, two_nodes, jobs):
    cluster, _ = two_nodes
    todo = jobs(6)
    with executor.Cluster(cluster.address, work="fake_work:instant") as ray_cluster:
        summary = execute(plan(todo), ray_cluster)
        assert len(summary.done) == 6 and not summary.failed
        assert [len(list_) for list_ in (plan(todo).todo, plan(todo).finished)] == [0, 6]


def test_an_address_where_nobody_answers_is_one_line_in_time(monkeypatch):
    """No address, a closed port, one that is silent, one that is something else; within 15 s as it is set."""
    assert 2 * executor.PATIENCE < 15
    monkeypatch.setattr(executor, "PATIENCE", 0.5)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        for address in ("not an address", f"127.0.0.1:{port}"):
            with pytest.raises(UserError, match=r"^[^\n]*Ray cluster[^\n]*$"):
                executor.Cluster(address)
        listener.listen()
        with pytest.raises(UserError, match="timed out"):
            executor.Cluster(f"127.0.0.1:{port}")
        threading.Thread(target=answer, args=(listener, b"-ERR unknown command\r\n"), daemon=True).start()
        with pytest.raises(UserError, match="no Ray cluster"):
            executor.Cluster(f"127.0.0.1:{port}")


def test_a_cluster_that_does_not_answer_leaves_nothing_behind(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["study", "kappa", "--ray", "127.0.0.1:1", "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not out.exists()


def answer(listener, words):
    """Say the same to everyone."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with suppress(OSError), connection:
            connection.sendall(words)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_worker_and_a_removed_node_change_nothing_in_the_results(two_nodes, tmp_path):
    """Four runs; the first worker that has saved a checkpoint is killed, then a whole node is removed."""
    cluster, nodes = two_nodes
    records = [
        record("sac", 0, 3000),
        record("sac", 1, 3000),
        record("macura", 0, 240),
        record("mbpo", 0, 240),
    ]
    on_ray = [job(r, tmp_path / "ray") for r in records]
    here = [job(r, tmp_path / "pool") for r in records]
    harm = Harm(on_ray, cluster, nodes)
    with executor.Cluster(cluster.address) as ray_cluster:
        summary = execute(plan(on_ray), ray_cluster, harm)
    assert not summary.failed and len(summary.done) == 4
    assert harm.killed is not None and harm.removed
    workers = harm.killed.log.read_text().count("worker ")
    assert workers >= 2, "the killed run was begun again by another worker"
    with Pool(2) as pool:
        assert len(execute(plan(here), pool).done) == 4
    for ours, theirs in zip(on_ray, here, strict=True):
        assert what_counts(ours.folder) == what_counts(theirs.folder), ours.label


class Harm:
    """Watches a study, kills one worker, then removes one node, each in the middle of a run."""

    def __init__(self, jobs, cluster, nodes):
        self.jobs, self.cluster, self.nodes = jobs, cluster, nodes
        self.killed = None
        self.removed = False

    def __call__(self, event):
        halfway = [
            j for j in self.jobs if list((j.folder / "checkpoints").glob("[0-9]*")) and not self.finished(j)
        ]
        if self.killed is None and halfway:
            self.killed = halfway[0]
            os.kill(int(re.findall(r"worker (\d+)", self.killed.log.read_text())[-1]), signal.SIGKILL)
            self.again = time.monotonic()
        elif (
            self.killed and not self.removed and self.killed.log.read_text().count("worker ") >= 2 and halfway
        ):
            self.cluster.remove_node(self.nodes[0], allow_graceful=False)
            self.cluster.add_node(num_cpus=1)  # as a cluster manager would
            self.removed = True

    @staticmethod
    def finished(job):
        return (job.folder / "done").exists()


def record(algorithm: str, seed: int, steps: int) -> Record:
    tiny = {"env.time_limit": 50, "epoch_steps": 60, "warmup_steps": 40, "evaluation_episodes": 1}
    tiny |= {"sac.width": 16, "sac.batch_size": 32}
    if algorithm != "sac":
        tiny |= {"imagination.every": 20, "imagination.rollout.rollouts": 60, "imagination.model.members": 3}
        tiny |= {"imagination.model.width": 16, "imagination.model.hidden_layers": 1}
    return Record(algorithm, "InvertedPendulum-v5", "quick", seed, steps, tiny)


def what_counts(folder: Path) -> tuple[list[dict], bytes, bytes]:
    """Metrics without times, and both policies byte by byte."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    rows = [{name: value for name, value in row.items() if not name.startswith("time/")} for row in rows]
    return rows, (folder / "policy.safetensors").read_bytes(), (folder / "last.safetensors").read_bytes()
