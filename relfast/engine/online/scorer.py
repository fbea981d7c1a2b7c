"""`Scorer`: scoring as an object that keeps workers and answers between calls. What rewards run on.

Where a record is scored, in the calling thread or by workers, `relfast.engine.online.routes` knows. Here is
the rest of what training loops need: any thread may call, the object travels by pickle, and it survives a
fork without its workers.
"""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, Unpack, cast

from relfast.cores import default_workers
from relfast.deadlines import WorkingClock
from relfast.engine.job import Job, make_job
from relfast.engine.judged_texts import own
from relfast.engine.online.incoming import check_records, columns_of
from relfast.engine.online.isolated_scoring import IsolatedScoring
from relfast.engine.online.needs import level_of_caller
from relfast.engine.online.pending import Begun, Counts, PendingScore, delivered
from relfast.engine.online.routes import Routes
from relfast.engine.online.shared_pool import POOL_VARIABLE, place_of
from relfast.engine.pool.failures import fault_of
from relfast.engine.rows import read_gold
from relfast.engine.scoring import Scoring
from relfast.engine.settings import workers_of
from relfast.errors import UnscoredError, UsageError
from relfast.formats import filter_of
from relfast.keywords import AdapterKeywords, JobKeywords, OnError, Unscored
from relfast.parameters import number_of
from relfast.records import STATUSES, Policy, Record, Score, unscored
from relfast.results import ScoreBatch
from relfast.tasks import find_task

# What a response is worth that has no reward: whose fault it is decides. A response that runs into its
# deadline or ends its workers has failed by itself. Under ``strict`` it is worth the lowest reward of its
# task: were it left out, a policy would learn to hang where it does not know. What the machinery or the data
# are to blame for (broken gold, no workers, an interrupted call) says nothing about the response, and is
# worth what ``on_error`` says.

_KINDS: Final = ("response", "machinery")


def checked_on_error(on_error: object) -> OnError:
    """``on_error`` as it is kept. Raises `UsageError` for what cannot be used."""
    if isinstance(on_error, Mapping):
        unknown = sorted(map(str, on_error.keys() - set(_KINDS)))
        if unknown:
            raise UsageError(f"on_error has no kind {unknown[0]!r}; kinds: response, machinery")
        kinds = {kind: _checked(on_error[kind]) for kind in _KINDS if kind in on_error}
        return cast(OnError, kinds)
    return _checked(on_error)


def _checked(value: object) -> Unscored:
    if value is None or value == "raise":
        return cast(Unscored, value)
    number = number_of(value)
    if number is None:
        raise UsageError(
            f"on_error must be None, a number, 'raise', or a mapping of these by kind, not {value!r:.60}"
        )
    return number


def value_of(score: Score, on_error: OnError, policy: Policy) -> float | None:
    """The reward of a score, or what ``on_error`` says of one that has none.

    Raises
    ------
    UnscoredError
        It has none, and ``on_error`` says so.
    """
    if score.reward is not None:
        return score.reward
    worth = _worth(score, on_error, policy)
    if isinstance(worth, str):
        raise UnscoredError(score.task, score.status, score.error["message"] if score.error else "no reward")
    return worth


def _worth(score: Score, on_error: OnError, policy: Policy) -> Unscored:
    """What an unscored response is worth."""
    kinds = on_error if isinstance(on_error, Mapping) else {"machinery": on_error}
    if fault_of(score) == "response":
        if "response" in kinds:
            return kinds["response"]
        task = find_task(score.task)
        if policy == "strict" and task is not None:
            return task.lowest_reward
    return kinds.get("machinery")


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
        gold = read_gold(self.job.data)
        if gold.repeated is not None:
            warnings.warn(f"relfast: {gold.repeated.describe(self.job.data)}", stacklevel=level_of_caller())
        self._scoring = Scoring(self.job, gold, clock=WorkingClock())
        self._start_anew()
        _alive.add(self)

    def _start_anew(self) -> None:
        """All that a fork or a pickle does not carry over."""
        self._counts = Counts()
        self._isolated = IsolatedScoring(self._scoring, self.workers, self._counts, self._place)
        self._routes = Routes(self._scoring, self.workers, self._counts, self._isolated, _embedding_turn)
        self.kept_score = self._routes.kept
        """`score_one` for who only reads a score, as trainers' adapters do: its row may be that of other
        responses too, and nothing in it may be changed. With ``False`` behind the question it is None where a
        worker is needed: that is to be awaited."""

    def share_pool(self, place: str) -> None:
        """Leave what needs workers to the pool behind a socket, which other processes use too
        (`relfast.engine.online.shared_pool.place_of`); to be called before anything is scored."""
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
        return own(self._routes.kept(task, answer, response, question))

    def score_at_once(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> Score | None:
        """`score_one` where no worker is needed for it, else None: `submit` it then."""
        score = self.kept_score(task, answer, response, question, False)
        return None if score is None else own(score)

    def reward(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> float | None:
        """The reward of one response; where it has none, what ``on_error`` says.

        Raises
        ------
        UnscoredError
            It has none and ``on_error`` is ``"raise"``.
        """
        score = self.kept_score(task, answer, response, question)
        return self.value_of(score) if score.reward is None else score.reward

    async def areward(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> float | None:
        """`reward` for an event loop, which has a turn only while workers score.

        Raises
        ------
        UnscoredError
            As `reward`.
        """
        score = self.kept_score(task, answer, response, question, False)
        if score is None:
            score = await asyncio.wrap_future(self.submit(task, answer, response, question))
        return self.value_of(score)

    def submit(
        self, task: str | None, answer: object, response: object, question: object = None
    ) -> Future[Score]:
        """Like `score_one`, without waiting for workers: what an event loop awaits with
        ``asyncio.wrap_future``. Tasks that need no worker are done when it returns."""
        future: Future[Score] = Future()
        future.set_running_or_notify_cancel()
        entry = self._routes.record(0, task, answer, response, question)
        begun = self._routes.begin(entry) if isinstance(entry, Record) else entry

        def deliver(begun: Score | PendingScore) -> None:
            score = delivered(begun, entry)
            self._counts[score.status]()
            future.set_result(score)

        if isinstance(begun, PendingScore):
            begun.when_done(lambda _: deliver(begun))
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
        """`scores` for who only reads them, as `kept_score`; their ``index`` says nothing."""
        return self._routes.kept_batch(columns_of(tasks, answers, responses, questions))

    def score(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """One `Score` per sample of each record (a dict in any input dialect), in order.

        Rows of lm-evaluation-harness count if they are of the option ``filter``, or of the first filter that
        comes; those of others have no `Score`.

        Raises
        ------
        UsageError
            ``records`` is no iterable of records, but a path, a data frame, or one record.
        """
        return self.begin(records).scores()

    def begin(self, records: Iterable[Mapping[str, Any]]) -> Begun:
        """`score`, but what needs workers is only given to them: see `Begun.ended`."""
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
        return self._routes.begin_all(entries)

    def begin_rows(self, rows: Iterable[tuple[Any, Any, Any, Any]]) -> Begun:
        """`begin` of task, gold, response and question of each response."""
        return self._routes.begin_all([self._routes.record(at, *row) for at, row in enumerate(rows)])

    async def ascore(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """`score` for an event loop, which goes on meanwhile; no thread waits for workers."""
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
        kept = self.kept_scores(tasks, answers, responses, questions=questions)
        return [own(row, at) for at, row in enumerate(kept)]

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
        scores = self.kept_scores(tasks, answers, responses, questions=questions)
        return [self.value_of(score) if score.reward is None else score.reward for score in scores]

    def value_of(self, score: Score) -> float | None:
        """The reward of a score, ``on_error`` applied. Raises `UnscoredError` if that says so."""
        return value_of(score, self.on_error, self.job.options.policy)

    def stats(self) -> dict[str, int]:
        """Responses so far by status, and what the machinery did: ``scored_before`` (answers known from
        an earlier call), ``shared`` (equal answers scored at the same time), ``workers`` (running now) and
        ``workers_replaced``."""
        names = (*STATUSES, "scored_before", "shared")
        return {**{name: self._counts.told(name) for name in names}, **self._isolated.stats()}

    # inside

    def _after_fork(self) -> None:
        """In a forked child, which has none of the parent's threads and workers."""
        self._isolated.abandon()
        self._start_anew()


WORKERS: Final = 1
"""Workers of a process's reward functions where neither ``workers`` nor ``RELFAST_WORKERS`` says how many.

Trainers run many processes that score (verl eight, by default) on one machine, and kernels decide nearly all
of chemistry without a worker: one, started at the first need, is enough for the rest."""

_scorers: dict[str, Scorer] = {}
_lock = threading.Lock()


def shared_scorer(options: AdapterKeywords) -> Scorer:
    """This process's scorer with these options, made at the first call. Where ``RELFAST_POOL`` is set and
    ``workers`` is not given, it uses the workers that all processes which say so share.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that cannot be used.
    """
    key = repr(sorted(options.items()))
    scorer = _scorers.get(key)
    if scorer is None:
        with _lock:
            scorer = _scorers.get(key)
            if scorer is None:
                settled: AdapterKeywords = {"workers": default_workers(WORKERS), **options}
                scorer = Scorer(**settled)
                place = place_of(os.environ.get(POOL_VARIABLE))
                if place is not None and "workers" not in options:
                    scorer.share_pool(place)
                _scorers[key] = scorer
    return scorer


def stats() -> dict[str, int]:
    """`relfast.Scorer.stats` summed over the scorers behind this process's reward functions."""
    total: Counter[str] = Counter()
    for scorer in list(_scorers.values()):
        total.update(scorer.stats())
    return dict(total)


def close() -> None:
    """End the workers behind this process's reward functions; they start anew when called again."""
    for scorer in list(_scorers.values()):
        scorer.close()


_embedding_turn = threading.Lock()
"""Held by whoever embeds in this process. A model takes all cores: two scorers at once would each pay with
their records' time for the other's."""

_alive: weakref.WeakSet[Scorer] = weakref.WeakSet()


def _renew_all() -> None:
    global _embedding_turn, _lock
    _embedding_turn, _lock = threading.Lock(), threading.Lock()
    for scorer in list(_alive):
        scorer._after_fork()


os.register_at_fork(after_in_child=_renew_all)
