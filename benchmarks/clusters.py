"""What a cluster costs beside one machine, and the constants of the model of many nodes.

``PYTHONPATH=tests python -m benchmarks.clusters`` (extra ``ray``; Linux) starts two Ray nodes of one CPU each here, the
first on one core, the second on another, and scores the same dumps by the local engine and on the cluster, in
turn. Seconds are of CPU, of all processes of a run; `scaling` is of walls as well, which mean something only
where nobody else uses the cores. Prints JSON, and the model's table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any, Final

import psutil

DATA: Final = Path(__file__).resolve().parents[1] / "relfast" / "data"
STORE: Final = 300 << 20
"""Bytes of each node's object store, which nothing of ours uses."""

CORES_OF_NODE: Final = 16
_ROWS: Final = 200_000
NODES: Final = (1, 2, 4, 8, 16, 32, 64)

Json = dict[str, Any]


def write_inputs(folder: Path, n_bytes: int, n_chemistry: int, n_embeddings: int) -> dict[str, Path]:
    """The dumps: text of two sizes, molecules, solutions to embed."""
    from engine_runs import honest

    from benchmarks.workloads_realign import solutions

    with gzip.open(DATA / "rel_demo.jsonl.gz") as stream:
        rows = [json.loads(line) for line in stream]
    text = [row for row in rows if row["task"][:5] in ("REL-A", "REL-B") or row["task"] == "REL-C1"]
    paths = {name: folder / f"{name}.jsonl" for name in ("small", "text", "chemistry", "embeddings")}
    for name, size in (("small", n_bytes // 4), ("text", n_bytes)):
        with paths[name].open("w") as file:
            number = 0
            while file.tell() < size:
                for row in text:
                    file.write(json.dumps({**row, "id": number}) + "\n")
                    number += 1
    for name, records in (("chemistry", honest(n_chemistry, 3)), ("embeddings", solutions(n_embeddings))):
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

    def cpu(self) -> list[float]:
        """CPU seconds of each node so far, of what it started and of what that has."""
        return [_tree(node.all_processes["raylet"][0].process.pid) for node in self.cluster.list_all_nodes()]

    def parts(self) -> tuple[float, float]:
        """CPU seconds of actors themselves, and of their worker processes."""
        own = below = 0.0
        for node in self.cluster.list_all_nodes():
            for process in psutil.Process(node.all_processes["raylet"][0].process.pid).children(
                recursive=True
            ):
                try:
                    if "PartWorker" in " ".join(process.cmdline()):
                        times = process.cpu_times()
                        mine = times.user + times.system
                        own += mine
                        below += _tree(process.pid) - mine
                except psutil.NoSuchProcess:
                    continue
        return own, below


def _tree(pid: int) -> float:
    total = 0.0
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return total
    for process in processes:
        try:
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
        except psutil.NoSuchProcess:
            continue
    return total


def locally(path: Path, folder: Path, workers: int) -> Json:
    """One run by the local engine, as a command."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "relfast", "score", str(path), "-o", str(folder / "local.jsonl")]
    alone = {name: value for name, value in os.environ.items() if name != "RELFAST_EMBED_SHARED"}
    subprocess.run([*command, "--overwrite", "-q", "--workers", str(workers)], check=True, env=alone)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": time.perf_counter() - began, "cpu": spent}


_DRIVER: Final = """
import json, sys, time
from relfast.distributed.run import score_on_ray
from relfast.engine.job import make_job
path, output, address, part_bytes = sys.argv[1:]
told = []
def progress(state):
    print(json.dumps([state.rows, time.process_time()]), flush=True)
    sys.stdin.readline()
summary = score_on_ray([path], output, make_job(), address=address, overwrite=True, part_bytes=int(part_bytes), progress=progress)
"""


def on_ray(path: Path, folder: Path, nodes: Nodes, part_bytes: int) -> Json:
    """One run on the cluster by a driver of its own; CPU as it is when the last part is in."""
    before, began = nodes.cpu(), time.perf_counter()
    command = [sys.executable, "-c", _DRIVER, str(path), str(folder / "ray"), nodes.cluster.address]
    with subprocess.Popen(
        [*command, str(part_bytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        first = 0.0
        for line in driver.stdout:
            rows, driver_cpu = json.loads(line)
            if rows and not first:
                first = time.perf_counter() - began
            # the driver waits: whoever is gone with it could not be asked any more
            last = (time.perf_counter() - began, nodes.cpu(), nodes.parts(), driver_cpu)
            driver.stdin.write("\n")
            driver.stdin.flush()
    nodes.end_hosts()
    wall, after, (actors, workers), driver_cpu = last
    each = [b - a for a, b in zip(before, after, strict=True)]
    parts = len(list((folder / "ray").glob("part-*")))
    return {
        "wall": wall,
        "first": first,
        "cpu": sum(each) + driver_cpu,
        "nodes": each,
        "driver": driver_cpu,
        "actors": actors,
        "workers": workers,
        "parts": parts,
    }


def median(runs: list[Json], name: str) -> float:
    return float(statistics.median(run[name] for run in runs))


def constants(paths: dict[str, Path], folder: Path, nodes: Nodes) -> Json:
    """What the model is made of; see `table`."""
    from relfast.distributed.part_scoring import Done
    from relfast.distributed.parts import chunks_of, find_inputs, measure
    from relfast.engine.job import make_job
    from relfast.records import Score
    from relfast.stats.samples import SAMPLE
    from relfast.stats.summary import summarize
    from relfast.stats.tally import Tally

    job = make_job()
    chunks = chunks_of(find_inputs([str(paths["text"])]))
    parts = [part for chunk in chunks for part in measure(chunk, job)]  # the file is in memory after this
    began = time.process_time()
    for chunk in chunks:
        measure(chunk, job)
    counting = time.process_time() - began
    done = Done(parts[0], 1, 1, Tally(), 1)
    frozen = pickle.dumps(done)
    tracemalloc.start()
    held = [pickle.loads(frozen) for _ in range(1_000)]
    memory = tracemalloc.get_traced_memory()[0] / len(held)
    tracemalloc.stop()
    tally = Tally.of([Score(at, at, "REL-A1", 0, "ok", True, 1.0, {}) for at in range(_ROWS)])
    frozen = pickle.dumps(tally)
    steps = [time.process_time()]
    merged = Tally()
    merged.merge(pickle.loads(frozen))
    steps.append(time.process_time())
    summarize(merged, "")
    steps.append(time.process_time())
    small = [on_ray(paths["chemistry"], folder, nodes, size) for size in (8 << 20, 16 << 10)]
    per_part = (small[1]["driver"] - small[0]["driver"]) / (small[1]["parts"] - small[0]["parts"])
    return {
        "counted_bytes_s": paths["text"].stat().st_size / counting,
        "driver_s_part": per_part,
        "driver_s_row": (steps[1] - steps[0]) / _ROWS,
        "summary_s_row": (steps[2] - steps[1]) / _ROWS,
        "driver_bytes_part": memory,
        "driver_bytes_row": SAMPLE.size,
        "parts_s_seen": small[1]["parts"] / (small[1]["wall"] - small[1]["first"]),
    }


def table(told: Json, part_bytes: int) -> list[str]:
    """Responses a second of 1 to 64 nodes, and what ends it: an extrapolation from the constants."""
    lines = [
        "| nodes | text, responses/s | limit | bytes/s read | chemistry, responses/s | limit |",
        "|---|---|---|---|---|---|",
    ]
    for n in NODES:
        cells = []
        for name in ("text", "chemistry"):
            rows_of_part = part_bytes / told[f"{name}_bytes_row"]
            of_cores = n * CORES_OF_NODE * told[f"{name}_rows_s_core"]
            of_driver = 1 / (told["driver_s_part"] / rows_of_part + told["driver_s_row"])
            rate = min(of_cores, of_driver)
            cells += [f"{rate:,.0f}", "cores" if rate == of_cores else "driver"]
            if name == "text":
                cells.append(f"{2 * rate * told['text_bytes_row'] / 1e9:.0f} GB")  # counted and scored
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=1.2e9, help="of text")
    parser.add_argument("--chemistry", type=int, default=120_000, help="responses")
    parser.add_argument("--embeddings", type=int, default=100, help="solutions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=["text", "chemistry", "embeddings"])
    parser.add_argument("--part-bytes", type=int, default=64 << 20, help="of text")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="relfast-clusters-") as name:
        folder = Path(name)
        paths = write_inputs(folder, int(chosen.bytes), chosen.chemistry, chosen.embeddings)
        sizes = {
            "small": chosen.part_bytes,
            "text": chosen.part_bytes,
            "chemistry": 2 << 20,
            "embeddings": 60_000,
        }
        wanted = [
            name for name in paths if name in chosen.only or (name == "small" and "text" in chosen.only)
        ]
        nodes = Nodes(folder / "s")
        runs: dict[str, list[Json]] = {}
        try:
            for n_nodes in (1, 2):
                for _ in range(chosen.rounds):
                    for name in wanted:
                        runs.setdefault(f"{name} local", []).append(locally(paths[name], folder, n_nodes))
                        told = on_ray(paths[name], folder, nodes, sizes[name])
                        runs.setdefault(f"{name} {n_nodes}", []).append(told)
                        print(f"{name} {n_nodes}: {runs[f'{name} local'][-1]} {told}", file=sys.stderr)
                if n_nodes == 1:
                    found = constants(paths, folder, nodes)
                    nodes.add()
        finally:
            nodes.cluster.shutdown()
        report(runs, found, paths, chosen.part_bytes)


def report(runs: dict[str, list[Json]], found: Json, paths: dict[str, Path], part_bytes: int) -> None:
    """Ratios, scaling, constants and the model's table, on stdout."""
    n_rows = {name: path.read_bytes().count(b"\n") for name, path in paths.items()}
    for name in paths:
        if f"{name} 1" not in runs:
            continue
        local, one, two = (runs[f"{name} {kind}"] for kind in ("local", "1", "2"))
        cpu = median(local, "cpu")
        busiest = statistics.median(max(run["nodes"]) for run in two)
        print(
            f"{name}: local {cpu:.2f} s; one node {median(one, 'cpu'):.2f} ({median(one, 'cpu') / cpu:.2f} ×);"
            f" two {median(two, 'cpu'):.2f} ({median(two, 'cpu') / cpu:.2f} ×);"
            f" scaling by wall {min(run['wall'] for run in one) / min(run['wall'] for run in two):.2f} ×, by wall"
            f" from the first rows {min(r['wall'] - r['first'] for r in one) / min(r['wall'] - r['first'] for r in two):.2f} ×,"
            f" by the CPU of the busiest node {statistics.median(run['nodes'][0] for run in one) / busiest:.2f} ×"
        )
    if "text 1" in runs and "chemistry 1" in runs:
        grown = paths["text"].stat().st_size - paths["small"].stat().st_size
        for kind in ("local", "1"):
            spent = median(runs[f"text {kind}"], "cpu") - median(runs[f"small {kind}"], "cpu")
            found[f"text_bytes_s_core {kind}"] = grown / spent
        for part in ("actors", "workers"):
            spent = median(runs["text 1"], part) - median(runs["small 1"], part)
            found[f"text_bytes_s_{part}"] = grown / spent
        found["text_bytes_row"] = paths["text"].stat().st_size / n_rows["text"]
        found["text_rows_s_core"] = found["text_bytes_s_core 1"] / found["text_bytes_row"]
        found["chemistry_bytes_row"] = paths["chemistry"].stat().st_size / n_rows["chemistry"]
        found["chemistry_rows_s_core"] = n_rows["chemistry"] / (
            median(runs["chemistry 1"], "actors") + median(runs["chemistry 1"], "workers")
        )
        print(json.dumps(found, indent=1))
        print("\n".join(table(found, 64 << 20)))


if __name__ == "__main__":
    main()
