"""Where each record of a `relfast.Scorer` is scored: in the calling thread, or by workers.

What kernels can judge (`relfast.engine.judged_texts`) is scored where it is asked for, in microseconds; so
are mazes, and solutions that are embedded, in steps between which each record's deadline is looked at.
Other chemistry can hang or crash, and a response of megabytes takes seconds in one go: they go to workers,
which a timer ends, unless their answers were scored before.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any, Final, overload

from relfast.engine.judged_texts import MAX_CHARS, JudgedTexts, Judges
from relfast.engine.online.incoming import Columns, flaw_of, text_in
from relfast.engine.online.isolated_scoring import IsolatedScoring
from relfast.engine.online.pending import Begun, Counts, PendingScore, delivered
from relfast.engine.scoring import Scoring
from relfast.errors import RelfastError
from relfast.json_text import once_decoded
from relfast.records import Record, Score, unscored
from relfast.tasks import TASKS, find_task, infer_task

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


SUBMIT_EVERY: Final = 32
"""Records of a batch that are prepared before workers are given them: they start while we go on."""


class Routes:
    """The ways of one scorer, good for one process. Thread-safe.

    Parameters
    ----------
    scoring
        The job; its judges are opened here.
    workers
        Worker processes; None: usable cores; 0: everything is scored in this process.
    counts
        Told of each score's status, where `score` and `score_batch` give it.
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
        # an embedding model is fastest on many texts, and one call fills all cores
        self._embedding = MicroBatcher(self._here, turn)
        self._judges: Judges | None = None
        if not scoring.job.details:  # a judge's rows have no texts
            known = counts["scored_before"]
            self._judges = Judges(scoring.options, scoring.row_of, known=known)
        scoring.judges = self._judges

    # one response

    @overload
    def kept(self, task: Any, answer: Any, response: Any, question: Any) -> Score: ...
    @overload
    def kept(
        self, task: Any, answer: Any, response: Any, question: Any, is_waited_for: bool
    ) -> Score | None: ...
    def kept(
        self, task: Any, answer: Any, response: Any, question: Any, is_waited_for: bool = True
    ) -> Score | None:
        """The score of one response, for who only reads it: the row may be that of other responses too.

        None if a worker is needed for it, and it ``is_waited_for`` by somebody else.
        """
        score = None
        if self._judges is not None and type(task) is str and type(response) is str:
            judge = self._judges.found.get(task) or self._judges.of(task)
            if judge is not None:
                score = judge.kept(answer, response, question)
        if score is None:
            entry = self.record(0, task, answer, response, question)
            if isinstance(entry, Score):
                score = entry
            elif not is_waited_for and self._goes_to_workers(entry):
                return None
            else:
                score = delivered(self.begin(entry), entry)
        self._counts[score.status]()
        return score

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
        if TASKS[record.task].embeds and not self._goes_to_workers(record):
            return self._embedding(record)
        return self._begun([record])[0]

    # many

    def kept_batch(self, columns: Columns) -> list[Score]:
        """Scores of a batch, in order, for who only reads them: a row may be that of several responses, and
        names no place."""
        names, answers, responses, questions = columns
        if len(names) == 1:
            return [self.kept(names[0], answers[0], responses[0], questions[0] if questions else None)]
        judged, others = self._of_judges(names)
        scores: list[Any] = [None] * len(names)
        left: list[int] = [*others]
        for judge, places in judged:
            if len(places) == len(names):
                scores = rows = judge.kept_all(answers, responses, questions)
            else:
                asked = None if questions is None else [questions[at] for at in places]
                rows = judge.kept_all([answers[at] for at in places], [responses[at] for at in places], asked)
                for at, row in zip(places, rows, strict=True):
                    scores[at] = row
            if None in rows:
                left += [at for at, row in zip(places, rows, strict=True) if row is None]
        entries = [
            self.record(at, names[at], answers[at], responses[at], questions[at] if questions else None)
            for at in left
        ]
        for at, each, entry in zip(left, self._begun(entries) if entries else (), entries, strict=True):
            scores[at] = delivered(each, entry)
        return self._counted(scores)

    def _of_judges(
        self, names: Sequence[Any]
    ) -> tuple[list[tuple[JudgedTexts, Sequence[int]]], Sequence[int]]:
        """Places of a batch by the judge of their task, and those without one."""
        places: dict[str, list[int]] = {}
        others: list[int] = []
        for at, name in enumerate(names):
            if type(name) is str:
                places.setdefault(name, []).append(at)
            else:
                others.append(at)
        found: list[tuple[JudgedTexts, Sequence[int]]] = []
        for name, mine in places.items():
            judge = None if self._judges is None else self._judges.of(name)
            if judge is None:
                others += mine
            else:
                found.append((judge, mine))
        return found, others

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
        counts = self._counts
        for score in scores:
            counts[score.status]()
        return scores

    def _goes_to_workers(self, record: Record) -> bool:
        return self._workers != 0 and (TASKS[record.task].can_hang or _is_long(record))


def _is_long(record: Record) -> bool:
    return type(record.response) is str and len(record.response) > MAX_CHARS
