"""The worker process: reads requests from stdin and writes answers to stdout.

A worker is forked by the fork server (`forkserver`), never by the caller's program, so pools work in threads,
daemonic processes, event loops and scripts without a ``__main__`` guard. It dies with its parent, and ignores
the terminal's Ctrl-C (the pool handles it). A timer of the operating system kills it when a record takes too
long: C++ code that never returns cannot be interrupted in any other way.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final

from relfast.embed import THREADS_VARIABLE
from relfast.engine.columns.gold_records import GoldRecords
from relfast.engine.columns.scoring import Scoring
from relfast.engine.files.block_scoring import SEGMENT_LINES, BlockScoring
from relfast.engine.files.block_scoring import load_fast_path as load_fast_path
from relfast.engine.files.io.reader import read_gold
from relfast.engine.isolated.failures import OUT_OF_MEMORY
from relfast.engine.isolated.protocol import (
    Before,
    BlockRequest,
    InFlight,
    LineCounts,
    Ready,
    Setup,
    own_memory,
    receive,
    send,
)
from relfast.errors import RelfastError, WorkerError
from relfast.records import Place, Record, Score
from relfast.support import deadlines
from relfast.support.system import block_interrupts, keep_freed_memory

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NAME: Final = 15
NAME: Final = "relfast-worker"
"""The process name that ``ps`` and ``top`` show."""

STACK_BYTES: Final = 64 * 2**20
"""Stack size of a worker: RDKit recurses once per atom of a chain, and 8 MB overflow at 16,000 atoms."""

MEMORY_BYTES: Final = 4 * 2**30
"""Address space of a worker, so that it cannot fill the machine between two checks of its memory."""

GROWTH_BYTES: Final = 2**30
"""Memory a worker may hold beyond what it has after its start; a ring of 20,000 atoms would take 11 GB."""

GROWTH_OF_LINE: Final = 64
"""The same for each byte of the longest line, if that is more: a byte of empty objects takes 24 decoded."""

REPORT_SECONDS: Final = 0.005
"""Longest time that a finished score waits to be sent together with others. Scores that were sent before a
record hangs are kept, and their callers go on."""


@cache
def gold_of(paths: tuple[str, ...], longest: int, strict: bool) -> GoldRecords:
    """The gold records of ``--data``. If the fork server has read them, its workers share that memory."""
    return read_gold(paths, longest, strict=strict, in_files=True)


class KernelGuard:
    """A worker's guard (`relfast.engine.columns.scoring.Guard`): arms a timer of the operating system around
    each record, whose SIGALRM ends the process, and sets the memory limit that the pool enforces."""

    def __init__(self, in_flight: InFlight, growth: int) -> None:
        self._in_flight, self._growth = in_flight, growth
        self._limited = False
        self._limit_memory(True)

    def enter(self, place: Place | None, seconds: float, *, limited: bool = True) -> None:
        if limited != self._limited:
            self._limit_memory(limited)
        self._in_flight.enter(place, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def leave(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._in_flight.nothing()
        if not self._limited:
            self._limit_memory(True)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock of what is in flight within this context."""
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            with self._in_flight.paused():
                yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, left)

    def _limit_memory(self, limited: bool) -> None:
        """Limit growth from the memory held now: what was loaded before is not charged to a record."""
        self._limited = limited
        size = own_memory(os.getpid()) + self._growth if limited else 0
        self._in_flight.limit_memory(size)


def die_with(parent: int) -> None:
    """Ask the operating system to kill this process when the thread that started it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # the parent had died before


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, hard))


def _serve(answers: int, scoring: Scoring, counts: LineCounts) -> None:
    blocks = BlockScoring(scoring, SEGMENT_LINES)
    while True:
        try:
            request = receive(0)
        except EOFError:
            return
        try:
            found: Iterator[Any]
            if isinstance(request, BlockRequest):
                before = request.before
                place = None if before is None else partial(_place, counts, request.block.seq, before)
                found = blocks.segments(*request[:5], place)
            else:
                found = _scores_of(request.records, scoring)
            for message in found:
                _tell(answers, message)
            _tell(answers, None)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except Exception as error:
            _tell(answers, _failure(error))


def _place(counts: LineCounts, number: int, before: Before, n_lines: int) -> int:
    """Tell the other workers how many lines block ``number`` has; the index of its first line."""
    counts.tell(number, n_lines)
    return counts.first_index(before)


def _failure(error: Exception, what: str = "") -> WorkerError:
    """The `WorkerError` to send for an exception; ``original`` is the exception if it is a `RelfastError`."""
    if isinstance(error, RelfastError):
        return WorkerError(str(error), error)
    return WorkerError(f"{what}{type(error).__name__}: {error}")


def _tell(answers: int, message: Any) -> None:
    """Send an answer. If the pool reads no more, it was interrupted: this process exits silently."""
    try:
        send(answers, message)
    except BrokenPipeError:
        os._exit(0)


def _scores_of(records: Sequence[Record], scoring: Scoring) -> Iterator[list[Score]]:
    """The scores of the records, in order, in lists of those that were finished together."""
    scores: list[Score] = []
    reported = time.monotonic()
    for record in records:
        scores += scoring.scores([record])
        if time.monotonic() - reported >= REPORT_SECONDS:
            yield scores
            scores, reported = [], time.monotonic()
    if scores:
        yield scores


def main(parent: int, page: int, counts: int) -> None:
    """The worker's main loop: requests on stdin, answers on stdout. ``parent`` is the pid of the fork server,
    ``page`` and ``counts`` are the descriptors of the in-flight page and of the counts of lines."""
    die_with(parent)
    ctypes.CDLL(None).prctl(_PR_SET_NAME, NAME.encode())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    block_interrupts()
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)  # output that a library prints must not land between frames
    try:
        setup = receive(0)
    except EOFError:
        return
    assert isinstance(setup, Setup)
    _limit(resource.RLIMIT_CORE, 1)
    _limit(resource.RLIMIT_STACK, STACK_BYTES)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    keep_freed_memory()
    # otherwise an embedding model would start a thread per core in every worker
    os.environ.setdefault(THREADS_VARIABLE, str(setup.cores))
    try:
        gold = gold_of(setup.job.data, setup.job.max_line_bytes, setup.job.options.strict)
        growth = max(GROWTH_BYTES, GROWTH_OF_LINE * setup.job.max_line_bytes)
        guard = KernelGuard(InFlight(page), growth)
        deadlines.timer_stopped = guard.stopped
        scoring = Scoring(setup.job, gold, guard, clock=deadlines.WorkingClock())
    except Exception as error:
        _tell(answers, _failure(error, "a worker could not start: "))
        return
    _tell(answers, Ready(os.getpid(), gold.repeated))
    os.dup2(nowhere, 2)  # RDKit can print gigabytes of messages about one bad answer
    _serve(answers, scoring, LineCounts(counts))
