"""The pool among killers: workers, their starts, the fork server, the machine; and the callers it serves."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from engine_runs import HANG, honest, rows_of, statuses, write_dump
from processes import PATIENCE, busy, comes_true, python, until
from rdkit import Chem
from relfast_kernels.compiled import native

import relfast
from relfast.engine.isolated import pool, worker
from relfast.engine.isolated.failures import Death
from relfast.engine.isolated.forkserver import ForkServer
from relfast.engine.isolated.pool import LEAST_WORK, Pool
from relfast.engine.isolated.protocol import RecordsRequest
from relfast.engine.job import Job
from relfast.errors import InputError, WorkerError
from relfast.records import Record

_earlier: set[int] = set()


def _children() -> list[psutil.Process]:
    """Our children, but for those that tests of other modules keep for the session."""
    return [child for child in psutil.Process().children(recursive=True) if child.pid not in _earlier]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Any:
    # what earlier modules have dropped is closed now, not in the middle of a test
    gc.collect()
    for unit in native.UNITS:
        native.load(unit)  # which takes a descriptor for good
    _earlier.update(child.pid for child in psutil.Process().children(recursive=True))
    files, threads = _open_files().items(), set(threading.enumerate())
    yield

    def nothing_more() -> bool:
        # an exception that a test looked at may hold files until it is collected
        gc.collect()
        # what earlier modules have left may end meanwhile
        return (
            not _children() and threads.issuperset(threading.enumerate()) and _open_files().items() <= files
        )

    comes_true(nothing_more)
    assert _children() == []
    assert set(threading.enumerate()) - threads == set()
    assert _open_files().items() - files == set()


def _open_files() -> dict[str, str]:
    """What each descriptor of this process is open on."""
    files = {}
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            files[descriptor] = os.readlink(f"/proc/self/fd/{descriptor}")
    return files


class _Wait(pool.WorkItem):
    """A task that notes what becomes of it."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.scores: list[Any] = []
        self.deaths: list[Death] = []
        self.error: WorkerError | None = None
        self.over = threading.Event()

    def request(self) -> Any:
        return RecordsRequest([self.record])

    def answer(self, message: Any) -> None:
        self.scores += message

    def finished(self) -> None:
        self.over.set()

    def died(self, death: Death) -> list[pool.WorkItem]:
        self.deaths.append(death)
        self.over.set()
        return []

    def failed(self, error: WorkerError) -> None:
        self.error = error
        self.over.set()

    def wait(self) -> None:
        assert self.over.wait(PATIENCE)


def _record(**changes: Any) -> Record:
    record = {**HANG, **changes}
    return Record(7, "x", record["task"], record["answer"], record["response"])


EASY = {"response": "<smiles>CCO</smiles>"}


def _submitted(workers: Pool, **changes: Any) -> _Wait:
    """A task under way: one that hangs where nothing is changed."""
    task = _Wait(_record(**changes))
    workers.submit(task)
    return task


def _done(workers: Pool, **changes: Any) -> _Wait:
    """The same, with what has become of it."""
    task = _submitted(workers, **changes)
    task.wait()
    return task


def _dump(tmp_path: Path, *records: Any) -> Path:
    return write_dump(tmp_path / "dump.jsonl", records)


# killers


@pytest.mark.slow
def test_random_killer_of_workers(tmp_path: Path) -> None:
    """5,000 records while workers, and the process that forks them, are killed at random: the rows are those
    of a quiet run. Workers count the lines, and one block of the file has too many."""
    records = honest(5_000, padding=1_500)
    dump = _dump(tmp_path, *records[:4_000], b"\n" * 20_000, *records[4_000:])
    relfast.score_file(dump, tmp_path / "quiet.jsonl", workers=0)
    chance, kills = random.Random(3), []

    over = threading.Event()

    def kill() -> None:
        while not over.wait(chance.expovariate(2)):
            with contextlib.suppress(IndexError, psutil.NoSuchProcess):
                chance.choice(_children()).kill()
                kills.append(1)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        relfast.score_file(dump, tmp_path / "rows.jsonl", workers=2)
        # a quick machine is through before much has happened
        while len(kills) < 6:
            relfast.score_file(dump, tmp_path / "rows.jsonl", workers=2, overwrite=True)
    finally:
        over.set()
        killer.join()
    assert (tmp_path / "rows.jsonl").read_bytes() == (tmp_path / "quiet.jsonl").read_bytes()


def test_a_killed_fork_server_is_replaced() -> None:
    with contextlib.closing(Pool(Job(timeout=0.2), 1)) as workers:
        task = _done(workers)
        assert task.deaths[0].timed_out
        server = workers._server
        assert server is not None
        server._process.kill()  # type: ignore[union-attr]
        until(lambda: server.gone)
        # the worker goes with it, perhaps while it has a task
        _done(workers, **EASY)
        task = _done(workers)
        assert task.deaths[0].timed_out
        assert workers._server is not server


def test_the_limits_of_a_worker() -> None:
    """Its memory, its deadline, its exit status and its end with the pool."""
    with contextlib.closing(Pool(Job(timeout=0.3), 1)) as workers:
        task = _done(workers, **EASY)
        assert [score.status for score in task.scores] == ["ok"]
        (pid,) = workers.pids()
        assert psutil.Process(pid).ppid() != os.getpid()
        limits = {what: psutil.Process(pid).rlimit(what) for what in (psutil.RLIMIT_AS, psutil.RLIMIT_STACK)}
        assert limits[psutil.RLIMIT_AS][0] == worker.MEMORY_BYTES
        assert limits[psutil.RLIMIT_STACK][0] == worker.STACK_BYTES
        hang = _done(workers)
        assert (hang.deaths[0].status, hang.deaths[0].place) == (-signal.SIGALRM, (7, 0))


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGSEGV])
def test_whom_a_death_is_blamed_on(signum: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash on the record in flight; a kill from outside only on one that had been at work for a while."""
    with contextlib.closing(Pool(Job(timeout=2 * PATIENCE), 1)) as workers:
        for a_while, blamed in ((PATIENCE, signum != signal.SIGKILL), (0.0, True)):
            monkeypatch.setattr(pool, "BLAME_SECONDS", a_while)
            _done(workers, **EASY)  # RDKit is loaded
            task = _submitted(workers)
            until(lambda: busy(workers))
            os.kill(workers.pids()[0], signum)
            task.wait()
            assert (task.deaths[0].place == (7, 0)) == blamed


def test_a_stopped_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is stopped from outside (SIGSTOP): no kernel timer ends it, the parent does."""
    monkeypatch.setattr(pool, "GRACE_SECONDS", 1.0)
    with contextlib.closing(Pool(Job(timeout=0.5), 1)) as workers:
        _done(workers, **EASY)
        task = _submitted(workers)
        until(lambda: busy(workers))
        os.kill(workers.pids()[0], signal.SIGSTOP)
        task.wait()
        assert task.deaths[0].timed_out
        assert task.deaths[0].silent


def _hang(workers: Pool, *, stopped: bool) -> tuple[Death, float]:
    """End a worker by its deadline; its death, and the least share of the time for which it has computed."""
    began = time.monotonic()
    task = _submitted(workers)
    until(lambda: busy(workers))
    worker = psutil.Process(workers.pids()[0])
    before = worked = sum(worker.cpu_times()[:2])
    if stopped:
        worker.suspend()
        worked = sum(worker.cpu_times()[:2])
        time.sleep(3.0)
        worker.resume()
    while not task.over.wait(0.02):
        assert time.monotonic() < began + PATIENCE
        with contextlib.suppress(psutil.NoSuchProcess):
            worked = max(worked, sum(worker.cpu_times()[:2]))
    elapsed = time.monotonic() - began
    return task.deaths[-1], (worked - before) / elapsed


@pytest.mark.slow
def test_whether_a_record_was_at_work_when_its_time_was_up() -> None:
    """A worker that was stopped until after the deadline has done next to nothing."""
    with contextlib.closing(Pool(Job(timeout=1.0), 1)) as workers:
        _done(workers, **EASY)
        for stopped in (False, False, True):
            death, share = _hang(workers, stopped=stopped)
            assert (death.status, death.silent) == (-signal.SIGALRM, False)
            # a machine may be so busy that one is stopped late, or that it starves a worker that runs
            if stopped:
                assert death.starved or share >= LEAST_WORK / 2
            else:
                assert not (death.starved and share >= 2 * LEAST_WORK)


# the machine


def test_close_while_workers_start() -> None:
    for delay in (0.0, 0.05, 0.2):
        workers = Pool(Job(), 3)
        time.sleep(delay)
        workers.close()
        with pytest.raises(WorkerError, match="the pool is closed"):
            workers.submit(_Wait(_record()))


def test_close_with_tasks_under_way() -> None:
    workers = Pool(Job(timeout=2 * PATIENCE), 2)
    tasks = [_Wait(_record()) for _ in range(5)]
    for task in tasks:
        workers.submit(task)
    until(lambda: busy(workers))
    workers.close()  # waits for none of them
    assert all(task.over.is_set() and task.error is not None and not task.scores for task in tasks)


def test_workers_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkerError, match="a worker ended with status 1 before it was ready"):
        relfast.score_file(_dump(tmp_path, *honest(5)), tmp_path / "rows.jsonl", workers=2)


def test_workers_that_are_killed_as_they_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killing starts for a while is no reason to give up."""
    dump = _dump(tmp_path, *honest(50))
    real, left = pool.Worker.receive, [2 * pool.MAX_STARTS]

    def killed_before_it_is_ready(self: pool.Worker) -> Any:
        if left[0] > 0:
            left[0] -= 1
            self.kill()
        return real(self)

    monkeypatch.setattr(pool.Worker, "receive", killed_before_it_is_ready)
    relfast.score_file(dump, tmp_path / "rows.jsonl", workers=1)
    assert left == [0]
    assert len(statuses(tmp_path / "rows.jsonl")) == 50


def test_an_answer_that_cannot_be_read_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker that wrote it is replaced; what it was is said."""
    real, heard = pool.Worker.receive, []

    def garbled(self: pool.Worker) -> Any:
        message = real(self)
        heard.append(message)
        if len(heard) == 2:
            raise pickle.UnpicklingError("invalid load key")
        return message

    monkeypatch.setattr(pool.Worker, "receive", garbled)
    told: list[str] = []
    with contextlib.closing(Pool(Job(), 1, tell=told.append)) as workers:
        task = _done(workers, **EASY)
        assert len(task.deaths) == 1
        until(lambda: any("takes over" in line for line in told))
    (said,) = (line for line in told if "cannot be read" in line)
    assert said.endswith("said what cannot be read: UnpicklingError('invalid load key')")


def test_no_room_for_more_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where some workers cannot be started, the others do the work."""
    real = ForkServer.fork
    started = []

    def full(self: ForkServer, *ends: int) -> int:
        if started:
            raise OSError(11, "Resource temporarily unavailable")
        started.append(1)
        return real(self, *ends)

    monkeypatch.setattr(ForkServer, "fork", full)
    relfast.score_file(_dump(tmp_path, *honest(300)), tmp_path / "rows.jsonl", workers=3)
    assert len(statuses(tmp_path / "rows.jsonl")) == 300


@pytest.mark.slow
def test_an_input_that_goes_while_it_is_read(tmp_path: Path) -> None:
    """What cannot be read is said by its name, and what was read before is there."""
    # more than is scored before the first rows are written, however slow this process is
    dump = _dump(tmp_path, *honest(4000, padding=20_000))

    def cut(state: Any) -> None:
        os.truncate(dump, dump.stat().st_size // 2)

    with pytest.raises(InputError, match=r"dump\.jsonl: it (shrank to|changed while)"):
        relfast.score_file(dump, tmp_path / "rows.jsonl", workers=2, progress=cut)
    assert len(rows_of(tmp_path / "rows.jsonl")) > 0


_ODD_DECODER = """
import os, signal, sys, time
own = sys.modules.pop("orjson")
sys.path.remove(os.path.dirname(__file__))
import orjson
globals().update(vars(orjson))
sys.modules["orjson"] = own
def loads(line, loads=orjson.loads):
    if b"ODD" in bytes(line):
        {act}
    return loads(line)
"""
"""orjson, but for a text that ends or holds up its process."""


@pytest.mark.slow
@pytest.mark.parametrize("act", ["os.kill(os.getpid(), signal.SIGSEGV)", "time.sleep(600)"])
def test_a_line_that_ends_or_holds_up_its_worker_costs_its_own_row(
    act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no record is in flight and no deadline runs: while a line is decoded."""
    (tmp_path / "orjson.py").write_text(_ODD_DECODER.format(act=act))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pool, "SILENT_SECONDS", 2.0)
    easy = {"task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}
    # a lone surrogate leaves the line to Python
    dump = _dump(
        tmp_path, *({**easy, "id": n} for n in range(3)), {**easy, "id": 3, "response": "ODD \ud83d"}
    )
    relfast.score_file(dump, tmp_path / "rows.jsonl", workers=2)
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["status"] for row in rows] == ["ok", "ok", "ok", "crashed"]


@pytest.mark.slow
def test_many_open_files(tmp_path: Path) -> None:
    """Descriptors above 1,023, which select() cannot take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 3000 else max(soft, 3000), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1024)]
    try:
        summary = relfast.score_file(
            _dump(tmp_path, *honest(20), HANG), tmp_path / "rows.jsonl", workers=2, timeout=0.5
        )
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert summary.count("timeout") == 1


# the callers


@pytest.mark.slow
def test_from_a_thread_with_odd_signals(tmp_path: Path) -> None:
    """A thread that blocks the deadline's signal, in a process that ignores the end of its children."""
    dump = _dump(tmp_path, *honest(5), HANG)
    code = (
        "import signal, sys, threading, relfast\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM, signal.SIGSEGV})\n"
        "relfast.score_file(sys.argv[1], sys.argv[2], workers=1, timeout=0.5)\n"
    )
    python("-c", code, dump, tmp_path / "rows.jsonl").check_returncode()
    assert statuses(tmp_path / "rows.jsonl")[5:] == ["timeout"]


def test_the_caller_may_change_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _dump(tmp_path, *honest(2000, padding=2000))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    relfast.score_file(
        "dump.jsonl", "rows.jsonl", workers=2, data="dump.jsonl", progress=lambda state: os.chdir(elsewhere)
    )
    assert len(statuses(tmp_path / "rows.jsonl")) == 2000


# SIGINT while RDKit searches, which for that time has a handler of its own: no Ctrl-C may be lost, and no score may
# change by it (workers block it for good: `test_pool`)


@pytest.mark.parametrize(
    ("task", "policy", "answer", "response"),
    [
        ("REL-C2", "reference", {"smiles": "CC[Te]CCO"}, "CC[Te]"),
        ("REL-C2", "strict", {"smiles": "CC[Te]CCO"}, "CC[Te]"),
        ("REL-C3", "reference", {"missing_smiles": ["*C[Te]CO"]}, "*C[Te]OC"),
    ],
)
def test_a_caller_hears_it_after_the_search(
    task: str, policy: str, answer: Any, response: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of tellurium, which is left to RDKit."""
    heard: list[int] = []
    held: list[bool] = []
    search = Chem.Mol.HasSubstructMatch

    def interrupted(*given: Any, **more: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        held.append(not heard and signal.SIGINT in signal.sigpending())
        return search(*given, **more)

    monkeypatch.setattr(Chem.Mol, "HasSubstructMatch", interrupted)
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        relfast.evaluate_response("", answer, f"<smiles>{response}</smiles>", task, policy=policy)
    finally:
        signal.signal(signal.SIGINT, before)
    assert held
    assert all(held)
    assert heard == [signal.SIGINT]
