"""What a cluster costs beside one machine.

``PYTHONPATH=tests python -m benchmarks.clusters`` (extra ``ray``; Linux) starts two Ray nodes of one CPU each here,
each on a core of its own, and scores the same dumps by the local engine with one worker, on the core of the first
node, and on one and two nodes. Seconds are of the clock, which mean something only where nothing else uses the cores.
Prints a table.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).resolve().parents[1] / "relfast" / "data"
STORE: Final = 300 << 20
"""Bytes of each node's object store, which nothing of ours uses."""

PART_BYTES: Final = {"text": 64 << 20, "chemistry": 2 << 20, "embeddings": 60_000}


def write_inputs(folder: Path, n_bytes: int, n_chemistry: int, n_embeddings: int) -> dict[str, Path]:
    """The dumps: text, molecules, solutions to embed."""
    from engine_runs import honest, write_dump

    from benchmarks.workloads_realign import solutions

    with gzip.open(DATA / "rel_demo.jsonl.gz") as stream:
        rows = [json.loads(line) for line in stream]
    text = [
        json.dumps({name: value for name, value in row.items() if name != "id"})[1:]
        for row in rows
        if row["task"][:5] in ("REL-A", "REL-B") or row["task"] == "REL-C1"
    ]
    paths = {name: folder / f"{name}.jsonl" for name in PART_BYTES}
    with paths["text"].open("w") as file:
        number = 0
        while file.tell() < n_bytes:
            file.write("".join(f'{{"id": {number + at}, {row}\n' for at, row in enumerate(text)))
            number += len(text)
    for name, records in (("chemistry", honest(n_chemistry, 3)), ("embeddings", solutions(n_embeddings))):
        write_dump(paths[name], ({"task": "ReAlign", **record} for record in records))
    return paths


class Nodes:
    """A cluster of nodes of one CPU, each with a core of its own where there are so many."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cores = sorted(os.sched_getaffinity(0))
        self._told = {"num_cpus": 1, "object_store_memory": STORE}
        with self._on(self._cores[:1]):
            head = {**self._told, "include_dashboard": False}
            self.cluster = Cluster(initialize_head=True, head_node_args=head)

    def add(self) -> None:
        with self._on([self._cores[1 % len(self._cores)]]):
            self.cluster.add_node(**self._told)

    @contextlib.contextmanager
    def _on(self, cores: list[int]) -> Iterator[None]:
        """What is started in here runs on these cores."""
        os.sched_setaffinity(0, cores)
        try:
            yield
        finally:
            os.sched_setaffinity(0, self._cores)

    def seconds(self, *arguments: object) -> float:
        """Those of a command of ours on the cores of the nodes."""
        command = [sys.executable, "-m", "relfast", "score", *map(str, arguments), "--overwrite", "-q"]
        began = time.perf_counter()
        with self._on(self._cores[: len(self.cluster.list_all_nodes())]):
            subprocess.run(command, check=True)
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=4.8e9, help="of text")
    parser.add_argument("--chemistry", type=int, default=720_000, help="responses")
    parser.add_argument("--embeddings", type=int, default=200, help="solutions")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(PART_BYTES), choices=list(PART_BYTES))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="relfast-clusters-") as name:
        folder = Path(name)
        paths = write_inputs(folder, int(chosen.bytes), chosen.chemistry, chosen.embeddings)
        nodes = Nodes()

        def locally(name: str) -> float:
            return nodes.seconds(paths[name], "-o", folder / "local.jsonl", "--workers", 1)

        def on_ray(name: str) -> float:
            ray = ("--engine", "ray", "--ray-address", nodes.cluster.address)
            part = ("--part-bytes", PART_BYTES[name])
            return nodes.seconds(paths[name], "-o", folder / "ray", *ray, *part)

        cells: dict[str, list[str]] = {name: [] for name in chosen.only}

        def measure(*ways: Callable[[str], Any]) -> None:
            for name, shown in cells.items():
                runs = [[way(name) for way in ways] for _ in range(chosen.rounds)]
                shown.extend(f"{statistics.median(taken):.1f} s" for taken in zip(*runs, strict=True))

        try:
            measure(locally, on_ray)
            nodes.add()
            measure(on_ray)
        finally:
            nodes.cluster.shutdown()
        print("| input | local | one node | two nodes |\n|---|---:|---:|---:|")
        print("\n".join(f"| {name} | {' | '.join(shown)} |" for name, shown in cells.items()))


if __name__ == "__main__":
    main()
