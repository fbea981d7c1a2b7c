"""Inputs that would take memory or the terminal without end, and inputs and outputs that fail midway."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT
from engine_runs import honest, relfast, rows_of, scored_here, statuses, write_dump

from relfast.engine.io.reader import blocks
from relfast.engine.io.sources import find_sources
from relfast.errors import InputError, ReadError

DUMPS = ROOT / "tests" / "data" / "dumps"
LIMIT = 400 << 20
NAMES = 20_000


def _limited(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """A command that may take 400 MB."""
    return relfast(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)))


def _row(number: int, **more: Any) -> dict[str, Any]:
    row = {
        "index": number,
        "id": f"r{number}",
        "task": "REL-A1",
        "sample": 0,
        "status": "ok",
        "correct": True,
    }
    return {**row, "reward": 1.0, "metrics": {}, "error": None, **more}


@pytest.mark.slow
def test_a_molecule_that_takes_all_memory(tmp_path: Path) -> None:
    """10 million atoms: the row says why, its neighbours live."""
    large = {**honest(1)[0], "task": "REL-C2", "answer": {"smiles": "CCO"}}
    large["response"] = f"<smiles>{'C' * 10_000_000}</smiles>"
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(3), large, *honest(3)])
    scored_here(dump, tmp_path / "rows.jsonl", "--workers", 1, "--timeout", 120)
    assert [at for at, status in enumerate(statuses(tmp_path / "rows.jsonl")) if status == "crashed"] == [3]
    assert "ran out of memory" in rows_of(tmp_path / "rows.jsonl")[3]["error"]["message"]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["REL-A1", "REL-C3"])
def test_a_line_of_many_samples(task: str, tmp_path: Path) -> None:
    """A hundred thousand took 500 MB."""
    record = {"id": "r", "task": task, "answer": {"target": 3}, "response": ["Answer 3", "Answer 4"] * 50_000}
    if task == "REL-C3":
        record |= {"answer": {"missing_smiles": ["CCO"]}, "response": ["<smiles>OCC</smiles>"] * 100_000}
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(2), record, *honest(2)])
    done = _limited(dump, "-o", tmp_path / "rows.jsonl", "--workers", 0, "-q")
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["sample"] for row in rows] == [0, 0, *range(100_000), 0, 0]
    assert [row["correct"] for row in rows[2:4]] == [task == "REL-C3", True]


@pytest.mark.slow
def test_names_that_no_task_has_are_one_group(tmp_path: Path) -> None:
    """20,000 of them took gigabytes of a report, and a line each of a table; one has 2 MB."""
    names = [f"task-{number}" for number in range(NAMES)] + ["t" * 2_000_000]
    dump = write_dump(
        tmp_path / "dump.jsonl", [{**record, "task": name} for record in honest(1) for name in names]
    )
    done = relfast(dump, "-o", tmp_path / "scored.jsonl")
    assert done.returncode == 2
    assert b"(unknown)" in done.stderr
    assert len(done.stderr) < 3_000
    rows = [_row(n, task=name, metrics={f"m{n}": 1.0}) for n, name in enumerate(names)]
    a = write_dump(tmp_path / "a.jsonl", rows)
    b = write_dump(tmp_path / "b.jsonl", [{**row, "correct": False} for row in rows])
    commands: list[list[object]] = [["report", a, "-o", tmp_path / "report"], ["compare", a, b]]
    commands.append(["compare", a, b, "--metric", "nosuch"])
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "relfast", *map(str, command)],
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (2 * LIMIT, 2 * LIMIT)),
        )
        assert done.returncode == (2 if "nosuch" in command else 0), done.stderr[-500:]
        assert len(done.stdout) + len(done.stderr) < 3_000
    assert (tmp_path / "report" / "index.html").stat().st_size < 4 << 20


@pytest.mark.parametrize("seed", range(3))
def test_damaged_zip(seed: int, tmp_path: Path) -> None:
    """Whatever a ZIP's directory says: rows, or an error that names the file, and no traceback."""
    chance = random.Random(seed)
    whole = (DUMPS / "inspect.eval").read_bytes()
    directory = whole.rfind(b"PK\5\6")
    for number in range(40):
        data = bytearray(whole)
        at = chance.randrange(whole.find(b"PK\1\2"), len(whole) - 4) if number else directory + 16
        value = int.from_bytes(data[at : at + 4], "little") + chance.choice([5_000, 2**31, 2**24, 1])
        data[at : at + 4] = (value % 2**32).to_bytes(4, "little")
        path = tmp_path / f"{number}.eval"
        path.write_bytes(data)
        error = None
        try:
            (source,) = find_sources([str(path)])
            assert all(block.n_lines for block in blocks([source], 1 << 24))
        except InputError as found:
            error = found
        assert error is None or str(path) in str(error)


def test_lengths_of_a_damaged_input(tmp_path: Path) -> None:
    """What is scored is measured."""
    dump = write_dump(tmp_path / "dump.jsonl", honest(20))
    damaged = tmp_path / "dump.jsonl.gz"
    damaged.write_bytes(gzip.compress(dump.read_bytes()) + b"garbage")
    done = relfast(damaged, "-o", tmp_path / "rows.jsonl", "--lengths", "--summary", tmp_path / "s.json")
    assert done.returncode == 0, done.stderr
    tasks = json.loads((tmp_path / "s.json").read_bytes())["tasks"]
    assert len(rows_of(tmp_path / "rows.jsonl")) == 21
    assert all("lengths" in task for name, task in tasks.items() if name != "(unknown)")


def test_an_input_that_shrinks_before_it_is_read(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(50))
    sources = find_sources([str(dump)])
    os.truncate(dump, dump.stat().st_size // 2)
    with pytest.raises(ReadError, match="it shrank from"):
        list(blocks(sources, 1 << 24))


def test_an_input_of_which_no_byte_can_be_read(tmp_path: Path) -> None:
    done = relfast("/proc/self/mem", "-o", tmp_path / "rows.jsonl")
    assert done.returncode == 2
    assert done.stderr == b"relfast: /proc/self/mem: Input/output error\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_pipe_that_nobody_reads(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(1))
    os.mkfifo(tmp_path / "pipe")
    done = relfast(dump, "-o", tmp_path / "pipe", "-q")
    assert done.returncode == 1
    assert b"no process reads this pipe" in done.stderr
