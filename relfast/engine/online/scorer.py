"""`Scorer`: scoring as an object that keeps workers and answers between calls. What rewards run on.

Text and mazes are scored where they are asked for, in microseconds; so are solutions that are embedded, in
steps between which each record's deadline is looked at. Chemistry can hang or crash, and a response of
megabytes takes seconds in one go, so they are scored in workers, which a timer ends; only answers that were
scored before are decided here. Everything else of a training loop follows: any thread may call, calls of many
threads share the workers' round trips, the object travels by pickle and survives a fork without its workers.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any, Final, Unpack

from relfast.engine.job import Job, make_job
from relfast.engine.online.counts import Counts
from relfast.engine.online.incoming import check_records, rows_of, text_in
from relfast.engine.online.isolated_scoring import IsolatedScoring
from relfast.engine.online.micro_batching import MicroBatcher
from relfast.engine.online.pending_score import PendingScore
from relfast.engine.online.score_cache import for_record
from relfast.engine.online.working_clock import WorkingClock
from relfast.engine.online.worth import checked_on_error, value_of
from relfast.engine.rows import read_gold
from relfast.engine.scoring import Scoring, failed
from relfast.engine.settings import workers_of
from relfast.formats import filter_of
from relfast.json_text import once_decoded
from relfast.keywords import JobKeywords, OnError
from relfast.records import STATUSES, Record, Score, unscored
from relfast.results import ScoreBatch
from relfast.tasks import TASKS, find_task, infer_task
from relfast.tasks.base import Task

HOST_CHARS: Final = 1_000_000
"""Longest response scored in the host: at worst 0.1 s, which nothing there could cut short."""

SUBMIT_EVERY: Final = 32
"""Records of a batch that are prepared before workers are given them: they start while we go on."""


class Scorer:
    """Scores records and batches; a context manager.

    Thread-safe. Picklable: options travel, workers and what was remembered do not. After a fork the child
    has a scorer without workers. Workers are started by the first record that needs one, and end with
    `close`, with the object, or with the process. A closed scorer starts anew when it is used again.

    Parameters
    ----------
    workers
        Worker processes for what can hang (REL-C2, REL-C3) and for responses of more than a million
        characters; default: usable cores; 0: score them in this process, where nothing can stop them.
    on_error
        What `reward` and `rewards` give for a response without a score: None, a number, or ``"raise"``, or
        these by whose fault it is, ``{"response": …, "machinery": …}`` (`relfast.keywords.OnErrorByKind`).
        What is no mapping is meant for the machinery and the data. Under ``strict`` a response that runs into
        its deadline or ends its workers is worth the lowest reward of its task, unless ``response`` says
        otherwise: it must not pay to hang. Under ``reference`` both kinds are one.
    **options
        As `relfast.score`: ``policy``, ``timeout`` (s per record, from the start of its scoring; 0 or None:
        no limit), ``rewards``, ``details``, ``task``, and the fields of `relfast.tasks.options.AllOptions`.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that cannot be used.
    """

    def __init__(
        self, *, workers: int | None = None, on_error: OnError = None, **options: Unpack[JobKeywords]
    ) -> None:
        self.job: Job = make_job(**options)
        self.workers: int | None = workers_of(workers)
        self.on_error: OnError = checked_on_error(on_error)
        self._place: str | None = None
        self._prepare()

    def _prepare(self) -> None:
        self._scoring = Scoring(self.job, read_gold(self.job.data), clock=WorkingClock())
        self._start_anew()
        _alive.add(self)

    def _start_anew(self) -> None:
        """All that a fork or a pickle does not carry over."""
        self._counts = Counts()
        self._scoring.reader = None  # its lock may be held by a thread of the parent
        self._isolated = IsolatedScoring(self._scoring, self.workers, self._counts, self._place)
        scoring = self._scoring
        # an embedding model is fastest on many texts, and one call fills all cores
        self._embedding = MicroBatcher(lambda records: list(scoring.entries(records)), _embedding_turn)

    def share_pool(self, place: str) -> None:
        """Leave what needs workers to the pool behind a socket, which other processes use too
        (`relfast.engine.online.shared_place.place_of`); to be called before anything is scored."""
        self._place = place
        self._start_anew()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "workers": self.workers,
            "on_error": self.on_error,
            "place": self._place,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.job, self.on_error = state["job"], state["on_error"]
        self.workers = state["workers"]
        self._place = state["place"]
        self._prepare()

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; it can be called more than once. Calls under way get their rows, unscored."""
        self._isolated.close()

    def start(self) -> None:
        """Start the workers now rather than with the first record that needs them (0.5 s)."""
        if self.workers != 0:
            self._isolated.start()

    # one response

    def score_one(self, task: str | None, answer: object, response: object, question: object = None) -> Score:
        """The score of one response.

        Parameters
        ----------
        task
            Task name in any case; None: inferred from the keys of ``answer``.
        answer
            Gold: a dict, or its JSON text.
        response
            The model's text, or chat messages of which the last of the assistant counts.
        question
            The question's text; tasks whose `Task.strict_needs` name it look at it, and SeqBench does.
        """
        entry = self._record(0, task, answer, response, question)
        if isinstance(entry, Record):
            begun = self._begin(entry)
            entry = begun if type(begun) is Score else _delivered(begun, entry)
        self._counts.add(entry.status)
        return entry

    def score_at_once(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> Score | None:
        """`score_one` where no worker is needed for it, else None: `submit` it then."""
        entry = self._record(0, task, answer, response, question)
        if isinstance(entry, Record):
            if self._goes_to_workers(entry):
                return None
            entry = _delivered(self._begin(entry), entry)
        self._counts.add(entry.status)
        return entry

    def reward(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> float | None:
        """The reward of one response; where it has none, what ``on_error`` says.

        Raises
        ------
        UnscoredError
            It has none and ``on_error`` is ``"raise"``.
        """
        return self.value_of(self.score_one(task, answer, response, question))

    async def areward(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> float | None:
        """`reward` for an event loop. Tasks that need no worker are scored before it first gives way (see
        `submit`). Raises `UnscoredError` where ``on_error`` says so."""
        return self.value_of(await asyncio.wrap_future(self.submit(task, answer, response, question)))

    def submit(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> Future[Score]:
        """Like `score_one`, without waiting for workers: what an event loop awaits with
        ``asyncio.wrap_future``. Tasks that need no worker are done when it returns."""
        future: Future[Score] = Future()
        future.set_running_or_notify_cancel()
        entry = self._record(0, task, answer, response, question)
        begun = self._begin(entry) if isinstance(entry, Record) else entry

        def deliver(begun: Score | PendingScore) -> None:
            score = _delivered(begun, entry)
            self._counts.add(score.status)
            future.set_result(score)

        if isinstance(begun, PendingScore):
            begun.when_done(lambda _: deliver(begun))
        else:
            deliver(begun)
        return future

    # many

    def score(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """One `Score` per sample of each record (a dict in any input dialect), in order.

        Rows of lm-evaluation-harness count if they are of the option ``filter``, or of the first filter that
        comes; those of others have no `Score`.

        Raises
        ------
        UsageError
            ``records`` is no iterable of records, but a path, a data frame, or one record.
        """
        check_records(records)
        entries: list[Record | Score] = []
        chosen = self.job.filter
        for index, row in enumerate(records):
            if isinstance(row, Mapping):
                chosen = chosen or filter_of(row, self.job.dialect)
                entries += self._scoring.row(row, index, chosen)
            else:
                kind = type(row).__name__
                entries.append(
                    unscored(index, None, None, 0, "invalid_record", "InvalidRecord", f"{kind}, not a dict")
                )
        return self._score_all(entries)

    async def ascore(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """`score` for an event loop, which goes on meanwhile: it is run in a thread of its own."""
        check_records(records)
        return await asyncio.to_thread(self.score, records)

    def score_batch(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[object],
        responses: Sequence[object],
        *,
        questions: Sequence[object] | None = None,
    ) -> ScoreBatch:
        """Results in input order, of input length, always.

        Raises
        ------
        UsageError
            The sequences differ in length, or one of them is a single text or answer.
        """
        return ScoreBatch.of(self.scores(tasks, answers, responses, questions=questions))

    def scores(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[object],
        responses: Sequence[object],
        *,
        questions: Sequence[object] | None = None,
    ) -> list[Score]:
        """The rows of `score_batch` alone; it raises what that raises."""
        rows = rows_of(tasks, answers, responses, questions)
        if len(rows) == 1:
            return [self.score_one(*rows[0])]
        return self._score_all([self._record(at, *row) for at, row in enumerate(rows)])

    def rewards(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[object],
        responses: Sequence[object],
        *,
        questions: Sequence[object] | None = None,
    ) -> list[float | None]:
        """The rewards of a batch, in order; ``on_error`` where there is none.

        Raises
        ------
        UnscoredError
            A response has none and ``on_error`` is ``"raise"``.
        UsageError
            The sequences differ in length.
        """
        return [self.value_of(score) for score in self.scores(tasks, answers, responses, questions=questions)]

    def value_of(self, score: Score) -> float | None:
        """The reward of a score, ``on_error`` applied. Raises `UnscoredError` if that says so."""
        return value_of(score, self.on_error, self.job.options.policy)

    def stats(self) -> dict[str, int]:
        """Responses so far by status, and what the machinery did: ``scored_before`` (answers known from
        an earlier call), ``shared`` (equal answers scored at the same time), ``workers`` (running now) and
        ``workers_replaced``."""
        names = (*STATUSES, "scored_before", "shared")
        return {**{name: self._counts[name] for name in names}, **self._isolated.stats()}

    # inside

    def _record(
        self, index: int, name: object, answer: object, response: object, question: object
    ) -> Record | Score:
        if name is None:
            name = self.job.task
        if isinstance(answer, str):
            answer = once_decoded(answer)
        task = infer_task(answer) if name is None else find_task(name)
        if task is None:
            known = "task cannot be inferred from answer" if name is None else f"unknown task {name!r:.60}"
            return unscored(index, None, None, 0, "invalid_record", "UnknownTask", known)
        if type(response) is not str:
            response = text_in(response)
        return Record(index, None, task.name, answer, response, question)

    def _in_process(self, task: Task, record: Record) -> Score:
        try:
            return self._scoring.score_one(task, record)
        except Exception as error:
            return failed(record, error)

    def _score_all(self, entries: Sequence[Record | Score]) -> list[Score]:
        begun: list[Score | PendingScore | None] = [None] * len(entries)
        here: list[int] = []
        with self._isolated.pending_batch() as new:
            for at, entry in enumerate(entries):
                if isinstance(entry, Score):
                    begun[at] = entry
                elif self._goes_to_workers(entry):
                    begun[at] = self._begin_on_workers(entry, new)
                    if len(new) >= SUBMIT_EVERY:
                        self._isolated.submit(new)
                        new.clear()
                else:
                    here.append(at)
        embeds = any(TASKS[entries[at].task or ""].embeds for at in here)
        if self._scoring.reader is None:
            self._make_reader(TASKS[entries[at].task or ""] for at in here)
        with self._embedding.lock if embeds else nullcontext():
            for at, score in zip(here, self._scoring.entries([entries[at] for at in here]), strict=True):
                begun[at] = score
        scores = [_delivered(*pair) for pair in zip(begun, entries, strict=True)]
        self._counts.add_all([score.status for score in scores])
        return scores

    def _goes_to_workers(self, record: Record) -> bool:
        return self.workers != 0 and (TASKS[record.task].can_hang or _is_long(record))

    def _begin_on_workers(self, record: Record, new: list[PendingScore]) -> Score | PendingScore:
        if _is_long(record):
            return self._isolated.begin_alone(record, new)
        return self._isolated.begin(TASKS[record.task], record, new)

    def _begin(self, record: Record) -> Score | PendingScore:
        if self._goes_to_workers(record):
            with self._isolated.pending_batch() as new:
                return self._begin_on_workers(record, new)
        task = TASKS[record.task]
        if self._scoring.reader is None:
            self._make_reader((task,))
        return self._embedding(record) if task.embeds else self._in_process(task, record)

    def _make_reader(self, tasks: Iterable[Task]) -> None:
        """Have a kernel read responses, if it knows one of the tasks."""
        if self.job.options.strict and any(task.text_kernel is not None for task in tasks):
            from relfast.engine.strict_reader import StrictReader

            self._scoring.reader = StrictReader(self.job.options)

    def _after_fork(self) -> None:
        """In a forked child, which has none of the parent's threads and workers."""
        self._isolated.abandon()
        self._start_anew()


def _is_long(record: Record) -> bool:
    return type(record.response) is str and len(record.response) > HOST_CHARS


_embedding_turn = threading.Lock()
"""Held by whoever embeds in this process. A model takes all cores: two scorers at once would each pay with
their records' time for the other's."""

_alive: weakref.WeakSet[Scorer] = weakref.WeakSet()


def _renew_all() -> None:
    global _embedding_turn
    _embedding_turn = threading.Lock()
    for scorer in list(_alive):
        scorer._after_fork()


os.register_at_fork(after_in_child=_renew_all)


def _delivered(begun: Score | PendingScore | None, entry: Record | Score) -> Score:
    """The row of an entry, waited for if need be."""
    if isinstance(begun, PendingScore):
        assert isinstance(entry, Record)
        return for_record(begun.score(), entry)
    assert begun is not None
    return begun
