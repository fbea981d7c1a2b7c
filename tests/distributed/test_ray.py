"""Runs on a real Ray cluster of two nodes on this machine. `make test-ray`."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from corpora import ROOT, naughty_strings, solutions
from engine_runs import HANG, OUT_OF_MEMORY, honest, rows_in, write_dump
from engine_runs import told as summary_of
from mutations import mutated_line, real_lines
from processes import until

from relfast.engine.files.score_files import score_files
from relfast.engine.job import make_job
from relfast.errors import UsageError

ray = pytest.importorskip("ray")

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]

# long enough for what ends its worker after half a second of work, on a busy machine, too
JOB = make_job(timeout=8)
PART_BYTES = 400_000


class Nodes:
    """A cluster of two nodes of one CPU each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        told = {"num_cpus": 1, "object_store_memory": 80 << 20}
        self.cluster = Cluster(initialize_head=True, head_node_args={**told, "include_dashboard": False})
        self._told = told
        self.other: Any = None
        self.add()

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self) -> None:
        self.other = self.cluster.add_node(**self._told)

    def remove(self) -> None:
        """Kill the second node and all that runs on it."""
        self.cluster.remove_node(self.other, allow_graceful=False)

    def busy(self) -> list[psutil.Process]:
        """Processes that do tasks of ours, on either node."""
        found = []
        for raylet in [node.all_processes["raylet"][0].process for node in self.cluster.list_all_nodes()]:
            for child in psutil.Process(raylet.pid).children(recursive=True):
                try:
                    if "ray::relfast" in " ".join(child.cmdline()):
                        found.append(child)
                except psutil.NoSuchProcess:
                    continue
        return found


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = Nodes()
        yield cluster
        ray.shutdown()
        cluster.cluster.shutdown()


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50,000 mixed and hostile records, among them some that hang and some that end their workers."""
    folder = tmp_path_factory.mktemp("dumps")
    rng, real = random.Random(18), real_lines(8)
    records, naughty = honest(2_000, 1), naughty_strings()
    for name, n in (("a.jsonl", 30_000), ("b.jsonl", 20_000)):
        with (folder / name).open("wb") as file:
            for number in range(n):
                chance = rng.random()
                record = {**rng.choice(records), "id": f"{name}{number}"}
                if number == n // 5:
                    file.write(json.dumps({"id": number, **HANG}).encode())
                elif number == n // 3:
                    file.write(json.dumps({"id": number, **OUT_OF_MEMORY}).encode())
                elif chance < 0.6:
                    file.write(mutated_line(rng, real))
                elif chance < 0.9:
                    file.write(json.dumps(record).encode())
                elif chance < 0.97:
                    file.write(json.dumps({**record, "response": rng.choice(naughty)}).encode())
                elif chance < 0.99:
                    file.write(b"{torn")
                file.write(b"\n")
    return folder


@pytest.fixture(scope="module")
def expected(dumps: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    """Rows and summary of one machine."""
    output = tmp_path_factory.mktemp("local") / "rows.jsonl"
    summary = score_files([str(dumps)], str(output), JOB, workers=2)
    rows = output.read_bytes()
    assert summary.count("timeout") == 2
    assert summary.count("crashed") == 2
    return rows, summary_of(summary.to_dict())


def score(nodes: Nodes, dumps: Path, output: Path, **more: Any) -> dict[str, Any]:
    from relfast.distributed import score_on_ray

    summary = score_on_ray(
        [str(dumps)], str(output), JOB, address=nodes.address, part_bytes=PART_BYTES, **more
    )
    return summary_of(summary.to_dict())


def test_rows_and_summary_are_those_of_one_machine(
    nodes: Nodes, dumps: Path, expected: tuple[bytes, dict[str, Any]], tmp_path: Path
) -> None:
    given = score(nodes, dumps, tmp_path / "out")
    assert rows_in(tmp_path / "out") == expected[0]
    assert given == expected[1]


def test_embedded_rows_are_those_of_one_machine(nodes: Nodes, tmp_path: Path) -> None:
    from relfast.embed.models import known_models

    if "minilm" not in {model.name for model in known_models()}:
        pytest.skip("needs MiniLM")
    dump = tmp_path / "dump.jsonl"
    write_dump(dump, [{"task": "ReAlign", **row} for row in solutions()[:30]])
    job = make_job(embedder="minilm")
    local = score_files([str(dump)], str(tmp_path / "local.jsonl"), job, workers=1)
    from relfast.distributed import score_on_ray

    given = score_on_ray([str(dump)], str(tmp_path / "out"), job, address=nodes.address, part_bytes=20_000)
    assert rows_in(tmp_path / "out") == (tmp_path / "local.jsonl").read_bytes()
    assert summary_of(given.to_dict()) == summary_of(local.to_dict())
    assert len(given.tasks) == 1


@pytest.mark.slow
@pytest.mark.parametrize("what", ["processes", "a node"])
def test_what_is_killed_on_the_way_costs_no_rows(
    what: str, nodes: Nodes, dumps: Path, expected: tuple[bytes, dict[str, Any]], tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(state: Any) -> None:
        if state.rows <= 5_000 * (1 + len(killed)):
            return
        if what == "processes" and len(killed) < 3:
            victim = random.Random(len(killed)).choice(nodes.busy())
            victim.kill()
            killed.append(victim.pid)
        elif not killed:
            killed.append(0)
            nodes.remove()

    try:
        given = score(nodes, dumps, tmp_path / "out", progress=kill)
    finally:
        if what == "a node":
            nodes.add()
    assert len(killed) == (3 if what == "processes" else 1)
    assert rows_in(tmp_path / "out") == expected[0]
    assert given == expected[1]


@pytest.mark.slow
def test_the_driver_killed_and_resumed(
    nodes: Nodes, dumps: Path, expected: tuple[bytes, dict[str, Any]], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    command = [sys.executable, "-m", "relfast", "score", str(dumps), "-o", str(output), "--timeout", "8"]
    command += ["--engine", "ray", "--ray-address", nodes.address, "--part-bytes", str(PART_BYTES)]
    summary = tmp_path / "summary.json"
    with subprocess.Popen([*command, "-q"], cwd=ROOT, start_new_session=True) as driver:
        until(lambda: len(list(output.glob("_parts/*"))) >= 3, "three parts")
        os.killpg(driver.pid, signal.SIGKILL)
    # Ray ends what a driver that is gone has asked for
    until(lambda: not nodes.busy(), "the end of the tasks")
    whole = {path.name: path.stat().st_mtime_ns for path in output.glob("part-*.jsonl")}
    notes = {f"part-{path.stem}.jsonl" for path in output.glob("_parts/*.json")}
    assert not (output / "manifest.json").exists()
    done = subprocess.run(
        [*command, "--resume", "--summary", str(summary)], cwd=ROOT, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert rows_in(output) == expected[0]
    assert summary_of(json.loads(summary.read_bytes())) == expected[1]
    for name in notes:
        assert (output / name).stat().st_mtime_ns == whole[name], "scored again"
    assert not list(output.glob(".*.part*"))


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "by environment"])
def test_a_cluster_that_is_not_there(address: str, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "a.jsonl", honest(2))
    command = [sys.executable, "-m", "relfast", "score", str(dump), "--engine", "ray"]
    environment = dict(os.environ)
    if address == "by environment":
        address = environment["RAY_ADDRESS"] = "127.0.0.1:9"
    else:
        command += ["--ray-address", address]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2, done.stderr
    assert f"no Ray cluster at {address}: Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"], (
        "the wrong command leaves nothing behind"
    )


def test_more_workers_than_any_node_has_cpus(nodes: Nodes, tmp_path: Path) -> None:
    from relfast.distributed import score_on_ray

    dump = write_dump(tmp_path / "a.jsonl", honest(2))
    with pytest.raises(UsageError, match=r"no node has 3 CPUs for a part .*; the largest has 1"):
        score_on_ray([str(dump)], str(tmp_path / "out"), JOB, address=nodes.address, workers=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_ends_its_tasks_and_says_how_to_go_on(
    how: signal.Signals, nodes: Nodes, tmp_path: Path
) -> None:
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    write_dump(dumps / "a.jsonl", honest(500))
    # so that it is not over before it is interrupted
    write_dump(dumps / "b.jsonl", [{"id": "hangs", **HANG}])
    output = tmp_path / "out"
    command = [sys.executable, "-m", "relfast", "score", str(dumps), "-o", str(output), "-q"]
    command += ["--timeout", "600", "--engine", "ray", "--ray-address", nodes.address]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as driver:
        until(lambda: len(list(output.glob("_parts/*.json"))) == 1, "the first part")
        driver.send_signal(how)
        said = driver.communicate(timeout=60)[1]
    assert driver.returncode == 128 + how, said
    # whether the driver has heard of the first part by then is left open
    assert re.search(rf"relfast: {how.name} after (500|0) rows; the same command with --resume", said)
    assert "Traceback" not in said
    until(lambda: not nodes.busy(), "the end of the tasks")
    assert len(rows_in(output).splitlines()) == 500
    assert not [path for path in output.iterdir() if path.name.startswith(".") and path.name != ".lock"]
    assert not (output / "manifest.json").exists()
    other = subprocess.run(
        [*command, "--resume", "--policy", "strict"], cwd=ROOT, capture_output=True, text=True
    )
    assert other.returncode == 1
    assert "policy was reference and is strict" in other.stderr


def test_ray_scorer_in_ray_data(nodes: Nodes) -> None:
    import relfast
    from relfast.distributed import RayScorer

    records = [{**record, "answer": json.dumps(record["answer"])} for record in honest(60, 4)]
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    try:
        assert RayScorer.ray_options() == {"num_cpus": 1, "concurrency": (1, 1)}, "no node has a CPU to spare"
        given = ray.data.from_items(records).map_batches(
            RayScorer, fn_constructor_kwargs={"policy": "strict"}, batch_size=16, num_cpus=1, concurrency=1
        )
        rows = {row["id"]: row for row in given.take_all()}
    finally:
        ray.shutdown()
    expected = relfast.score(records, policy="strict")
    assert [rows[score.id]["status"] for score in expected] == [score.status for score in expected]
    assert [rows[score.id]["reward"] for score in expected] == [score.reward for score in expected]
