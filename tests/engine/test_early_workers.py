"""The helper that a command forks before it has read its arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from corpora import ROOT

from relfast.engine.pool import forkserver


def test_a_process_with_threads_forks_nobody() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not forkserver.prefork([])
    finally:
        done.set()
        thread.join()
    assert not forkserver._early


def test_what_an_option_is_given() -> None:
    given = ["score", "dump", "--data", "gold.jsonl", "--data=other.jsonl", "--data"]
    assert forkserver._values_of("--data", given) == ["other.jsonl", "gold.jsonl"]


_PROGRAM = """
import os, sys
from relfast.engine.pool import forkserver
from relfast.engine.job import Job
from relfast.engine.pool.pool import Pool
assert forkserver.prefork(["score", "--data", sys.argv[1]])
if sys.argv[2] == "dismissed":
    forkserver.dismiss()
else:
    workers = Pool(Job(data=(sys.argv[1],)), 3)
    while len(workers.pids()) < 3:
        pass
    assert not forkserver._early
    workers.close()
try:
    os.wait()
except ChildProcessError:
    print("done")
"""


@pytest.mark.parametrize("how", ["used", "dismissed"])
def test_a_command_forks_its_helper(how: str, tmp_path: Path) -> None:
    """Nothing is left of it in the end."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "a", "task": "REL-A1", "answer": {"target": 3}}) + "\n")
    path = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(gold), how],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
