"""Workers that a command forks before it has read its arguments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from corpora import ROOT

from relfast.engine.pool import early, launch, worker


def _child() -> early.Child:
    pid = os.fork()
    if not pid:
        time.sleep(600)
        os._exit(0)
    return early.Child(pid)


def test_a_forked_worker_is_waited_for_and_ended() -> None:
    child = _child()
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)
    assert child.returncode is None
    child.kill()
    assert child.wait() == -signal.SIGKILL
    child.kill()  # its number may be another process's by now
    assert child.wait(0) == child.returncode == -signal.SIGKILL


def test_where_nobody_learns_how_children_end() -> None:
    child = _child()
    os.kill(child.pid, signal.SIGKILL)
    os.waitpid(child.pid, 0)
    assert child.wait() == 0


def test_a_process_with_threads_forks_nobody() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not early.prefork(1, [])
    finally:
        done.set()
        thread.join()
    assert not launch._early


def test_gold_is_read_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "a", "task": "REL-A1", "answer": {"target": 3}}) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker, "_gold_at_hand", {})
    early._read_gold_of(["score", "dump", "--data", "gold.jsonl", "--data", str(gold)])
    early._read_gold_of(["score", "dump", "--data=none.jsonl"])
    (paths,) = worker._gold_at_hand
    assert paths == (str(gold), str(gold))
    assert list(worker._gold_at_hand[paths]) == ["a"]


def test_a_worker_sees_the_end_of_its_requests() -> None:
    """Workers that were forked after it do not have the other end of its pipe."""
    program = """
import os
from relfast.engine.pool import early, launch
assert early.prefork(3, ["score"])
for launched in list(launch._early):
    launch._early.remove(launched)
    os.close(launched.requests)
    assert launched.process.wait(120) == 0
    assert os.read(launched.answers, 1) == b""
print("done")
"""
    path = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
