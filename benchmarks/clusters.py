"""What a cluster costs beside one machine.

``PYTHONPATH=tests python -m benchmarks.clusters`` (extra ``ray``; Linux) starts two Ray nodes of one CPU each here,
the first on one core, the second on another, and scores the same dumps by the local engine, on the cores of
the nodes and with as many workers, and on the cluster, in turn. Seconds are of CPU, of all processes of a run,
and of the clock, which mean something only where nothing else uses the cores. Prints a table.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psutil

DATA: Final = Path(__file__).resolve().parents[1] / "relfast" / "data"
STORE: Final = 300 << 20
"""Bytes of each node's object store, which nothing of ours uses."""

Json = dict[str, Any]
Spent = dict[tuple[int, float], float]


PART_BYTES: Final = {
    "small text": 64 << 20,
    "text": 64 << 20,
    "small chemistry": 2 << 20,
    "chemistry": 2 << 20,
    "embeddings": 60_000,
}
ROUNDS: Final = {"small text": 3, "text": 2, "small chemistry": 3, "chemistry": 1, "embeddings": 1}


def write_inputs(folder: Path, n_bytes: int, n_chemistry: int, n_embeddings: int) -> dict[str, Path]:
    """The dumps: text and molecules of two sizes each, solutions to embed."""
    from engine_runs import honest

    from benchmarks.workloads_realign import solutions

    with gzip.open(DATA / "rel_demo.jsonl.gz") as stream:
        rows = [json.loads(line) for line in stream]
    text = [
        json.dumps({name: value for name, value in row.items() if name != "id"})[1:]
        for row in rows
        if row["task"][:5] in ("REL-A", "REL-B") or row["task"] == "REL-C1"
    ]
    paths = {name: folder / f"{name.replace(' ', '_')}.jsonl" for name in PART_BYTES}
    for name, size in (("small text", n_bytes // 8), ("text", n_bytes)):
        with paths[name].open("w") as file:
            number = 0
            while file.tell() < size:
                file.write("".join(f'{{"id": {number + at}, {row}\n' for at, row in enumerate(text)))
                number += len(text)
    tables = {
        "small chemistry": honest(n_chemistry // 6, 3),
        "chemistry": honest(n_chemistry, 3),
        "embeddings": solutions(n_embeddings),
    }
    for name, records in tables.items():
        with paths[name].open("w") as file:
            for record in records:
                task = {} if "task" in record else {"task": "ReAlign"}
                file.write(json.dumps({**task, **record}) + "\n")
    return paths


class Nodes:
    """A cluster of nodes of one CPU, each with a core of its own where there are so many."""

    def __init__(self, shared: Path) -> None:
        from ray.cluster_utils import Cluster

        # who holds an embedding model is found by it
        os.environ["RELFAST_EMBED_SHARED"] = self._shared = str(shared)
        self._cores = sorted(os.sched_getaffinity(0))
        self._pin(0)
        told = {"num_cpus": 1, "object_store_memory": STORE}
        self.cluster = Cluster(initialize_head=True, head_node_args={**told, "include_dashboard": False})
        self._told = told
        self._pin(None)

    def add(self) -> None:
        self._pin(len(self.cluster.list_all_nodes()))
        self.cluster.add_node(**self._told)
        self._pin(None)

    def end_hosts(self) -> None:
        """End who holds an embedding model, for the next run to pay for its own."""
        for process in psutil.process_iter(["cmdline"]):
            if any(word.startswith(self._shared) for word in process.info["cmdline"] or []):
                process.kill()

    def _pin(self, node: int | None) -> None:
        # what a node starts inherits it
        cores = self._cores if node is None else [self._cores[node % len(self._cores)]]
        os.sched_setaffinity(0, cores)

    @contextlib.contextmanager
    def on_its_cores(self) -> Iterator[None]:
        """What is started in here runs on the cores of the nodes."""
        os.sched_setaffinity(0, self._cores[: len(self.cluster.list_all_nodes())])
        try:
            yield
        finally:
            self._pin(None)

    def cpu(self) -> list[Spent]:
        """CPU seconds so far of what lives on each node."""
        return [_spent(pid) for pid in self._raylets()]

    def _raylets(self) -> list[int]:
        return [node.all_processes["raylet"][0].process.pid for node in self.cluster.list_all_nodes()]

    def parts(self) -> tuple[float, float]:
        """CPU seconds of actors themselves, and of their worker processes."""
        own = below = 0.0
        for raylet in self._raylets():
            for process in psutil.Process(raylet).children(recursive=True):
                try:
                    if "PartWorker" in " ".join(process.cmdline()):
                        times = process.cpu_times()
                        mine = times.user + times.system
                        own += mine
                        below += sum(_spent(process.pid).values()) - mine
                except psutil.NoSuchProcess:
                    continue
        return own, below


def _spent(root: int) -> Spent:
    """CPU seconds by process of a tree, and of what it has waited for; but what the root has waited for was of
    other runs."""
    found: Spent = {}
    for process in [psutil.Process(root), *psutil.Process(root).children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            below = 0.0 if process.pid == root else times.children_user + times.children_system
            found[process.pid, process.create_time()] = times.user + times.system + below
    return found


def _since(before: Spent, after: Spent) -> float:
    return sum(seconds - before.get(process, 0.0) for process, seconds in after.items())


def locally(path: Path, folder: Path, nodes: Nodes, workers: int) -> Json:
    """One run by the local engine, as a command."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "relfast", "score", str(path), "-o", str(folder / "local.jsonl")]
    alone = {name: value for name, value in os.environ.items() if name != "RELFAST_EMBED_SHARED"}
    with nodes.on_its_cores(), _children() as spent:
        subprocess.run([*command, "--overwrite", "-q", "--workers", str(workers)], check=True, env=alone)
    return {"wall": time.perf_counter() - began, "cpu": spent[0]}


@contextlib.contextmanager
def _children() -> Iterator[list[float]]:
    """CPU seconds of the children that end in the context; there when it is left."""
    before, spent = resource.getrusage(resource.RUSAGE_CHILDREN), [0.0]
    yield spent
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent[0] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


_DRIVER: Final = """
import gc, sys
from relfast.__main__ import COLLECT_AFTER
gc.set_threshold(COLLECT_AFTER)
from relfast.distributed.run import score_on_ray
from relfast.engine.job import make_job
path, output, address, part_bytes = sys.argv[1:]
seen = [False]
def progress(state):
    done = state.done_bytes >= state.total_bytes
    if done or (state.rows and not seen[0]):
        seen[0] = True
        print(int(done), flush=True)
        if done:
            sys.stdin.readline()
score_on_ray([path], output, make_job(), address=address, overwrite=True, part_bytes=int(part_bytes), progress=progress)
"""

_EMPTY: Final = """
import gc, sys
gc.set_threshold(50_000)
import ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
class Nothing:
    def hello(self): pass
ray.get(ray.remote(Nothing).options(num_cpus=1).remote().hello.remote())
print(1, flush=True)
sys.stdin.readline()
"""


def on_ray(path: Path, folder: Path, nodes: Nodes, part_bytes: int) -> Json:
    """One run on the cluster by a driver of its own."""
    told = [str(path), str(folder / "ray"), nodes.cluster.address, str(part_bytes)]
    run = _driven([sys.executable, "-c", _DRIVER, *told], nodes)
    nodes.end_hosts()
    return {**run, "parts": len(list((folder / "ray").glob("part-*")))}


def nothing(nodes: Nodes) -> Json:
    """What Ray itself takes for a driver and an actor that does nothing."""
    return _driven([sys.executable, "-c", _EMPTY, nodes.cluster.address], nodes)


def _driven(command: list[str], nodes: Nodes) -> Json:
    """CPU of nodes is as it is when the last part is in."""
    before, began, first = nodes.cpu(), time.perf_counter(), 0.0
    with nodes.on_its_cores(), _children() as driver_cpu:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdin is not None
            assert driver.stdout is not None
            asked = 0.0
            for line in driver.stdout:
                first = first or time.perf_counter() - began
                if int(line):
                    # the driver waits: a process that is gone with it could not be asked any more
                    asking = time.perf_counter()
                    after, (actors, workers) = nodes.cpu(), nodes.parts()
                    asked = time.perf_counter() - asking
                    driver.stdin.write("\n")
                    driver.stdin.flush()
        if driver.returncode:
            raise SystemExit(f"the driver left with {driver.returncode}")
    each = [_since(a, b) for a, b in zip(before, after, strict=True)]
    return {
        "wall": time.perf_counter() - began - asked,
        "first": first,
        "cpu": sum(each) + driver_cpu[0],
        "nodes": each,
        "driver": driver_cpu[0],
        "actors": actors,
        "workers": workers,
    }


def median(runs: list[Json], name: str) -> float:
    return float(statistics.median(run[name] for run in runs))


def ratios(runs: dict[str, list[Json]]) -> list[str]:
    """Rows of a table: seconds of CPU and of the clock, medians, and how many times those of one machine."""
    lines = [
        "| input | local CPU, clock | one node CPU, clock | two nodes CPU, clock | scaling by clock | by clock from first rows |",
        "|---|---|---|---|---|---|",
    ]
    for name in PART_BYTES:
        if f"{name} 1" not in runs:
            continue
        local, one, two = (runs.get(f"{name} {kind}", []) for kind in ("local", "1", "2"))
        cells = [f"{median(local, 'cpu'):.2f} s, {median(local, 'wall'):.2f} s"]
        for some in (one, two):
            told = [
                f"{median(some, key):.2f} s ({median(some, key) / median(local, key):.2f} ×)"
                for key in ("cpu", "wall")
                if some
            ]
            # the clock of two nodes is no overhead
            cells.append(
                ", ".join(told) if some is one else ", ".join(text.partition(" (")[0] for text in told)
            )
        if two:
            cells.append(f"{median(one, 'wall') / median(two, 'wall'):.2f} ×")
            rest = [statistics.median(run["wall"] - run["first"] for run in some) for some in (one, two)]
            cells.append(f"{rest[0] / rest[1]:.2f} ×")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=4.8e9, help="of text; the small one has an eighth")
    parser.add_argument("--chemistry", type=int, default=720_000, help="responses; the small one has a sixth")
    parser.add_argument("--embeddings", type=int, default=200, help="solutions")
    parser.add_argument("--rounds", type=int, default=1, help="times what they are")
    parser.add_argument("--only", nargs="*", default=list(PART_BYTES), choices=list(PART_BYTES))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="relfast-clusters-") as name:
        folder = Path(name)
        paths = write_inputs(folder, int(chosen.bytes), chosen.chemistry, chosen.embeddings)
        nodes = Nodes(folder / "s")
        runs: dict[str, list[Json]] = {}

        def note(name: str, run: Json) -> None:
            runs.setdefault(name, []).append(run)
            print(f"{name}: {json.dumps(run)}", file=sys.stderr)

        try:
            for n_nodes in (1, 2):
                for name in [name for name in PART_BYTES if name in chosen.only]:
                    for _ in range(chosen.rounds * ROUNDS[name]):
                        if n_nodes == 1:
                            note(f"{name} local", locally(paths[name], folder, nodes, 1))
                        note(f"{name} {n_nodes}", on_ray(paths[name], folder, nodes, PART_BYTES[name]))
                if n_nodes == 1:
                    for _ in range(2):
                        note("an empty actor", nothing(nodes))
                    nodes.add()
        finally:
            nodes.cluster.shutdown()
        print("\n".join(ratios(runs)))
        empty = runs["an empty actor"]
        print(
            f"Ray with an empty actor: {median(empty, 'cpu'):.2f} s of CPU, {median(empty, 'first'):.2f} s by the clock"
        )


if __name__ == "__main__":
    main()
