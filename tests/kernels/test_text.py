"""`relfast_kernels.text` against its textbook twin, compiled or (NUMBA_DISABLE_JIT=1) as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import naive_text as naive
import numpy as np
import pytest
from relfast_kernels import layouts
from relfast_kernels.text.lines import scan_lines
from seeds import fresh

from relfast.stats.samples import hash_id
from relfast.tasks import TASKS

ROOT = Path(__file__).parent.parent.parent
PIECES = [
    "Answer 4", "answer #\t3", "Answer\n9", "swer 2", "Answer nine", "4", "08", "_7", "7th", "0", "<Yes>", "< no\n>", "<Yes",
    "yes", "no", "know", "\no", "Eyes", "taxon_15", "taxon 3", "TAXON\n20", "\taxon_8", "15", "3.", "–", "é5", "5é", "“6”",
    "the motif and so on", "\\", '"', "\\n4", "/", "\f", "x" * 150,
]  # fmt: skip


def lines(n: int, seed: int) -> list[bytes]:
    rng = fresh(seed)
    result = []
    for number in range(n):
        task = rng.choice(["REL-A1", "rel-a7", "REL-B1", "REL-C1"])
        answer: dict[str, object] = {"label": rng.choice(["Yes", "No"]), "molecules": ["C/C=C\\C", "[H]"]}
        if task.lower().startswith("rel-a"):
            answer = {"target": rng.randrange(8)}
        elif task == "REL-B1":
            taxa = rng.sample([3, 5, 8, 15, 20, "x", "X"], rng.randrange(5))
            answer = {"label": "yes" if taxa else "NO", "taxa": taxa}
        response = rng.choice(["", " ", "\n"]).join(rng.choices(PIECES, k=rng.randrange(7)))
        row: dict[str, object] = {"task": task, "response": response, "answer": answer}
        row["id"] = rng.choice([f"r-{number}", number, "é"])
        row["metadata"] = {"panels": [[1.5, -2e10], {}, [None, True]], "x": "\\u"}
        keys = rng.sample(list(row), len(row))
        result.append(json.dumps({key: row[key] for key in keys}, ensure_ascii=False).encode())
    return result


@pytest.mark.slow
@pytest.mark.fuzz
def test_scan_lines_is_its_twin() -> None:
    block = lines(120 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 2_000, seed=1)
    data = np.frombuffer(b"\n".join(block), np.uint8)
    found = np.zeros((len(block), layouts.LINE_COLUMNS), np.int64)
    spans = np.zeros((2, layouts.MAX_TAXA, 2), np.int64)
    with np.errstate(over="ignore"):  # hashes wrap around
        assert scan_lines(data, len(data), found, spans[0], spans[1]) == len(block)
    names = {task.text_kernel.number: name for name, task in TASKS.items() if task.text_kernel is not None}
    fast = 0
    for line, row in zip(block, found.tolist(), strict=True):
        if row[layouts.LINE_KIND] != layouts.FAST:
            continue
        fast += 1
        key = row[layouts.LINE_KEY]
        counts = [key >> shift & 255 for shift in (layouts.TP_SHIFT, layouts.PRED_SHIFT, layouts.GOLD_SHIFT)]
        bits = [bool(key & bit) for bit in (layouts.FOUND, layouts.CORRECT, layouts.GOLD_YES)]
        id_text = data[row[layouts.LINE_ID_START] : row[layouts.LINE_ID_END]].tobytes()
        assert naive.read_line(line) == (names[key & 255], *bits, *counts, id_text), line
        assert row[layouts.LINE_HASH] % 2**64 == hash_id(id_text)
    assert fast > 0.9 * len(block)


def test_ends_of_blocks() -> None:
    spans = np.zeros((2, layouts.MAX_TAXA, 2), np.int64)
    for content, kinds in (
        (b"", []),
        (b"\n", [layouts.BLANK]),
        (b"{}", [layouts.SLOW]),
        (b" \r\n{", [layouts.BLANK, layouts.SLOW]),
    ):
        data = np.frombuffer(content, np.uint8)
        found = np.zeros((4, layouts.LINE_COLUMNS), np.int64)
        n = scan_lines(data, len(data), found, spans[0], spans[1])
        assert found[:n, layouts.LINE_KIND].tolist() == kinds


@pytest.mark.compiled
@pytest.mark.slow
def test_kernels_run_as_plain_python() -> None:
    """The kernels' tests pass without the compiler too: what they compute does not hang on it."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/kernels",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-m",
        "not compiled",
    ]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
