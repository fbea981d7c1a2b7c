"""The pool where nothing kills it: whom a death is blamed on, who forks; `test_pool_faults` has the
killers."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import psutil
import pytest
from processes import python, until

from relfast import Scorer
from relfast.cli.score import command
from relfast.engine.files.block_scoring import Segment
from relfast.engine.isolated import forkserver
from relfast.engine.isolated.failures import (
    ATTEMPTS,
    LOST,
    OUT_OF_MEMORY,
    UNEXPLAINED_DEATHS,
    Death,
    Failures,
    blamed,
)
from relfast.engine.isolated.pool import Pool
from relfast.engine.isolated.protocol import Ready, frame, receive, send
from relfast.engine.job import Job
from relfast.errors import UsageError
from relfast.records import STOPPED, Score, fault_of, unscored
from relfast.rewards import shared
from relfast.stats.summary import Tally
from relfast.support import system
from relfast.support.system import usable_cores

# whom a death is blamed on


PLACE = (7, 0)
SEGFAULT = Death(-signal.SIGSEGV, PLACE)
DEADLINE = Death(-signal.SIGALRM, PLACE)


def find(place: tuple[int, int]) -> str | None:
    return "in flight" if place == PLACE else None


@pytest.mark.parametrize(
    ("death", "alone", "expected"),
    [
        (SEGFAULT, None, "in flight"),
        (SEGFAULT, "alone", "in flight"),
        # what is in flight but no longer the task's own: a record that another task has reported
        (Death(-signal.SIGSEGV, (8, 0)), "alone", None),
        (Death(-signal.SIGSEGV, None), "alone", "alone"),
        (Death(1, None), "alone", "alone"),
        (Death(OUT_OF_MEMORY, None), "alone", "alone"),
        (Death(-signal.SIGSEGV, None), None, None),
        # ended by others, before any clock ran
        (Death(-signal.SIGKILL, None), "alone", None),
        (Death(-signal.SIGTERM, None), "alone", None),
        (Death(LOST, None), "alone", None),
        # but a record in flight that was at work for long is: the kernel kills for memory
        (Death(-signal.SIGKILL, PLACE), None, "in flight"),
    ],
)
def test_who_is_blamed(death: Death, alone: str | None, expected: str | None) -> None:
    assert blamed(death, find, alone) == expected


CRASHED = ("crashed", "WorkerDied", "response")
STOPPED_THEN = ("timeout", STOPPED, "machinery")
KILLED, TERMINATED = Death(-signal.SIGKILL, PLACE), Death(-signal.SIGTERM, PLACE)


@pytest.mark.parametrize(
    ("deaths", "expected"),
    [
        # a deadline counts at once, a crash the second time
        ([DEADLINE], ("timeout", "Timeout", "response")),
        ([SEGFAULT] * ATTEMPTS, CRASHED),
        ([SEGFAULT, Death(OUT_OF_MEMORY, PLACE)], CRASHED),
        ([Death(LOST, PLACE), Death(-200, PLACE)], CRASHED),
        ([KILLED] * ATTEMPTS, CRASHED),
        ([TERMINATED, SEGFAULT], ("crashed", "WorkerKilled", "machinery")),
        # a stop of this process or of the worker, and a machine that is overloaded, excuse once
        ([DEADLINE._replace(frozen=True)] * 2, STOPPED_THEN),
        ([DEADLINE._replace(hardly_ran=True)] * 2, STOPPED_THEN),
        ([KILLED._replace(silent=True)] * 2, STOPPED_THEN),
        ([DEADLINE._replace(hardly_ran=True), DEADLINE], ("timeout", "Timeout", "response")),
        ([SEGFAULT._replace(frozen=True), *[SEGFAULT] * ATTEMPTS], CRASHED),
        # a crash is one on any machine: only a deadline says less on one that is overloaded
        ([SEGFAULT._replace(hardly_ran=True), SEGFAULT], CRASHED),
    ],
)
def test_what_follows_of_deaths(deaths: list[Death], expected: tuple[str, str, str]) -> None:
    """Nothing but another try until the last."""
    failures = Failures()
    *before, verdict = [failures.blame(death, 2.5) for death in deaths]
    assert before == [None] * (len(deaths) - 1)
    assert verdict is not None
    assert (*verdict[:2], fault_of(unscored(0, None, "x", 0, *verdict))) == expected
    said = {"Timeout": "scoring it took longer than 2.5 s and was stopped"}
    if deaths == [SEGFAULT] * ATTEMPTS:
        said["WorkerDied"] = f"it ended its worker {ATTEMPTS} times (killed by SIGSEGV)"
    assert verdict[2] == said.get(verdict[1], verdict[2])


def test_whose_fault_other_rows_are() -> None:
    for kind in ("WorkerError", "Interrupted", "MemoryError"):
        assert fault_of(unscored(0, None, "x", 0, "crashed", kind, "")) == "machinery"
    for kind in ("InvalidGold", "Timeout"):
        assert fault_of(unscored(0, None, "x", 0, "invalid_record", kind, "")) == "machinery"
    assert fault_of(Score(0, None, "x", 0, "no_answer", False, 0.0, {})) is None
    # a line that is no record has no deadline
    failures, late = Failures(), DEADLINE._replace(place=None, frozen=True)
    assert failures.blame(late, None) is None
    assert (failures.blame(late, None) or ())[:2] == ("crashed", "WorkerDied")


def test_deaths_on_nothing_end_in_giving_up() -> None:
    failures = Failures()
    killed = Death(-signal.SIGKILL, None)
    assert [failures.unexplained(killed) for _ in range(UNEXPLAINED_DEATHS)] == [None] * UNEXPLAINED_DEATHS
    assert failures.unexplained(killed) == "workers keep dying (killed by SIGKILL) on no record at all"
    failures.progress()
    assert failures.unexplained(killed) is None
    assert failures.attempts == 0


# the helper that a command forks before it has read its arguments


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


_PROGRAM = """
import os, sys
from relfast.engine.isolated import forkserver
from relfast.engine.job import Job
from relfast.engine.isolated.pool import Pool
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
    run = python("-c", _PROGRAM, gold, how)
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


def test_data_is_guessed_as_the_parser_reads_it() -> None:
    rng = random.Random(0)
    words = ("--data", "--data=b", "--data=", "c", "--", "-q", "--details", "-", "-vq")
    n_given = 0
    for _ in range(3_000):
        arguments = ["in.jsonl", *rng.choices(words, k=rng.randrange(1, 7))]
        try:
            read = command.make_context("score", [*arguments], resilient_parsing=True).params["data"]
        except click.UsageError:
            continue
        assert tuple(forkserver._values_of("--data", arguments)) == read, arguments
        n_given += len(read) > 0
    assert n_given > 500


def test_a_wrong_guess_takes_nothing_away(tmp_path: Path) -> None:
    """The value of -o looks like --data, and the input is a pipe, which can be read only once."""
    line = json.dumps({"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer: 4"}) + "\n"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(daemon=True, target=(tmp_path / "pipe").write_text, args=(line,))
    writer.start()
    run = python("-m", "relfast", "score", "-q", "--workers", "2", "-o", "--data", "pipe", cwd=tmp_path)
    writer.join()
    assert run.returncode == 0, run.stderr
    assert json.loads((tmp_path / "--data").read_text())["status"] == "ok"


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_workers_share_the_cores(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pool, "_serve", lambda pool, slot: None)  # no worker needs to start for this
    pool = Pool(Job(), workers)
    pool.close()
    assert pool._setup.cores == max(1, usable_cores() // workers)


# frames between the pool and its workers


def test_signals_that_end_no_worker() -> None:
    """It writes to Math-Verify's child, and to the process of a shared model, which may be gone; a terminal's Ctrl-C
    and a notebook's go to all processes of their group, and would end a search of RDKit's with a wrong answer."""
    said: list[str] = []
    pool = Pool(Job(), 1, tell=said.append)
    try:
        until(lambda: any(" ready " in line for line in said), "a worker that is ready")
        (worker,) = map(psutil.Process, pool.pids())
        for process, kind, number in (
            (worker, "SigIgn", signal.SIGPIPE),
            (worker, "SigBlk", signal.SIGINT),
            (worker.parent(), "SigIgn", signal.SIGINT),
        ):
            status = Path(f"/proc/{process.pid}/status").read_text("ascii")
            mask = next(line.split()[1] for line in status.splitlines() if line.startswith(kind))
            assert int(mask, 16) >> (number - 1) & 1, (kind, number)
    finally:
        pool.close()


def test_a_frame_that_takes_many_reads() -> None:
    tally = Tally.of([Score(0, "a", "REL-A1", 0, "ok", True, 1.0, {})])
    detours = {"gold": (2, "KeyError('x')")}
    sent = Segment(7, os.urandom(3_000_000), tally, n_fast=2, n_exact=3, n_left=4, detours=detours)
    readable, writable = os.pipe()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: [send(writable, each) for each in (sent, None, Ready(5))])
        assert [receive(readable) for _ in range(3)] == [sent, None, Ready(5)]
    os.write(writable, frame(Ready(4))[:-1])
    os.close(writable)
    with pytest.raises(EOFError):
        receive(readable)
    os.close(readable)


# cores by affinity and by the quotas of control groups; workers by the environment


MANY = 64


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tree of control groups, on a machine with many cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(MANY)))
    monkeypatch.setattr(system, "_CGROUPS", tmp_path / "fs")
    monkeypatch.setattr(system, "_OWN_CGROUPS", tmp_path / "cgroup")
    return tmp_path


BOX = {"cgroup": "0::/pod/box\n"}
GROUPS = [
    ({}, MANY),
    ({**BOX, "fs/pod/box/cpu.max": "max 100000"}, MANY),
    ({**BOX, "fs/pod/box/cpu.max": "250000 100000"}, 2),
    ({**BOX, "fs/pod/box/cpu.max": "50000 100000"}, 1),
    ({**BOX, "fs/pod/box/cpu.max": ""}, MANY),
    # the tightest of nested groups
    ({**BOX, "fs/pod/box/cpu.max": "800000 100000", "fs/pod/cpu.max": "300000 100000"}, 3),
    # a container sees its group as the root
    ({"cgroup": "0::/../../elsewhere\n", "fs/cpu.max": "400000 100000"}, 4),
    # version 1
    (
        {
            "cgroup": "7:cpuset:/\n4:cpu,cpuacct:/box\n",
            "fs/cpu/box/cpu.cfs_quota_us": "200000\n",
            "fs/cpu/box/cpu.cfs_period_us": "100000\n",
            "fs/cpu/cpu.cfs_quota_us": "-1\n",
            "fs/cpu/cpu.cfs_period_us": "100000\n",
        },
        2,
    ),
]
"""Files of control groups, and the cores that they leave."""


@pytest.mark.parametrize(("files", "expected"), GROUPS)
def test_quotas(groups: Path, files: dict[str, str], expected: int) -> None:
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text, "utf-8")
    assert system.usable_cores() == expected


def test_workers_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELFAST_WORKERS", "3")
    assert Scorer().workers == 3
    assert Scorer(workers=1).workers == 1
    named = {"policy": "strict", "timeout": 7.25}
    assert shared.shared_scorer(named).workers == 3
    monkeypatch.setenv("RELFAST_WORKERS", "all")
    with pytest.raises(UsageError, match="RELFAST_WORKERS must be a whole number from 0, not 'all'"):
        Scorer()
    monkeypatch.delenv("RELFAST_WORKERS")
    assert shared.shared_scorer({**named, "timeout": 7.5}).workers == 1
    assert shared.shared_scorer({**named, "workers": 2}).workers == 2


def test_the_command_line_names_a_wrong_variable() -> None:
    arguments = ("-m", "relfast", "score", os.devnull, "-o", os.devnull)
    result = python(*arguments, environment={"RELFAST_WORKERS": "-1"})
    assert result.returncode == 2
    assert "RELFAST_WORKERS must be a whole number from 0, not '-1'" in result.stderr
