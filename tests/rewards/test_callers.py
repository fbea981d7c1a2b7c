"""From wherever a trainer calls, and from several processes that share a pool: no deadlock, no process left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import PATIENCE, python, started, until
from reward_cases import HANG, distinct_c2, wait_for_no_workers, workers_of

import relfast
from relfast.engine.online.record_pools import POOL_VARIABLE, place_of
from relfast.errors import UsageError
from relfast.rewards.shared import Adapter, shared_scorer

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


# RELFAST_POOL: one pool for all processes of a machine, whatever happens to its host


ASK = """
import json, sys
from relfast.rewards.shared import shared_scorer
pooled = shared_scorer({"policy": "strict", "details": True})
for line in sys.stdin:
    given = json.loads(line)
    score = pooled.score_one("REL-C2", {"smiles": given}, f"<smiles>{given}</smiles>")
    host = pooled._isolated._pool.host
    print(json.dumps([score.status, score.reward, host]), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    path = str(folder / "pool.sock")
    for name, value in ((POOL_VARIABLE, path), ("RELFAST_POOL_LINGER", "0.5"), ("RELFAST_WORKERS", "1")):
        monkeypatch.setenv(name, value)
    yield path
    hosts = [
        each
        for each in psutil.process_iter(["cmdline", "environ"])
        if "relfast.engine.online.record_pools" in (each.info["cmdline"] or [])
        and (each.info["environ"] or {}).get(POOL_VARIABLE) == path
    ]
    _, left = psutil.wait_procs(hosts, timeout=PATIENCE)
    assert not left


def stop(pid: int) -> None:
    """Stop a process, and wait until none of its threads runs: the signal reaches each in its own time."""
    os.kill(pid, signal.SIGSTOP)

    def stands() -> bool:
        threads = Path(f"/proc/{pid}/task").iterdir()
        return all((each / "stat").read_text().rpartition(")")[2].split()[0] == "T" for each in threads)

    until(stands, "the stop of all threads")


@pytest.fixture
def pooled(place: str) -> Iterator[relfast.Scorer]:
    """As `shared_scorer` makes it, without the process's table of them; answers are not remembered."""
    made = relfast.Scorer(policy="strict", details=True)
    made.share_pool(place)
    with made:
        yield made


def ask(pooled: relfast.Scorer, smiles: str = "CCO") -> relfast.Score:
    return pooled.score_one("REL-C2", {"smiles": smiles}, f"<smiles>{smiles}</smiles>")


def host_of(pooled: relfast.Scorer) -> int:
    queue: Any = pooled._isolated._pool
    pid: int = queue.host
    return pid


def test_processes_have_one_host(place: str, pooled: relfast.Scorer) -> None:
    assert ask(pooled).reward == 1.0  # who stays connected keeps the host
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    others = [started("-c", ASK, **pipes) for _ in range(2)]
    answers = []
    for other in others:
        out, _ = other.communicate('"CCN"\n"CCC"\n')
        answers += [json.loads(line) for line in out.splitlines()]
    assert answers == [["ok", 1.0, host_of(pooled)]] * 4
    assert len(workers_of(host_of(pooled))) == 1
    assert pooled.stats()["workers"] == 0


def test_a_host_that_is_killed_is_started_again(pooled: relfast.Scorer) -> None:
    assert ask(pooled).status == "ok"
    first = host_of(pooled)
    os.kill(first, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(first)] if psutil.pid_exists(first) else [], timeout=PATIENCE)
    assert ask(pooled, "CCN").reward == 1.0
    assert host_of(pooled) != first


def test_what_is_under_way_is_asked_again(pooled: relfast.Scorer) -> None:
    """The host is stopped, so that nothing is answered, then killed."""
    ask(pooled)
    stop(host_of(pooled))
    futures = [
        pooled.submit("REL-C2", {"smiles": smiles}, f"<smiles>{smiles}</smiles>")
        for smiles in ("CCC", "CCN", "CCS")
    ]
    assert not any(future.done() for future in futures)
    os.kill(host_of(pooled), signal.SIGKILL)
    assert [future.result(timeout=PATIENCE).reward for future in futures] == [1.0] * 3


def test_a_hang_is_judged_by_the_host(place: str) -> None:
    """It costs its own score, and no host."""
    mine = relfast.Scorer(policy="reference", timeout=0.5)
    mine.share_pool(place)
    with mine:
        rows = distinct_c2(40)
        rows[7] = HANG
        answers, responses = zip(*rows, strict=True)
        batch = mine.score_batch("REL-C2", list(answers), list(responses))
        assert [at for at, score in enumerate(batch) if score.status != "ok"] == [7]
        assert batch[7].status == "timeout"
        assert mine.stats()["workers_replaced"] == 0


def test_many_threads_get_their_own_scores(pooled: relfast.Scorer) -> None:
    chains = ["C" * n for n in range(1, 25)]

    def run(right: str) -> list[bool | None]:
        texts = [f"<smiles>{smiles}</smiles>" for smiles in chains]
        return [pooled.score_one("REL-C2", {"smiles": right}, text).correct for text in texts]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run, chains[:4]))
    assert found == [[smiles == right for smiles in chains] for right in chains[:4]]


def test_a_forked_child_has_a_connection_of_its_own(pooled: relfast.Scorer) -> None:
    ask(pooled)
    child = os.fork()
    if child == 0:
        os._exit(0 if ask(pooled, "CCN").reward == 1.0 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert ask(pooled, "CCS").reward == 1.0


def test_closed_is_unscored_and_starts_anew(pooled: relfast.Scorer) -> None:
    ask(pooled)
    stop(host_of(pooled))
    future = pooled.submit("REL-C2", {"smiles": "CCO"}, "<smiles>CCC</smiles>")
    stopped = host_of(pooled)
    pooled.close()
    assert future.result(timeout=PATIENCE).status == "crashed"
    os.kill(stopped, signal.SIGCONT)
    assert ask(pooled).status == "ok"


def test_where_no_host_can_be_is_said(tmp_path: Path) -> None:
    pooled = relfast.Scorer(details=True)
    pooled.share_pool(str(tmp_path / "none" / "pool.sock"))
    score = ask(pooled)
    assert score.status == "crashed"
    assert score.error is not None
    assert score.error["message"].startswith("no shared pool at ")


def test_a_stale_socket_is_no_host(place: str, pooled: relfast.Scorer) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(place)
    assert ask(pooled).status == "ok"


def test_reward_functions_ask_for_it(place: str) -> None:
    mine = shared_scorer({"policy": "strict", "timeout": 4.0})
    own = shared_scorer({"policy": "strict", "timeout": 4.0, "workers": 1})
    assert (mine._place, own._place) == (place, None)
    assert Adapter(timeout=4.5).scorer._place == place


def test_who_may_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place_of(None) is None
    assert place_of("") is None
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o755)
    with pytest.raises(UsageError, match="closed to others"):
        place_of(str(open_to_all / "pool.sock"))
    with pytest.raises(UsageError, match="is no folder"):
        place_of(str(tmp_path / "missing" / "pool.sock"))
    with pytest.raises(UsageError, match="100 bytes at most"):
        place_of(str(tmp_path / ("x" * 100)))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    shared = place_of("shared")
    assert shared is not None
    folder = Path(shared).parent
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    assert place_of("shared") == shared
