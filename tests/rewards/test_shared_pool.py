"""``RELFAST_POOL``: one pool for all processes of a machine, whatever happens to its host."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from patience import PATIENCE, until
from reward_cases import HANG, distinct_c2

import relfast
from relfast.engine.online.record_pools import POOL_VARIABLE, place_of
from relfast.errors import UsageError
from relfast.rewards.shared import Adapter, shared_scorer

GOLD = {"smiles": "CCO"}

ASK = """
import json, sys
from relfast.rewards.shared import shared_scorer
scorer = shared_scorer({"policy": "strict", "details": True})
for line in sys.stdin:
    given = json.loads(line)
    score = scorer.score_one("REL-C2", {"smiles": given}, f"<smiles>{given}</smiles>")
    host = scorer._isolated._pool.host
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
    assert not children_at(path)


def children_at(path: str) -> list[psutil.Process]:
    """Hosts that listen at a socket, waited for to end."""
    hosts = [
        each
        for each in psutil.process_iter(["cmdline", "environ"])
        if "relfast.engine.online.record_pools" in (each.info["cmdline"] or [])
        and (each.info["environ"] or {}).get(POOL_VARIABLE) == path
    ]
    _, left = psutil.wait_procs(hosts, timeout=PATIENCE)
    return left


def stop(pid: int) -> None:
    """Stop a process, and wait until none of its threads runs: the signal reaches each in its own time."""
    os.kill(pid, signal.SIGSTOP)

    def stands() -> bool:
        threads = Path(f"/proc/{pid}/task").iterdir()
        return all((each / "stat").read_text().rpartition(")")[2].split()[0] == "T" for each in threads)

    until(stands, "the stop of all threads")


@pytest.fixture
def scorer(place: str) -> Iterator[relfast.Scorer]:
    """As `shared_scorer` makes it, without the process's table of them; answers are not remembered."""
    made = relfast.Scorer(policy="strict", details=True)
    made.share_pool(place)
    with made:
        yield made


def ask(scorer: relfast.Scorer, smiles: str = "CCO") -> relfast.Score:
    return scorer.score_one("REL-C2", {"smiles": smiles}, f"<smiles>{smiles}</smiles>")


def host_of(scorer: relfast.Scorer) -> int:
    queue: Any = scorer._isolated._pool
    pid: int = queue.host
    return pid


def test_processes_have_one_host(place: str, scorer: relfast.Scorer) -> None:
    assert ask(scorer).reward == 1.0  # who stays connected keeps the host
    others = [
        subprocess.Popen(
            [sys.executable, "-c", ASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    answers = []
    for other in others:
        out, _ = other.communicate('"CCN"\n"CCC"\n')
        answers += [json.loads(line) for line in out.splitlines()]
    assert answers == [["ok", 1.0, host_of(scorer)]] * 4
    workers = [
        child
        for child in psutil.Process(host_of(scorer)).children(recursive=True)
        if child.name() == "relfast-worker" and child.status() != psutil.STATUS_ZOMBIE
    ]
    assert len(workers) == 1
    assert scorer.stats()["workers"] == 0


def test_a_host_that_is_killed_is_started_again(scorer: relfast.Scorer) -> None:
    assert ask(scorer).status == "ok"
    first = host_of(scorer)
    os.kill(first, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(first)] if psutil.pid_exists(first) else [], timeout=PATIENCE)
    assert ask(scorer, "CCN").reward == 1.0
    assert host_of(scorer) != first


def test_what_is_under_way_is_asked_again(scorer: relfast.Scorer) -> None:
    """The host is stopped, so that nothing is answered, then killed."""
    ask(scorer)
    stop(host_of(scorer))
    futures = [
        scorer.submit("REL-C2", {"smiles": smiles}, f"<smiles>{smiles}</smiles>")
        for smiles in ("CCC", "CCN", "CCS")
    ]
    assert not any(future.done() for future in futures)
    os.kill(host_of(scorer), signal.SIGKILL)
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


def test_many_threads_get_their_own_scores(scorer: relfast.Scorer) -> None:
    chains = ["C" * n for n in range(1, 25)]
    found: dict[str, float | None] = {}

    def run(right: str) -> None:
        for smiles in chains:
            score = scorer.score_one("REL-C2", {"smiles": right}, f"<smiles>{smiles}</smiles>")
            found[f"{right} {smiles}"] = score.correct

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, chains[:4]))
    for right in chains[:4]:
        assert [found[f"{right} {smiles}"] for smiles in chains] == [smiles == right for smiles in chains]


def test_a_forked_child_has_a_connection_of_its_own(scorer: relfast.Scorer) -> None:
    ask(scorer)
    child = os.fork()
    if child == 0:
        os._exit(0 if ask(scorer, "CCN").reward == 1.0 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert ask(scorer, "CCS").reward == 1.0


def test_closed_is_unscored_and_starts_anew(scorer: relfast.Scorer) -> None:
    ask(scorer)
    stop(host_of(scorer))
    future = scorer.submit("REL-C2", GOLD, "<smiles>CCC</smiles>")
    stopped = host_of(scorer)
    scorer.close()
    assert future.result(timeout=PATIENCE).status == "crashed"
    os.kill(stopped, signal.SIGCONT)
    assert ask(scorer).status == "ok"


def test_where_no_host_can_be_is_said(tmp_path: Path) -> None:
    scorer = relfast.Scorer(details=True)
    scorer.share_pool(str(tmp_path / "none" / "pool.sock"))
    score = ask(scorer)
    assert score.status == "crashed"
    assert score.error is not None
    assert score.error["message"].startswith("no shared pool at ")


def test_a_stale_socket_is_no_host(place: str, scorer: relfast.Scorer) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(place)
    assert ask(scorer).status == "ok"


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
