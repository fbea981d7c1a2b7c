"""`Scorer`: scores in calls and keeps workers and scored answers between them. All rewards run on it.

Responses that kernels can score (`relfast.engine.columns.scoring`) are scored in the calling thread,
in microseconds. So are mazes, and solutions that are embedded, in steps between which each record's deadline
is checked. Other chemistry can hang or crash, and a response of megabytes takes seconds that nothing can
interrupt: such records go to workers, which a timer can end, unless equal answers were scored before
(`relfast.engine.calls.isolated_scoring`).

Any thread may call a scorer. It can be pickled, and after a fork the child can use it with new workers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, Unpack, overload

from relfast.engine.calls.incoming import Columns, check_records, columns_of, flaw_of, response_in
from relfast.engine.calls.isolated_scoring import IsolatedScoring
from relfast.engine.calls.pending import Begun, Counts, MicroBatcher, PendingScore, delivered
from relfast.engine.calls.unscored import checked_on_error, level_of_caller, log_unscored, value_of
from relfast.engine.columns.scoring import MAX_CHARS, MAX_MOLECULES, Scoring, tell
from relfast.engine.files.io.reader import read_gold
from relfast.engine.job import AdapterKeywords, Job, JobKeywords, OnError, make_job, workers_of
from relfast.errors import RelfastError, TooManyError, UnknownTaskError
from relfast.formats import filter_of
from relfast.formats.entry import no_text
from relfast.formats.failure import CUT_OFF, NO_ASSISTANT, NO_CONTENT, NULL, NoResponse
from relfast.json_text import once_decoded
from relfast.records import Record, Score, unscored
from relfast.results import ScoreBatch
from relfast.support.deadlines import WorkingClock
from relfast.support.system import default_workers
from relfast.tasks import TASKS, find_task, get_task, infer_task
from relfast.tasks.base import Task

_log: Final = logging.getLogger("relfast")

SUBMIT_EVERY: Final = 32
"""Records of a batch that are prepared at a time; workers score them while the next ones are prepared."""


class Scorer:
    """Scores records and batches; a context manager.

    Thread-safe. A pickled scorer keeps its options, but not its workers and cached scores. After a fork the
    child has a scorer without workers. Workers start when a record first needs one; they end with `close`,
    with this object, or with the process. A closed scorer starts new workers when it is used again.

    Parameters
    ----------
    workers
        Worker processes for tasks that can hang (REL-C2, REL-C3) and for responses of more than a million
        characters; default: usable cores; 0: score them in this process, where nothing can stop them.
    on_error
        What `reward` and `rewards` return for a response without a score: None, a number, or ``"raise"``; or
        one of these for each kind of failure, ``{"response": …, "machinery": …}``
        (`relfast.engine.job.OnErrorByKind`). A single value counts for ``machinery``. Under ``strict`` a
        response that exceeds its deadline or crashes its workers gets the lowest reward of its task, unless
        ``response`` says otherwise: hanging must not pay. Under ``reference`` both kinds get the same value.
    **options
        As in `relfast.score`: ``policy``, ``timeout`` (s per record, from the start of its scoring; 0 or
        None: no limit), ``rewards``, ``details``, ``task``, and the fields of
        `relfast.tasks.AllOptions`.

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
        self._prepare()

    def _prepare(self) -> None:
        gold = read_gold(self.job.data, self.job.max_line_bytes, strict=self.job.options.strict)
        if gold.repeated is not None:
            warnings.warn(f"relfast: {gold.repeated.describe(self.job.data)}", stacklevel=level_of_caller())
        self._scoring = Scoring(self.job, gold, clock=WorkingClock())
        self._start_anew()
        _alive.add(self)

    def _start_anew(self) -> None:
        """Make everything that does not survive a fork or a pickle: counters, kernels, workers, locks."""
        self._counts = Counts()
        self._scoring.open_kernels(known=self._counts["scored_before"], longest=MAX_MOLECULES, failed=tell)
        # with details rows hold lists, which callers may change, so no row may be shared
        self._kernels = None if self.job.details else self._scoring.kernels
        self._isolated = IsolatedScoring(self._scoring, self.workers, self._counts)
        # an embedding model is fastest on many texts at once, and a single call uses all cores
        self._embedding = MicroBatcher(self._here, _embedding_turn)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("job", "workers", "on_error")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; may be called more than once. Calls that wait for workers get unscored rows."""
        self._isolated.close()

    def start(self) -> None:
        """Start the workers now (0.5 s) rather than when a record first needs one."""
        if self.workers != 0:
            self._isolated.start()

    def prepare(self, *tasks: str) -> dict[str, float]:
        """Load what tasks (default: all) are scored with, and wait for the workers, so that no response pays
        for it: machine code, an embedding model, a worker that has answered. Counts nothing.

        Returns
        -------
        dict
            Task → seconds that it took.

        Raises
        ------
        UnknownTaskError
            There is no such task.
        RelfastError
            A task that is named cannot be scored here: no embedding model, say. Without names it is logged.
        """
        took = {}
        self.start()
        for task in [*map(get_task, tasks)] or TASKS.values():
            begun = time.perf_counter()
            try:
                self._prepare_task(task)
            except RelfastError as error:
                if tasks:
                    raise
                _log.warning("relfast: %s cannot be scored here: %s", task.name, error)
                continue
            took[task.name] = time.perf_counter() - begun
        return took

    def _prepare_task(self, task: Task) -> None:
        task.load()
        if self._kernels is not None:
            self._kernels.of(task.name)
        if task.embeds:
            from relfast.embed.embedder import get_embedder

            options = self.job.options
            get_embedder(options.embedder, options.device).encode(["A first step."])
        if task.can_hang and self.workers != 0:
            new: list[PendingScore] = []
            begun = self._isolated.begin_alone(Record(0, None, task.name, {}, ""), new)
            self._isolated.submit(new)
            if isinstance(begun, PendingScore):
                begun.result()

    # one response

    @overload
    def kept_score(self, task: Any, answer: Any, response: Any, question: Any = None) -> Score: ...
    @overload
    def kept_score(
        self, task: Any, answer: Any, response: Any, question: Any, is_waited_for: bool
    ) -> Score | None: ...
    def kept_score(
        self, task: Any, answer: Any, response: Any, question: Any = None, is_waited_for: bool = True
    ) -> Score | None:
        """`score_one` for callers that only read the score, as trainers' adapters do: other responses may
        share the returned object, so it must not be changed. With ``is_waited_for`` False: None if a worker
        is needed."""
        score = None
        task = self._name_of(answer) if task is None else task
        if type(response) is not str:
            response = response_in(response)
        if self._kernels is not None and type(task) is str and type(response) is str:
            score = self._kernels.kept(task, answer, response, question)
        if score is None:
            record = self._record(0, task, answer, response, question)
            if not is_waited_for and isinstance(record, Record) and self._goes_to_workers(record):
                return None
            (begun,) = self._begin([record])
            score = delivered(begun, record)
        self._counts[score.status]()
        return score

    def score_one(self, task: str | None, answer: object, response: object, question: object = None) -> Score:
        """The score of one response.

        Parameters
        ----------
        task
            Task name, upper or lower case; None: inferred from the keys of ``answer``.
        answer
            Gold: a dict, or its JSON text.
        response
            The model's text, or chat messages, of which the last assistant message counts.
        question
            The question's text. SeqBench reads it, and under ``strict`` each task whose
            `Task.strict_needs` contains ``question``.
        """
        return _copies([self.kept_score(task, answer, response, question)])[0]

    def reward(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> float | None:
        """The reward of one response, or the value of ``on_error`` if it has no score.

        Raises
        ------
        UnscoredError
            The response has no score and ``on_error`` is ``"raise"``.
        UnknownTaskError
            There is no such task.
        """
        score = self.kept_score(task, answer, response, question)
        return self._one_value(score, task, answer) if score.reward is None else score.reward

    async def areward(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> float | None:
        """`reward` for an event loop. It is blocked while this process scores, but not while workers do.

        Raises
        ------
        UnscoredError
            As in `reward`.
        """
        score = self.kept_score(task, answer, response, question, False)
        if score is None:
            score = await asyncio.wrap_future(self.submit(task, answer, response, question))
        return self._one_value(score, task, answer) if score.reward is None else score.reward

    def submit(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> Future[Score]:
        """`score_one` as a future, which an event loop awaits with ``asyncio.wrap_future``. It does not wait
        for workers; responses that need no worker are scored when it returns."""
        future: Future[Score] = Future()
        future.set_running_or_notify_cancel()
        record = self._record(0, task, answer, response, question)

        def deliver(begun: Any) -> None:
            score = delivered(begun, record)
            self._counts[score.status]()
            future.set_result(score)

        (begun,) = self._begin([record])
        if isinstance(begun, PendingScore):
            begun.add_done_callback(deliver)
        else:
            deliver(begun)
        return future

    # many

    def kept_scores(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[object],
        responses: Sequence[object],
        *,
        questions: Sequence[object] | None = None,
    ) -> list[Score]:
        """The scores of `score_batch` for callers that only read them, see `kept_score`; their ``index``
        means nothing."""
        columns = columns_of(tasks, answers, responses, questions)
        if len(columns[0]) == 1:
            (name,), (answer,), (response,), asked = columns
            return [self.kept_score(name, answer, response, asked[0] if asked else None)]
        return self.begin_columns(columns).scores()

    def begin_columns(self, columns: Columns) -> Begun:
        """`kept_scores` without waiting for the records that workers score: see `Begun.ended`."""
        names, answers, responses, questions = columns
        responses = [text if type(text) is str else response_in(text) for text in responses]
        names = [
            self._name_of(gold) if name is None else name for name, gold in zip(names, answers, strict=True)
        ]
        n = len(names)
        of_task: dict[str | None, list[int]] = {}
        for at, name in enumerate(names):
            of_task.setdefault(name if type(name) is str else None, []).append(at)
        begun: list[Any] = [None] * n
        for task, places in of_task.items():
            if self._kernels is None or task is None or task not in TASKS:
                continue
            part: Sequence[Any] = (answers, responses, questions)
            if len(places) < n:
                part = [None if column is None else [column[at] for at in places] for column in part]
            for at, row in zip(places, self._kernels.kept_all(task, *part), strict=True):
                begun[at] = row
        records: list[Record | Score | None] = [None] * n
        left = [at for at, row in enumerate(begun) if row is None]
        for at in left:
            question = questions[at] if questions else None
            records[at] = self._record(at, names[at], answers[at], responses[at], question)
        more = self._begin([records[at] for at in left]) if left else ()
        for at, each in zip(left, more, strict=True):
            begun[at] = each
        return Begun(begun, records, self._counts)

    def score(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """One `Score` per sample of each record (a dict in any input dialect), in order.

        Of rows of lm-evaluation-harness only those of the filter given as option ``filter``, or else of the
        first filter that occurs, are scored; the others have no `Score`.

        Raises
        ------
        UsageError
            ``records`` is no iterable of records, but a path, a data frame, or one record.
        """
        return self.begin(records).scores()

    def begin(self, records: Iterable[Mapping[str, Any] | bytes], most: int = sys.maxsize - 1) -> Begun:
        """`score` without waiting for the records that workers score: see `Begun.ended`. A record may also be
        the bytes of a line.

        Raises
        ------
        TooManyError
            The records have more than ``most`` samples.
        """
        check_records(records)
        made: list[Record | Score] = []
        chosen = self.job.filter
        for index, row in enumerate(records):
            if isinstance(row, Mapping):
                chosen = chosen or filter_of(row, self.job.dialect)
                made += self._scoring.records_of_row(row, index, chosen, most - len(made) + 1)
            elif isinstance(row, bytes):
                made += self._scoring.records_of_line(row, index, chosen, most - len(made) + 1)
            else:
                kind = type(row).__name__
                made.append(
                    unscored(index, None, None, 0, "invalid_record", "InvalidRecord", f"{kind}, not a dict")
                )
            if len(made) > most:
                raise TooManyError(f"more than {most} samples")
        return Begun(self._begin(made), made, self._counts)

    async def ascore(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """`score` without blocking the event loop; no thread waits for workers."""
        check_records(records)
        begun = await asyncio.to_thread(self.begin, records)
        await begun.ended()
        return begun.scores()

    def score_batch(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[object],
        responses: Sequence[object],
        *,
        questions: Sequence[object] | None = None,
    ) -> ScoreBatch:
        """Score parallel sequences. The results always have the same length and order.

        Raises
        ------
        UsageError
            The sequences differ in length, or one of them is a single text or answer.
        """
        kept = self.kept_scores(tasks, answers, responses, questions=questions)
        return ScoreBatch.of(_copies(kept))

    def rewards(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[object],
        responses: Sequence[object],
        *,
        questions: Sequence[object] | None = None,
    ) -> list[float | None]:
        """The rewards of a batch, in order; a response without a score gets the value of ``on_error``.

        Raises
        ------
        UnscoredError
            A response has no score and ``on_error`` is ``"raise"``.
        UsageError
            The sequences differ in length.
        UnknownTaskError
            No task has a known name.
        """
        scores = self.kept_scores(tasks, answers, responses, questions=questions)
        if tasks is not None and scores and all(map(_is_of_unknown_task, scores)):
            raise UnknownTaskError(tasks if isinstance(tasks, str) else tasks[0], TASKS)
        return [
            self._told_value(score, answer, at) if score.reward is None else score.reward
            for at, (score, answer) in enumerate(zip(scores, answers, strict=True))
        ]

    def _one_value(self, score: Score, task: str | None, answer: object) -> float | None:
        """The result of `reward` for a score without one."""
        if task is not None and _is_of_unknown_task(score):
            raise UnknownTaskError(task, TASKS)
        return self._told_value(score, answer)

    def _told_value(self, score: Score, answer: object, at: int = 0) -> float | None:
        """`value_of` a score without a reward, whose reason is logged."""
        log_unscored(score, answer, at)
        return self.value_of(score)

    def value_of(self, score: Score) -> float | None:
        """The reward of a score, or the value of ``on_error`` if it has none. May raise `UnscoredError`."""
        return value_of(score, self.on_error, self.job.options.policy)

    def stats(self) -> dict[str, int]:
        """The number of responses so far by status, and what the machinery did: ``scored_before`` (responses
        of REL-C2 and C3 whose answer had been scored already, in this call or before), ``shared`` (those
        whose answer was being scored at the time), ``workers`` (running now) and ``workers_replaced``."""
        return {**self._counts.told(), **self._isolated.stats()}

    # inside

    def _name_of(self, answer: Any) -> str | None:
        """The task's name when the caller gives none: the job's task, or inferred from the answer."""
        if self.job.task is not None:
            return self.job.task
        task = infer_task(once_decoded(answer) if isinstance(answer, str) else answer)
        return None if task is None else task.name

    def _record(self, index: int, name: Any, answer: Any, response: Any, question: Any) -> Record | Score:
        """The record for a call's arguments; an unscored `Score` if the task is unknown or the response is
        no text."""
        name = self._name_of(answer) if name is None else name
        if isinstance(answer, str):
            answer = once_decoded(answer)
        task = None if name is None else find_task(name)
        if task is None:
            message = "task cannot be inferred from answer" if name is None else f"unknown task {name!r:.60}"
            return unscored(index, None, None, 0, "invalid_record", "UnknownTask", message)
        text = response if type(response) is str else response_in(response)
        cut_off = text is CUT_OFF
        if text in _NOTHING if isinstance(text, NoResponse) else type(text) is list and not text:
            text = None  # a call says so of a response without any text, which has no answer
        elif not cut_off and type(text) is not str:
            failure = text if isinstance(text, NoResponse) else no_text(text)
            return unscored(index, None, task.name, 0, "invalid_record", *failure)
        return Record(index, None, task.name, answer, "" if cut_off else text, question, cut_off=cut_off)

    def _begin(self, records: Sequence[Any]) -> list[Score | PendingScore]:
        """Score the records that need no worker, and submit the others. Returns for each its score or
        pending score; the `Score` of one that could not be made is returned as it is."""
        begun: list[Any] = [*records]
        here: dict[str, list[int]] = {}
        isolated: dict[str, list[int]] = {}
        with self._isolated.pending_batch() as new:
            for at, record in enumerate(records):
                if isinstance(record, Score):
                    continue
                if not self._goes_to_workers(record):
                    flaw = flaw_of(record) if TASKS[record.task].can_hang else None
                    if flaw is None:
                        here.setdefault(record.task, []).append(at)
                    else:
                        begun[at] = flaw
                elif _is_long(record):
                    begun[at] = self._isolated.begin_alone(record, new)
                else:
                    isolated.setdefault(record.task, []).append(at)
            for name, places in isolated.items():
                for first in range(0, len(places), SUBMIT_EVERY):
                    some = places[first : first + SUBMIT_EVERY]
                    group = [records[at] for at in some]
                    found = self._isolated.begin_all(TASKS[name], group, new)
                    for at, each in zip(some, found, strict=True):
                        begun[at] = each
                    self._isolated.submit(new)
                    new.clear()
        for name, places in here.items():
            score = self._embedding if TASKS[name].embeds else self._here
            for at, row in zip(places, score([records[at] for at in places]), strict=True):
                begun[at] = row
        return begun

    def _here(self, records: Sequence[Record]) -> list[Score]:
        """Score records of one task in this process; unscored rows if a model or package is missing."""
        try:
            return list(self._scoring.scores(records))
        except RelfastError as error:
            # no embedding model, or a missing package: no record's fault, and other tasks can be scored
            why = type(error).__name__, str(error)
            return [each.unscored("crashed", *why) for each in records]

    def _goes_to_workers(self, record: Record) -> bool:
        return self.workers != 0 and (TASKS[record.task].can_hang or _is_long(record))

    def _after_fork(self) -> None:
        """In a forked child, which has none of the parent's threads and workers."""
        self._isolated.abandon()
        self._start_anew()


_NOTHING: Final = (NULL, NO_CONTENT, NO_ASSISTANT)


def _copies(rows: Iterable[Score]) -> list[Score]:
    """Copies, numbered from 0, of rows that other responses may share; the caller may change them."""
    copies = []
    asked = Record(0, None, "", None, None)  # one for all: making it takes as long as a copy
    for at, row in enumerate(rows):
        task: Any = row.task  # None if it is unknown
        asked.index, asked.task = at, task
        copies.append(row.own(asked))
    return copies


def _is_of_unknown_task(score: Score) -> bool:
    return score.error is not None and score.error["type"] == "UnknownTask"


def _is_long(record: Record) -> bool:
    return type(record.response) is str and len(record.response) > MAX_CHARS


_embedding_turn = threading.Lock()
"""Held by the thread that embeds in this process. A model uses all cores: if two scorers embedded at once,
each one's records would be charged for the time of the other's."""

_alive: weakref.WeakSet[Scorer] = weakref.WeakSet()


# the scorers of a process: one for each set of options, behind its reward functions

WORKERS: Final = 1
"""Default number of workers of a process's reward functions, without ``workers`` and ``RELFAST_WORKERS``.

Trainers run many processes that score (verl eight, by default) on one machine, and kernels score nearly all
chemistry without a worker: one, started when first needed, is enough for the rest."""

_scorers: dict[str, Scorer] = {}
_shared_lock = threading.Lock()


def shared_scorer(options: AdapterKeywords) -> Scorer:
    """This process's scorer with these options, made at the first call.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that cannot be used.
    """
    key = repr(sorted(options.items()))
    scorer = _scorers.get(key)
    if scorer is None:
        with _shared_lock:
            scorer = _scorers.get(key)
            if scorer is None:
                settled: AdapterKeywords = {"workers": default_workers(WORKERS), **options}
                scorer = _scorers[key] = Scorer(**settled)
    return scorer


def stats_of_process() -> dict[str, int]:
    """`relfast.Scorer.stats` summed over the scorers behind this process's reward functions."""
    total: Counter[str] = Counter()
    for scorer in list(_scorers.values()):
        total.update(scorer.stats())
    return dict(total)


def close_shared() -> None:
    """End the workers behind this process's reward functions; a later call starts new ones."""
    for scorer in list(_scorers.values()):
        scorer.close()


def _renew_all() -> None:
    """In a forked child, where threads that may have held a lock do not exist."""
    global _embedding_turn, _shared_lock
    _embedding_turn, _shared_lock = threading.Lock(), threading.Lock()
    for scorer in list(_alive):
        scorer._after_fork()


os.register_at_fork(after_in_child=_renew_all)
