"""From wherever a trainer calls: no deadlock, no process left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import subprocess
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import PATIENCE, python, started, until
from reward_cases import distinct_c2, wait_for_no_workers, workers_of

import relfast

N = 1_000
TEXT = ("REL-C1", {"label": "Yes"}, "<Yes>")


def _calls(scorer: relfast.Scorer, n: int = N, start: int = 0) -> int:
    """``n`` single calls, a tenth of them molecules not seen before; how many were scored."""
    molecules = iter(distinct_c2(start + n // 10)[start:])
    scored = 0
    for at in range(n):
        if at % 10:
            scored += scorer.reward(*TEXT) == 1.0
        else:
            scored += scorer.reward("REL-C2", *next(molecules)) is not None
    return scored


@pytest.fixture
def scorer() -> Any:
    before = {worker.pid for worker in workers_of()}
    with relfast.Scorer(policy="strict", workers=2) as scorer:
        yield scorer
    wait_for_no_workers(before)


def test_from_64_threads_at_once(scorer: relfast.Scorer) -> None:
    """All of them start the workers together, too."""
    done: list[int] = []
    threads = [
        threading.Thread(target=lambda at=at: done.append(_calls(scorer, 100, at * 10)), daemon=True)
        for at in range(64)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
        assert not thread.is_alive(), "deadlock"
    assert sum(done) == 6_400
    assert scorer.stats()["workers"] <= 2


def test_from_an_event_loop(scorer: relfast.Scorer) -> None:
    def asked(row: Any) -> asyncio.Future[relfast.Score]:
        return asyncio.wrap_future(scorer.submit("REL-C2", *row))

    async def main() -> tuple[int, int]:
        *rows, last = distinct_c2(N + 1)
        ticks = 0
        gathered = asyncio.gather(*map(asked, rows))
        while not gathered.done():
            ticks += 1
            await asyncio.sleep(0.001)
        asked(last).cancel()
        return sum(score.reward is not None for score in await gathered), ticks

    scored, ticks = asyncio.run(main())
    assert scored == N
    assert ticks > 5  # the loop went on meanwhile
    assert _calls(scorer, 100) == 100  # and what was cancelled holds up no others


def _child(scorer: relfast.Scorer, answers: Any) -> None:
    answers.put((_calls(scorer), [worker.pid for worker in workers_of()]))


def _wait_until_gone(pids: list[int]) -> None:
    def works(pid: int) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            return process.status() != psutil.STATUS_ZOMBIE and process.name() == "relfast-worker"
        return False

    until(lambda: not any(map(works, pids)), "the workers' end")


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_from_a_daemonic_process_after_pickling(method: str) -> None:
    """It may have no children of multiprocessing's; ours are not. They die with it though it never closes."""
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    scorer = relfast.Scorer(policy="strict", workers=2)
    process = context.Process(target=_child, args=(scorer, answers), daemon=True)
    process.start()
    scored, pids = answers.get(timeout=PATIENCE)
    process.join(PATIENCE)
    assert process.exitcode == 0
    assert scored == N
    assert pids
    _wait_until_gone(pids)


_FORKED = """
import os, sys, threading, time
import psutil, relfast

scorer = relfast.Scorer(policy="strict", workers=2)
row = ("REL-C2", {"smiles": "CC[Te]O"}, "<smiles>CC[Te]</smiles>")  # tellurium is left to RDKit
first = scorer.reward(*row)
pids = sorted(p.pid for p in psutil.Process().children())
child = os.fork()
if not child:
    ok = scorer.stats()["ok"] == 0 and scorer.reward(*row) == first
    mine = sorted(p.pid for p in psutil.Process().children())
    # leaving runs atexit: what it ends must be the child's own workers
    sys.exit(0 if ok and len(mine) == 1 and not set(mine) & set(pids) else 1)
_, status = os.waitpid(child, 0)
scorer._isolated._cache._scores.clear()
assert os.waitstatus_to_exitcode(status) == 0
assert sorted(p.pid for p in psutil.Process().children()) == pids
assert scorer.reward(*row) == first and scorer.stats()["workers_replaced"] == 0
print("fine")
"""

_UNGUARDED = """
import sys
sys.path.pop(0)  # what shadows a module of the library's there must not reach the workers
import relfast, psutil
from relfast.rewards.trl import reward
print("main runs")
chains = ["<smiles>" + "C" * n + "</smiles>" for n in range(1, 101)]
rewards = [reward(completions=[chain], answer=[{"smiles": "CCO"}]) for chain in chains]
rewards += [reward(completions=["<Yes>"], answer=['{"label": "Yes"}']) for _ in range(900)]
assert all(value is not None for batch in rewards for value in batch)
print("fine", [p.pid for p in psutil.Process().children(recursive=True)])
"""


def _run(script: str, tmp_path: Path) -> str:
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")
    done = python("-W", "error", file)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_fork_leaves_parent_and_child_with_their_own_workers(tmp_path: Path) -> None:
    assert _run(_FORKED, tmp_path) == "fine\n"


def test_a_script_without_main_guard_runs_once_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "orjson.py").write_text("raise RuntimeError('this is not the one')\n", "utf-8")
    first, last = _run(_UNGUARDED, tmp_path).splitlines()
    assert first == "main runs"
    word, _, pids = last.partition(" ")
    assert word == "fine"
    assert json.loads(pids)
    _wait_until_gone(json.loads(pids))


def test_workers_die_with_a_host_that_is_killed() -> None:
    script = (
        "import relfast, psutil, time\n"
        "scorer = relfast.Scorer(workers=2)\n"
        "scorer.reward('REL-C2', {'smiles': 'C[Te]C'}, '<smiles>CC[Te]C</smiles>')\n"
        "print([p.pid for p in psutil.Process().children(recursive=True)], flush=True)\n"
        "time.sleep(3600)\n"
    )
    with started("-c", script, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        pids = json.loads(host.stdout.readline())
        host.kill()
    assert pids
    _wait_until_gone(pids)
