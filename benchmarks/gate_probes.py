"""What the gate measures: kernels, one text dump, one chemistry dump and reward calls, each in a second or two.

The floor of a dump or a call does what nothing can do without, by somebody else's code: orjson decodes the same
lines, RDKit parses the same molecules. A kernel's floor is a yardstick, a compiled loop over bytes that never
changes: of all that was tried it is what a crowded machine slows as it slows kernels.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numba import njit
from numpy.typing import NDArray

from benchmarks.floors import decode, rdkit_alone, write_rdkit_work
from benchmarks.gate import Probe

TEXT_RECORDS: Final = 20_000
CHEM_RECORDS: Final = 1_500


@njit
def _spell_out(text: NDArray[np.uint8], seen: NDArray[np.int64]) -> int:
    """The yardstick: a branch, a table and a product a byte. Do not change it: records rest on its time."""
    digest = 2166136261
    word = 0
    for byte in text:
        digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
        if 97 <= byte <= 122 or byte >= 128:
            word += 1
        elif word:
            seen[(digest + word) & 1023] += 1
            word = 0
    return digest


def _yardstick() -> Callable[[], int]:
    text = np.random.default_rng(0).choice(np.frombuffer(b"etaoin shrdlu, (C)=O 0123", np.uint8), 1 << 16)
    seen = np.zeros(1024, np.int64)
    return lambda: _spell_out(text, seen)


def _alignment(folder: Path) -> Probe:
    from relfast_kernels.align import align_batch

    from benchmarks.workloads_realign import matrices

    pairs, rows, columns = 200, 12, 14
    flat = matrices(pairs, rows, columns).ravel()
    sizes = np.full(pairs, rows), np.full(pairs, columns)
    cells, order = np.arange(pairs) * rows * columns, np.arange(pairs)
    return Probe(lambda: align_batch(flat, cells, *sizes, order, -0.1, 0.7), _yardstick())


def _mazes(folder: Path) -> Probe:
    from relfast_kernels.maze.plans import validate_plans

    from benchmarks.workloads_seqbench import mazes
    from relfast.seqbench import Maze
    from relfast.tasks.seqbench.actions import as_plan

    (row,) = mazes(1, 20, 20, 100, 4)
    maze, plan = Maze.from_row(row), as_plan(row["completion"])
    assert plan is not None
    kinds, arguments = maze.encode(plan)
    n = 500
    plans = np.tile(kinds, n), np.tile(arguments, n), np.arange(n + 1, dtype=np.int64) * len(plan)
    return Probe(lambda: validate_plans(maze.tables, *plans), _yardstick())


def _text_kernel(policy: str) -> Callable[[Path], Probe]:
    """Lines to rows in this process, as a worker does with a block."""

    def probe(folder: Path) -> Probe:
        from benchmarks.workloads_dumps import DUMPS
        from relfast.engine.job import Job
        from relfast.engine.scoring import Scoring
        from relfast.engine.text_fast_path import TextFastPath
        from relfast.tasks.options import AllOptions

        path = folder / f"block-{policy}.jsonl"
        DUMPS["native"].write(path, 60)
        data = path.read_bytes()
        lines = data.splitlines()
        fast_path = TextFastPath.open(Scoring(Job(options=AllOptions(policy=policy))))
        assert fast_path is not None, "the text kernels are not compiled"

        def ours() -> None:
            block = fast_path.scan(data, len(lines))
            for start, stop, slow in block.runs(0, len(lines)):
                if not slow:
                    block.rows(start, stop, 0)

        return Probe(ours, _yardstick())

    return probe


def _smiles(folder: Path) -> Probe:
    from relfast_kernels.compiled import native

    from benchmarks.workloads_rewards import motifs
    from relfast.chem.smiles_table import SmilesTable

    functions = native.load("smiles")
    assert functions is not None, "the SMILES kernels are not compiled"
    table = SmilesTable(functions)
    texts = list(dict.fromkeys(text for pair in motifs(60, 1).pairs for text in pair))
    # nothing of a text is remembered: each is read and made canonical
    return Probe(lambda: [table.code_of(text, by_rdkit=False) for text in texts], _yardstick())


def _common_substructure(folder: Path) -> Probe:
    from benchmarks.workloads_rewards import motifs
    from relfast.chem.common_substructure import largest_common

    pairs = list(dict.fromkeys(motifs(60, 1).pairs))
    return Probe(lambda: [largest_common(*pair) for pair in pairs], _yardstick())


def _reward(task: str) -> Callable[[Path], Probe]:
    def probe(folder: Path) -> Probe:
        import relfast
        from benchmarks.workloads_dumps import DUMPS

        path = folder / "reward.jsonl"
        DUMPS["native"].write(path, 200)
        rows = [row for row in map(orjson.loads, path.read_bytes().splitlines()) if row["task"] == task]
        scorer = relfast.Scorer(policy="strict")

        def ours() -> None:
            for row in rows:
                scorer.reward(row["task"], row["answer"], row["response"])

        texts = [json.dumps(row) for row in rows]
        return Probe(ours, lambda: [json.loads(text) for text in texts])

    return probe


def _score(path: Path) -> None:
    out = path.with_suffix(".rows")
    command = [
        sys.executable,
        "-m",
        "relfast",
        "score",
        path,
        "-o",
        out,
        "--overwrite",
        "-q",
        "--workers",
        "1",
    ]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)


def _text_dump(folder: Path) -> Probe:
    from benchmarks.workloads_dumps import DUMPS

    path = folder / "text.jsonl"
    DUMPS["native"].write(path, TEXT_RECORDS)
    return Probe(lambda: _score(path), lambda: decode(path), slices=5, whole=True)


def _chem_dump(folder: Path) -> Probe:
    from benchmarks import workloads_chem

    path = folder / "chem.jsonl"
    workloads_chem.write_dump(path, workloads_chem.missing_isomers(CHEM_RECORDS))
    work = write_rdkit_work(path, 1)
    return Probe(lambda: _score(path), lambda: rdkit_alone(work), slices=4, whole=True)


PROBES: Final[dict[str, Callable[[Path], Probe]]] = {
    "alignment kernel": _alignment,
    "maze kernel": _mazes,
    "text kernel": _text_kernel("reference"),
    "SMILES kernel": _smiles,
    "common substructure kernel": _common_substructure,
    "reward call, REL-A1": _reward("REL-A1"),
    "text dump": _text_dump,
    "chemistry dump": _chem_dump,
}


@contextmanager
def opened(only: str = "") -> Iterator[dict[str, Probe]]:
    """The probes whose name contains ``only``, with their files."""
    with tempfile.TemporaryDirectory() as folder:
        yield {name: make(Path(folder)) for name, make in PROBES.items() if only in name}
