"""What a short run loads, and how it ends: both are most of its time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOT_NEEDED = {
    "hashlib",  # loads OpenSSL
    "html",
    "multiprocessing",
    "numba",
    "numpy",
    "rich",
    "socket",
    "zipfile",
    "relfast.cli.table",
    "relfast.engine.text_fast_path",
    "relfast.stats.lengths",
    "relfast.tasks.display",
    "relfast.tasks.modules",
    "relfast.tasks.rel_c.parameters",
    "relfast.tasks.seqbench.parameters",
    "relfast_kernels.compiled.native",
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    row = {"id": "a", "task": "REL-A1", "answer": {"target": 1}, "response": "Answer 2"}
    path.write_text(json.dumps(row) + "\n", "utf-8")
    return path


def score(dump: Path, *options: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *python, "-m", "relfast", "score", str(dump), "--workers", "1", *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_few_runs_need_is_not_loaded(dump: Path) -> None:
    done = score(dump, "-q", python=("-X", "importtime"))
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "relfast.engine.file_run.run" in loaded
    assert not loaded & NOT_NEEDED


def test_all_is_told_before_the_process_ends(dump: Path) -> None:
    """Exit code, table and rows, though nothing is taken apart."""
    done = score(dump, "-o", "-")
    assert (done.returncode, json.loads(done.stdout)["correct"]) == (0, True)
    assert "REL-A1" in done.stderr
    dump.write_text("{}\n", "utf-8")
    assert score(dump, "-q").returncode == 2
