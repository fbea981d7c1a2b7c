"""Where each record of a `relfast.Scorer` is scored: in the calling thread, or by workers.

Texts and mazes are scored where they are asked for, in microseconds (`TextRoute`: texts that a kernel
reads); so are solutions that are embedded, in steps between which each record's deadline is looked at.
Chemistry can hang or crash, and a response of megabytes takes seconds in one go: they go to workers, which a
timer ends, unless their answers were scored before or a kernel can judge them here (`JudgedRoute`: gold and
responses that kernels read).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any, Final, overload

from relfast.cores import usable_cores
from relfast.engine.online.counts import Counts
from relfast.engine.online.incoming import Columns, flaw_of, text_in
from relfast.engine.online.isolated_scoring import IsolatedScoring
from relfast.engine.online.judged_route import JudgedRoute
from relfast.engine.online.pending import Begun, PendingScore, delivered
from relfast.engine.online.text_route import TextRoute, own
from relfast.engine.scoring import Scoring, failed
from relfast.engine.strict_reader import FEW
from relfast.errors import RelfastError
from relfast.json_text import once_decoded
from relfast.records import Record, Score, unscored
from relfast.results import ScoreBatch
from relfast.tasks import TASKS, find_task, infer_task
from relfast.tasks.base import Task

MAX_TOGETHER: Final = 256
"""Records scored in one go; more would only make the first wait for the last."""


class MicroBatcher:
    """One thread at a time scores, for itself and for all that wait.

    A call that comes alone is scored at once; calls that come meanwhile are scored together by whoever is
    let in next. Thread-safe.

    Parameters
    ----------
    score
        Scores of records, in order; may raise.
    lock
        Held by whoever scores; hold it to score many without waiting callers. Those that share it take
        turns.
    """

    def __init__(self, score: Callable[[Sequence[Record]], list[Score]], lock: threading.Lock) -> None:
        self._score = score
        self.lock = lock
        self._waiting: deque[tuple[Record, Future[Score]]] = deque()

    def __call__(self, record: Record) -> Score:
        """The record's score. Raises what scoring raised."""
        mine: Future[Score] = Future()
        self._waiting.append((record, mine))
        with self.lock:
            while not mine.done():
                self._score_some()
        return mine.result()

    def _score_some(self) -> None:
        together = [self._waiting.popleft() for _ in range(min(MAX_TOGETHER, len(self._waiting)))]
        try:
            scores = self._score([record for record, _ in together])
        except BaseException as error:
            for _, future in together:
                future.set_exception(error)
            if not isinstance(error, Exception):
                raise  # a Ctrl-C is the caller's, and nobody else's wait may last for ever
            return
        for (_, future), score in zip(together, scores, strict=True):
            future.set_result(score)


HOST_CHARS: Final = 1_000_000
"""Longest response scored in the host: at worst 0.1 s, which nothing there could cut short."""

SUBMIT_EVERY: Final = 32
"""Records of a batch that are prepared before workers are given them: they start while we go on."""

MAX_THREADS: Final = 4
"""Threads that work for a call in the host, if there may be as many workers."""

_RETRY_SECONDS: Final = 2.0
"""How often it is looked whether the kernels of a `JudgedRoute` have been compiled meanwhile."""

_JUDGED: Final = frozenset(name for name, task in TASKS.items() if task.of_texts is not None)


class Routes:
    """The ways of one scorer, good for one process. Thread-safe.

    Parameters
    ----------
    scoring
        The job; its reader is set here.
    workers
        Worker processes; None: usable cores; 0: everything is scored in this process.
    counts
        Told of each score's status, where `score`, `score_at_once` and `score_all` give it.
    isolated
        What goes to workers.
    turn
        Held by whoever embeds.
    """

    def __init__(
        self,
        scoring: Scoring,
        workers: int | None,
        counts: Counts,
        isolated: IsolatedScoring,
        turn: threading.Lock,
    ) -> None:
        self._scoring, self._workers, self._counts, self._isolated = scoring, workers, counts, isolated
        self._ticks = counts.ticks
        # an embedding model is fastest on many texts, and one call fills all cores
        self._embedding = MicroBatcher(self._here, turn)
        self._texts: dict[str, TextRoute] = {}
        self._judged: dict[str, JudgedRoute] = {}
        self._looked: dict[str, float] = {}
        scoring.reader = None  # its lock may be held by a thread of the parent

    # one response

    def score(self, task: Any, answer: Any, response: Any, question: Any) -> Score:
        """The score of one response, waited for if need be."""
        return own(self.kept(task, answer, response, question))

    @overload
    def kept(self, task: Any, answer: Any, response: Any, question: Any) -> Score: ...
    @overload
    def kept(
        self, task: Any, answer: Any, response: Any, question: Any, is_waited_for: bool
    ) -> Score | None: ...
    def kept(
        self, task: Any, answer: Any, response: Any, question: Any, is_waited_for: bool = True
    ) -> Score | None:
        """The same for who only reads it: the row may be that of other responses too.

        None if a worker is needed for it, and it ``is_waited_for`` by somebody else.
        """
        # as `_text`, without a call
        route = self._texts.get(task) if type(task) is str else None
        if route is not None and type(response) is str and len(response) <= HOST_CHARS:
            if type(answer) is str:
                answer = once_decoded(answer)
            score = route.kept(answer, response, question)
        else:
            found = self._text(task, answer, response, question)
            if found is None:
                entry = self.record(0, task, answer, response, question)
                if isinstance(entry, Score):
                    found = entry
                elif not is_waited_for and self._goes_to_workers(entry):
                    return None
                else:
                    found = delivered(self.begin(entry), entry)
            score = found
        self._ticks[score.status]()
        return score

    def _text(self, task: Any, answer: Any, response: Any, question: Any) -> Score | None:
        """The score of a response whose task has a short way, if it can go there; None: it cannot."""
        if type(task) is not str or type(response) is not str or len(response) > HOST_CHARS:
            return None
        gold = once_decoded(answer) if type(answer) is str else answer
        route = self._texts.get(task)
        if route is not None:
            return route.kept(gold, response, question)
        judged = self._judged.get(task) or self._judged_route(task)
        return None if judged is None else judged.score(gold, response)

    def _has_short_way(self, name: str) -> bool:
        return name in self._texts or self._judged_route(name) is not None

    def _judged_route(self, name: str) -> JudgedRoute | None:
        """The route of a task whose responses kernels can judge; None without it."""
        route = self._judged.get(name)
        if route is not None or name not in _JUDGED or self._scoring.job.details:
            return route
        now = time.monotonic()
        if now - self._looked.get(name, -_RETRY_SECONDS) < _RETRY_SECONDS:
            return None
        self._looked[name] = now
        task = TASKS[name]
        threads = min(MAX_THREADS, usable_cores() if self._workers is None else self._workers)
        judge = task.text_judge(self._scoring.options, threads)
        if judge is None:
            return None
        # of several threads that come here at once the first one's counts
        route = JudgedRoute(task, self._scoring, judge, threads, self._counts)
        return self._judged.setdefault(name, route)

    def record(self, index: int, name: Any, answer: Any, response: Any, question: Any) -> Record | Score:
        """What is asked as a record; a score that says so where it is none."""
        if name is None:
            name = self._scoring.job.task
        if isinstance(answer, str):
            answer = once_decoded(answer)
        task = infer_task(answer) if name is None else find_task(name)
        if task is None:
            known = "task cannot be inferred from answer" if name is None else f"unknown task {name!r:.60}"
            return unscored(index, None, None, 0, "invalid_record", "UnknownTask", known)
        if type(response) is not str:
            response = text_in(response)
        return Record(index, None, task.name, answer, response, question)

    def begin(self, record: Record) -> Score | PendingScore:
        """A record's score, or the place where it will be."""
        if self._goes_to_workers(record):
            with self._isolated.pending_batch() as new:
                return self._begin_on_workers(record, new)
        task = TASKS[record.task]
        flaw = flaw_of(record) if task.can_hang else None
        if flaw is not None:
            return flaw  # as where there are workers
        if self._scoring.reader is None:
            self._make_reader((task,))
        return self._embedding(record) if task.embeds else self._in_process(task, record)

    def _in_process(self, task: Task, record: Record) -> Score:
        try:
            return self._scoring.score_one(task, record)
        except Exception as error:
            return failed(record, error)

    # many

    def score_batch(self, columns: Columns) -> list[Score] | ScoreBatch:
        """Scores of a batch, in order; by columns where a kernel has judged them all."""
        found = self.kept_batch(columns)
        return found if isinstance(found, ScoreBatch) else [own(row, at) for at, row in enumerate(found)]

    def kept_batch(self, columns: Columns) -> list[Score] | ScoreBatch:
        """The same for who only reads them: a row may be that of several responses, and names no place."""
        names, answers, responses, questions = columns
        if len(names) == 1:
            return [self.kept(names[0], answers[0], responses[0], questions[0] if questions else None)]
        if len(names) <= FEW:
            few = self._few(columns)
            if few is not None:
                return few
        texts, others = self._of_short_ways(names, responses)
        if not others and len(texts) == 1 and names[0] in self._texts:
            return self._counted(self._texts[names[0]].kept_all(answers, responses, questions))
        scores: list[Any] = [None] * len(names)
        for name in self._judged.keys() & texts.keys():
            places, route = texts.pop(name), self._judged[name]
            if len(places) == len(names):
                judged = route.judge(answers, responses)
                batch = route.maker.batch(judged)
                if batch is not None:
                    self._counts.add_all(batch.status.tolist())
                    return batch
            else:
                judged = route.judge([answers[at] for at in places], [responses[at] for at in places])
            for at, text in zip(places, judged, strict=True):
                if text is not None:
                    scores[at] = route.maker.row(at, text)
            others = [*others, *(at for at, text in zip(places, judged, strict=True) if text is None)]
        entries = [
            self.record(at, names[at], answers[at], responses[at], questions[at] if questions else None)
            for at in others
        ]
        # workers are busy while the texts are scored
        begun = self._begun(entries) if entries else []
        for name, places in texts.items():
            asked = None if questions is None else [questions[at] for at in places]
            of_name = [answers[at] for at in places], [responses[at] for at in places], asked
            for at, score in zip(places, self._texts[name].kept_all(*of_name), strict=True):
                scores[at] = score
        for at, each, entry in zip(others, begun, entries, strict=True):
            scores[at] = delivered(each, entry)
        return self._counted(scores)

    def _few(self, columns: Columns) -> list[Score] | None:
        """Scores of a few texts of one task, at what as many calls cost; None: they are something else."""
        names, answers, responses, questions = columns
        name = names[0] if names else None
        route = self._texts.get(name) if type(name) is str else None
        if route is None:
            return None
        for one, response in zip(names, responses, strict=True):
            if one is not name and (type(one) is not str or one != name):
                return None
            if type(response) is not str or len(response) > HOST_CHARS:
                return None
        scores = route.kept_all(answers, responses, questions)
        ticks = self._ticks
        for score in scores:
            ticks[score.status]()
        return scores

    def _of_short_ways(
        self, names: list[Any], responses: list[Any]
    ) -> tuple[dict[str, Sequence[int]], Sequence[int]]:
        """Places of a batch by the task whose short way they go, and those of all others."""
        n = len(names)
        kinds = set(map(type, names)), set(map(type, responses))
        if kinds == ({str}, {str}) and max(map(len, responses)) <= HOST_CHARS and len(set(names)) == 1:
            # most batches have one task
            return ({names[0]: range(n)}, ()) if self._has_short_way(names[0]) else ({}, range(n))
        texts: dict[str, Any] = {}
        others: list[int] = []
        for at, (name, response) in enumerate(zip(names, responses, strict=True)):
            is_short = type(response) is str and type(name) is str and len(response) <= HOST_CHARS
            if is_short and self._has_short_way(name):
                texts.setdefault(name, []).append(at)
            else:
                others.append(at)
        return texts, others

    def begin_all(self, entries: Sequence[Record | Score]) -> Begun:
        """Score records as far as that needs no worker; entries that are scores already pass through."""
        return Begun(self._begun(entries), entries, self._counted)

    def _begun(self, entries: Sequence[Record | Score]) -> list[Score | PendingScore]:
        """The score of each entry, or where it will be."""
        begun: list[Score | PendingScore | None] = [None] * len(entries)
        here: dict[str, list[int]] = {}
        isolated: dict[str, list[int]] = {}
        with self._isolated.pending_batch() as new:
            for at, entry in enumerate(entries):
                if isinstance(entry, Score):
                    begun[at] = entry
                elif not self._goes_to_workers(entry):
                    begun[at] = flaw = flaw_of(entry) if TASKS[entry.task].can_hang else None
                    if flaw is None:
                        here.setdefault(entry.task, []).append(at)
                elif _is_long(entry):
                    begun[at] = self._isolated.begin_alone(entry, new)
                else:
                    isolated.setdefault(entry.task, []).append(at)
            for name, places in isolated.items():
                for first in range(0, len(places), SUBMIT_EVERY):
                    some = places[first : first + SUBMIT_EVERY]
                    records = [entry for entry in (entries[at] for at in some) if isinstance(entry, Record)]
                    for at, each in zip(
                        some, self._isolated.begin_all(TASKS[name], records, new), strict=True
                    ):
                        begun[at] = each
                    self._isolated.submit(new)
                    new.clear()
        if self._scoring.reader is None:
            self._make_reader(TASKS[name] for name in here)
        for name, places in here.items():
            records = [entry for entry in (entries[at] for at in places) if isinstance(entry, Record)]
            with self._embedding.lock if TASKS[name].embeds else nullcontext():
                for at, score in zip(places, self._here(records), strict=True):
                    begun[at] = score
        return [each for each in begun if each is not None]

    # inside

    def _here(self, records: Sequence[Record]) -> list[Score]:
        """The scores of records of one task, in order; unscored where that task cannot be scored here."""
        try:
            return list(self._scoring.entries(records))
        except RelfastError as error:
            # no embedding model, a package that is not installed: no record's fault, and no other task's
            why = type(error).__name__, str(error)
            return [
                unscored(each.index, each.id, each.task, each.sample, "crashed", *why) for each in records
            ]

    def _counted(self, scores: list[Score]) -> list[Score]:
        self._counts.add_all([score.status for score in scores])
        return scores

    def _goes_to_workers(self, record: Record) -> bool:
        return self._workers != 0 and (TASKS[record.task].can_hang or _is_long(record))

    def _begin_on_workers(self, record: Record, new: list[PendingScore]) -> Score | PendingScore:
        if _is_long(record):
            return self._isolated.begin_alone(record, new)
        return self._isolated.begin(TASKS[record.task], record, new)

    def _make_reader(self, tasks: Iterable[Task]) -> None:
        """Have a kernel read responses, if it knows one of the tasks."""
        if self._scoring.options.strict and any(task.text_kernel is not None for task in tasks):
            from relfast.engine.strict_reader import StrictReader

            self._scoring.reader = reader = StrictReader(self._scoring.job.options)
            self._texts = {task.name: TextRoute(task, self._scoring, reader) for task in reader.tasks}


def _is_long(record: Record) -> bool:
    return type(record.response) is str and len(record.response) > HOST_CHARS
