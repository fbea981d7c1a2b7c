"""Records to scores: records are grouped by task, each group is scored by its task's kernels or scorer, and a
record that fails does not affect the others.

A `Guard` surrounds work that may hang or crash. In a worker it arms the operating system's timer and notes
which record is in flight; in-process it does nothing. Records that reach RDKit are guarded one by one, texts
and mazes by the batch and without a deadline: reading them ends. Tasks that embed work in steps, and check
each record's deadline between them
(`relfast.support.deadlines`); there the guard only ends a step that takes too long.

Kernels (`KernelScoring`) score responses right in the calling thread, and give rows; for calls without a
`Record`. Responses with the same outcome share one row object, for callers that only read rows. What a
`relfast.tasks.base.KernelScorer` leaves undecided is scored the ordinary way.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from relfast.engine.columns.blocks import Detours, batched
from relfast.engine.columns.gold_records import GoldRecords
from relfast.engine.columns.rows import entry_of, records_of
from relfast.engine.job import Job
from relfast.errors import ReadError, RelfastError
from relfast.formats import Entry
from relfast.json_text import Undecodable, decode_object, is_plain, once_decoded
from relfast.records import Outcome, Place, Record, Score, Verdict, timed_out_verdict, unscored
from relfast.support.deadlines import Deadlines
from relfast.tasks import EXACT_FIELDS, TASKS, AllOptions
from relfast.tasks.base import MAX_TEXTS, KernelScorer, Task

if TYPE_CHECKING:
    from relfast.tasks.base import EmbeddingTaskScorer


MAX_CHARS: Final = 1_000_000
"""Longest response that kernels score."""

MAX_MOLECULES: Final = 20_000
"""Most characters that the molecules in a response may have together, if kernels are to score it in the
caller's process: some 1,000 molecules, which take about 5 ms."""


Failed = Callable[[str, Exception], None]
"""Called with a description of the kernel work that failed, and its exception."""


class KernelScoring:
    """Scores responses with the kernels of a job's tasks. Thread-safe.

    Parameters
    ----------
    row_of
        Makes the row of a task's outcome (`Scoring.row_of`).
    known
        Called whenever an outcome's row exists already, for tasks that can hang: counts reused scores.
    shows, longest
        See `relfast.tasks.base.KernelScorer`.
    failed
        Called when a kernel raises; the responses are then scored the ordinary way.
    """

    def __init__(
        self,
        options: AllOptions,
        row_of: Callable[[Task, Outcome, Record | None], Score],
        *,
        known: Callable[[], object] = lambda: None,
        shows: bool = True,
        longest: int = MAX_CHARS,
        failed: Failed,
    ) -> None:
        self._options, self._row_of, self._known = options, row_of, known
        self._shows, self._longest, self._failed = shows, longest, failed
        self._scorers: dict[str, KernelScorer] = {}

    def of(self, name: str) -> KernelScorer | None:
        """The kernel scorer of a task; None if its texts must be scored the ordinary way. It is opened at
        first use, or some seconds after its kernels are compiled (`relfast_kernels.compiled.native.find`)."""
        return self._scorers.get(name) or self._begin(name)

    def _begin(self, name: str) -> KernelScorer | None:
        """Open a kernel scorer without golds, in place of the task's present one; threads that are using the
        present one keep it until they are done."""
        task = TASKS.get(name)
        if task is None:
            return None
        scorer = task.open_kernels(self._options, shows=self._shows, longest=self._longest)
        if scorer is not None:
            self._scorers[name] = scorer
        return scorer

    def kept(self, name: str, answer: object, response: str, question: object) -> Score | None:
        """The row of one response to a task, possibly shared with other responses: it must not be changed.
        None if the response must be scored the ordinary way.

        Parameters
        ----------
        answer
            Gold, or its JSON text.
        """
        scorer = self.of(name)
        if scorer is None:
            return None
        if type(answer) is str:
            answer = once_decoded(answer)
        gold = scorer.prepare(answer, question)
        if gold < 0 and scorer.is_full and (scorer := self._begin(name)) is not None:
            gold = scorer.prepare(answer, question)
        task = TASKS[name]
        if gold < 0 or len(response) > MAX_CHARS or (task.can_hang and not is_plain(answer)):
            return None
        outcome = self._outcomes(name, scorer, (gold,), (response,))[0]
        return None if outcome is None else self._row(task, outcome)

    def rows(self, name: str, records: Sequence[Record]) -> list[Score | None]:
        """The rows of records of a task, in order; None for those to be scored the ordinary way."""
        outcomes = self._all_outcomes(
            name,
            [record.answer for record in records],
            [record.response for record in records],
            [record.question for record in records],
        )
        row_of = self._own_row if self._shows else self._row_of
        task = TASKS[name]
        return [
            None if outcome is None else row_of(task, outcome, record)
            for outcome, record in zip(outcomes, records, strict=True)
        ]

    def _own_row(self, task: Task, outcome: Outcome, record: Record) -> Score:
        return self._row(task, outcome).own(record)

    def kept_all(
        self,
        name: str,
        answers: Sequence[object],
        responses: Sequence[object],
        questions: Sequence[object] | None,
    ) -> list[Score | None]:
        """`kept` for many responses, in order; None also for responses that are no text."""
        task = TASKS[name]
        outcomes = self._all_outcomes(name, answers, responses, questions)
        return [None if outcome is None else self._row(task, outcome) for outcome in outcomes]

    def _all_outcomes(
        self,
        name: str,
        answers: Sequence[object],
        responses: Sequence[object],
        questions: Sequence[object] | None,
    ) -> list[Outcome | None]:
        """The outcomes of responses to a task, in pieces of `MAX_TEXTS`; None for those the kernels leave."""
        outcomes: list[Outcome | None] = [None] * len(responses)
        can_hang = TASKS[name].can_hang
        for first in range(0, len(responses), MAX_TEXTS):
            scorer = self.of(name)
            if scorer is not None and scorer.is_full:
                scorer = self._begin(name)
            if scorer is None:
                break
            golds: list[int] = []
            texts: list[str] = []
            places: list[int] = []
            last_answer: object = None
            last_question: object = None
            gold = -1
            for at in range(first, min(first + MAX_TEXTS, len(responses))):
                answer, response = answers[at], responses[at]
                question = None if questions is None else questions[at]
                if at == first or answer is not last_answer or question is not last_question:
                    # rollouts of one prompt mostly follow each other
                    last_answer, last_question = answer, question
                    given = once_decoded(answer) if type(answer) is str else answer
                    gold = scorer.prepare(given, question)
                    if gold >= 0 and can_hang and not is_plain(given):
                        gold = -1
                if gold >= 0 and type(response) is str and len(response) <= MAX_CHARS:
                    golds.append(gold)
                    texts.append(response)
                    places.append(at)
            found = self._outcomes(name, scorer, golds, texts) if texts else ()
            for at, outcome in zip(places, found, strict=True):
                outcomes[at] = outcome
        return outcomes

    def _outcomes(
        self, name: str, scorer: KernelScorer, golds: Sequence[int], texts: Sequence[str]
    ) -> list[Outcome | None]:
        try:
            return scorer.score(golds, texts)
        except UnicodeEncodeError:
            if len(texts) == 1:
                return [None]
            return [self._outcomes(name, scorer, [g], [t])[0] for g, t in zip(golds, texts, strict=True)]
        except Exception as error:
            self._failed(f"the kernel that reads {name}", error)
            return [None] * len(texts)

    def _row(self, task: Task, outcome: Outcome) -> Score:
        row = outcome.row
        if row is None:
            row = outcome.row = self._row_of(task, outcome, None)
        elif task.can_hang:
            self._known()
        return row


_told_of: Final[set[str]] = set()


def tell(what: str, error: Exception) -> None:
    """Log that ``what`` (one of a few texts) failed and the ordinary way was taken; once a process.

    This is logged rather than warned, since warnings can be turned into errors, and no score suffers.
    """
    if what in _told_of:
        return
    _told_of.add(what)
    import logging  # its import takes as long as scoring a thousand lines, and is hardly ever needed

    logging.getLogger("relfast").warning(
        "relfast: %s failed (%s: %.200s); such responses are scored the ordinary way, to the same scores but"
        " slower. Please report it. (Said once.)",
        what,
        type(error).__name__,
        error,
    )


EMBEDDED: Final = frozenset(name for name, task in TASKS.items() if task.embeds)
"""Tasks that run an embedding model."""

LOAD_SECONDS: Final = 600.0
"""Longest time to load what a task needs: at worst an embedding model from a cold network disk, or kernels
that must be compiled first. Loading is charged to no record."""

STEP_SECONDS: Final = 1.0
"""How long after its deadline the worker of a record that embeds is killed. Normally the scoring stops by
itself between two steps, so that the worker survives and keeps its model."""


class Guard(Protocol):
    """Surrounds work that may hang or crash the process: `enter` before, `leave` after."""

    def enter(self, place: Place | None, seconds: float, *, limited: bool = True) -> None:
        """Work on the record at ``place`` (None: on several records) starts or goes on, and may take
        ``seconds``; 0 = no limit. Loading or running a model is not ``limited`` in memory."""

    def leave(self) -> None: ...


class NoGuard:
    """The guard for scoring in-process, where a hang cannot be stopped: does nothing."""

    def enter(self, place: Place | None, seconds: float, *, limited: bool = True) -> None:
        pass

    def leave(self) -> None:
        pass


class Scoring:
    """Scores lines, rows and records for one `Job`.

    ``gold`` are the records of ``--data``; ``guard`` surrounds work that may hang."""

    def __init__(
        self,
        job: Job,
        gold: GoldRecords | None = None,
        guard: Guard | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.job = job
        self.clock = clock
        self.gold = gold or GoldRecords()
        self.guard: Guard = guard or NoGuard()
        self.options = job.options.within(job.timeout)
        self._ready: set[str] = set()
        self.detours = Detours()
        self.open_kernels()
        self.n_left = 0
        """Responses that kernels have left to their task's scorer so far."""
        self._reward_metric = {
            name: job.rewards.get(name) or task.default_reward(self.options.policy)
            for name, task in TASKS.items()
        }

    def lines(
        self,
        lines: Sequence[bytes],
        first_index: int,
        verdicts: Mapping[Place, Verdict] | None = None,
        *,
        one_by_one: bool = False,
        chosen: str | None = None,
    ) -> Iterator[Score]:
        """Scores of the records in ``lines``, in order; blank lines have none.

        ``verdicts`` are the outcomes of records that hung or crashed earlier workers; these are not scored
        again. ``one_by_one`` guards each record by itself. ``chosen`` is the filter of
        lm-evaluation-harness whose rows are scored.
        """
        records = (
            record
            for index, line in enumerate(lines, first_index)
            for record in self.records_of_line(line, index, chosen)
        )
        for batch in batched(records):
            yield from self.scores(batch, verdicts, one_by_one=one_by_one)

    def records_of_line(
        self, line: bytes, index: int, chosen: str | None = None, most: int = sys.maxsize
    ) -> list[Record | Score]:
        """The records of one line, the first ``most`` of them; none if it is blank."""
        if line.isspace() or not line:
            return []
        try:
            row = decode_object(line, EXACT_FIELDS)
        except Undecodable as error:
            return [unscored(index, None, None, 0, "invalid_record", "InvalidJSON", str(error))]
        return self.records_of_row(row, index, chosen, most)

    def records_of_row(
        self,
        row: Mapping[str, Any] | Entry,
        index: int,
        chosen: str | None = None,
        most: int = sys.maxsize,
        job: Job | None = None,
    ) -> list[Record | Score]:
        """The records of one decoded input row, or of its entry; the first ``most`` of them. ``job``: by
        another job's settings."""
        try:
            job = job or self.job
            entry = row if isinstance(row, Entry) else entry_of(row, job)
            return list(islice(records_of(entry, index, job, self.gold, chosen), most))
        except ReadError:  # a file of --data has changed
            raise
        except Exception as error:
            # a dialect failed on something unexpected in the row: its output row says so, the run goes on
            return [unscored(index, None, None, 0, "invalid_record", type(error).__name__, str(error))]

    def scores(
        self,
        records: Sequence[Record | Score],
        verdicts: Mapping[Place, Verdict] | None = None,
        *,
        one_by_one: bool = False,
    ) -> Iterator[Score]:
        """Scores of records, in order; the `Score` of one that could not be made is returned as it is."""
        results: list[Score | None] = [each if isinstance(each, Score) else None for each in records]
        groups: dict[str, list[int]] = {}
        for at, record in enumerate(records):
            if isinstance(record, Score):
                continue
            verdict = verdicts.get((record.index, record.sample)) if verdicts else None
            if verdict is not None:
                results[at] = record.unscored(*verdict)
            else:
                groups.setdefault(record.task, []).append(at)
        for name, places in groups.items():
            task = TASKS[name]
            group = [each for each in (records[at] for at in places) if isinstance(each, Record)]
            scores = self._singly(task, group) if one_by_one else self._fast_first(task, group)
            for at, score in zip(places, scores, strict=True):
                results[at] = score
        return (score for score in results if score is not None)

    def _together(self, task: Task, records: Sequence[Record]) -> list[Score]:
        """Score records with one call to the task's scorer, or one by one if that call raises."""
        self._make_ready(task)
        try:
            if task.embeds:
                return self._within(task, records)
            if len(records) == 1:
                return self._singly(task, records)
            with self._guarding(task):
                outcomes = self.outcomes(task, records)
        except RelfastError:
            raise  # no embedding model here, an extra that is not installed: no record's fault
        except Exception as error:
            # one record made the batch fail: score each alone, so that only that one fails
            self.detours.add(f"a batch of {task.name}", error)
            return self._singly(task, records)
        return [self.row_of(task, *pair) for pair in zip(outcomes, records, strict=True)]

    @contextmanager
    def _guarding(self, task: Task, place: Place | None = None) -> Iterator[None]:
        """Guard a record, or (``place`` None) several. A deadline runs only over what can hang. Kernels, and
        the scorers of other tasks, end by themselves, and how fast they are must not decide a row."""
        self.guard.enter(place, self.job.timeout if task.can_hang and place is not None else 0.0)
        try:
            yield
        finally:
            self.guard.leave()

    def _within(self, task: Task, records: Sequence[Record]) -> list[Score]:
        """Scores of records of a task that embeds. They are embedded together, step by step, and each has its
        own deadline."""
        timeout = self.job.timeout

        def before_step() -> None:
            if len(records) == 1:
                place = records[0].index, records[0].sample
                self.guard.enter(place, timeout and deadlines.left(0) + STEP_SECONDS, limited=False)
            else:
                # a step longer than one record's deadline ends the worker; then each is tried alone
                self.guard.enter(None, timeout and timeout + STEP_SECONDS, limited=False)

        def before_loading() -> None:
            self.guard.enter(None, timeout and LOAD_SECONDS, limited=False)

        deadlines = Deadlines(
            len(records), timeout, before_step=before_step, before_loading=before_loading, clock=self.clock
        )
        scorer = cast("EmbeddingTaskScorer", task.scorer)
        batch = []
        try:
            for k, record in enumerate(records):
                with deadlines.step(k):
                    batch.append((record, scorer.extract(record.response, self.options)))
            outcomes = scorer.score_within(batch, self.options, deadlines)
        finally:
            self.guard.leave()
        return [
            record.unscored(*timed_out_verdict(timeout))
            if outcome is None
            else self.row_of(task, outcome, record)
            for record, outcome in zip(records, outcomes, strict=True)
        ]

    def _fast_first(self, task: Task, records: Sequence[Record]) -> list[Score]:
        """The scores of records of one task. Its kernels score what they can; its scorer scores the rest, one
        record after the other if a record of the task can hang, else all together."""
        slow = self._singly if task.can_hang else self._together
        # kernels of tasks that cannot hang do not give all the texts that ``details`` shows
        if task.kernels is None or (self.job.details and not task.can_hang):
            return slow(task, records)
        # only the kernels: RDKit, which the scorer needs, takes half a second to load
        self._load(task, lambda: self.kernels.of(task.name), part=" kernels")
        if self.kernels.of(task.name) is None:
            return slow(task, records)
        scores: list[Score | None] = []
        for some in batched(records, MAX_TEXTS):
            with self._guarding(task):
                scores += self.kernels.rows(task.name, some)
        left = [record for record, score in zip(records, scores, strict=True) if score is None]
        self.n_left += len(left)
        others = iter(slow(task, left) if left else ())
        return [next(others) if score is None else score for score in scores]

    def open_kernels(
        self,
        *,
        known: Callable[[], object] = lambda: None,
        shows: bool = True,
        longest: int = MAX_CHARS,
        failed: Failed | None = None,
    ) -> None:
        """Replace the kernels by new ones that know no gold yet. The parameters are those of `KernelScoring`;
        by default failures are counted as detours."""
        self.kernels = KernelScoring(
            self.options,
            self.row_of,
            known=known,
            shows=shows,
            longest=longest,
            failed=failed or self.detours.add,
        )

    def _singly(self, task: Task, records: Sequence[Record]) -> list[Score]:
        """Score records with a guarded call to the task's scorer for each; one that raises is unscored."""
        scores = []
        self._make_ready(task)
        for record in records:
            try:
                if task.embeds:
                    scores += self._within(task, [record])
                    continue
                with self._guarding(task, (record.index, record.sample)):
                    scores.append(self.row_of(task, self.outcomes(task, [record])[0], record))
            except MemoryError:
                if not isinstance(self.guard, NoGuard):
                    raise  # the record is tried again in a new worker, which has all its memory free
                scores.append(record.unscored("crashed", "MemoryError", "scoring it ran out of memory"))
            except RelfastError:
                raise
            except Exception as error:
                scores.append(failed(record, error))
        return scores

    def _make_ready(self, task: Task) -> None:
        """Load what a task's scorer needs, before the clock of any record starts."""
        self._load(task, task.load)

    def _load(self, task: Task, load: Callable[[], object], part: str = "") -> None:
        """Load what a task needs, or a ``part`` of it, once. If kernels score every record, modules that only
        the scorer needs (RDKit) are never loaded."""
        if task.name + part in self._ready:
            return
        self.guard.enter(None, self.job.timeout and LOAD_SECONDS, limited=False)
        try:
            load()
        finally:
            self.guard.leave()
        self._ready.add(task.name + part)

    def outcomes(self, task: Task, records: Sequence[Record]) -> list[Outcome]:
        """The outcomes from the task's scorer; raises what the scorer raises."""
        outcomes = task.score(records, self.options)
        if len(outcomes) != len(records):
            raise RuntimeError(f"{task.name} gave {len(outcomes)} scores for {len(records)} records")
        return outcomes

    def row_of(self, task: Task, outcome: Outcome, record: Record | None = None) -> Score:
        """The row of a record's outcome, or without a record one that many share (`Score.own`)."""
        record = record or Record(0, None, task.name, None, None)
        if outcome.error is not None:
            return record.unscored("invalid_record", outcome.error_type, outcome.error)
        metric = self._reward_metric[task.name]
        value = outcome.correct if metric == "correct" else outcome.metrics.get(metric)
        metrics = {**outcome.metrics, **outcome.details} if self.job.details else outcome.metrics
        return Score.of(
            record,
            "ok" if outcome.found else "no_answer",
            outcome.correct,
            None if value is None else float(value),
            metrics,
            None,
            outcome.vote,
            task.say(outcome),
        )


def failed(record: Record, error: Exception) -> Score:
    """The row of a record whose scoring raised: unscored, with the exception's type and message."""
    kind = type(error).__name__
    return record.unscored("invalid_record", kind, str(error) or kind)
