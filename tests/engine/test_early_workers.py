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

from relfast.engine.pool import early, early_helper, launch, worker


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
    child.kill()  # its number may be somebody else's by now
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
    early_helper._read_gold_of(["score", "dump", "--data", "gold.jsonl", "--data", str(gold)])
    early_helper._read_gold_of(["score", "dump", "--data=none.jsonl"])
    (paths,) = worker._gold_at_hand
    assert paths == (str(gold), str(gold))
    assert list(worker._gold_at_hand[paths]) == ["a"]


def run(program: str) -> None:
    """Run a program as a command would be, which ends by saying that it is done."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_workers_become_children_of_the_command() -> None:
    """The helper that forked them is gone, and nobody else's orphans are adopted from then on."""
    run("""
import ctypes, os, psutil
from relfast.engine.pool import early, launch
assert early.prefork(2, ["score"])
pids = [launched.process.pid for launched in launch._early]
assert sorted(child.pid for child in psutil.Process().children()) == sorted(pids)
wanted = ctypes.c_int(1)
ctypes.CDLL(None).prctl(37, ctypes.byref(wanted), 0, 0, 0)
assert wanted.value == 0
launch.dismiss()
assert not psutil.Process().children()
print("done")
""")


def test_workers_that_are_dismissed_before_they_are_there() -> None:
    run("""
import psutil
from relfast.engine.pool import early, launch
assert early.prefork(3, ["score"])
launch.dismiss()
assert not psutil.Process().children(recursive=True)
print("done")
""")


def test_a_helper_that_is_killed() -> None:
    """Workers that it was to fork are started."""
    run("""
import subprocess
from relfast.engine.pool import early, launch
assert early.prefork(2, ["score"])
launch._early[0].process._helper().stop()
launched = launch.launch()
assert isinstance(launched.process, subprocess.Popen), launched
assert not launch._early
launched.close()
assert launched.process.wait(120) == 0
print("done")
""")


def test_workers_die_with_the_command() -> None:
    """Also those whose helper has not ended yet."""
    run("""
import os, signal, time
from relfast.engine.pool import early, parents
assert parents.adopt_orphans(True)  # what the command leaves behind is ours to wait for
signal.alarm(120)
for seconds in (0.0, 0.05, 0.1, 0.3):
    if not os.fork():
        assert early.prefork(2, ["score"])
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
print("done")
""")


def test_a_worker_sees_the_end_of_its_requests() -> None:
    """Workers that were forked after it do not have the other end of its pipe."""
    run("""
import os
from relfast.engine.pool import early, launch
assert early.prefork(3, ["score"])
for launched in list(launch._early):
    launch._early.remove(launched)
    os.close(launched.requests)
    assert launched.process.wait(120) == 0
    assert os.read(launched.answers, 1) == b""
print("done")
""")
