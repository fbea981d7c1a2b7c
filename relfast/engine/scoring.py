"""Records to scores: grouping by task, one call to a task's scorer per group, and no failure that spreads.

A `Guard` watches what may hang or crash. In a worker it arms the kernel's timer and notes the record in
flight; in-process it does nothing. Records that reach RDKit are watched one by one, texts and mazes by the
batch. What embeds is done in steps, between which each record's own time is looked at wherever it is scored
(`relfast.deadlines`); the guard is for a step that does not end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from relfast.deadlines import Deadlines
from relfast.engine.gold_records import GoldRecords
from relfast.engine.job import Job
from relfast.engine.kernel_scoring import MAX_CHARS, Failed, KernelScoring
from relfast.engine.pool.failures import Verdict, timed_out_verdict
from relfast.engine.rows import entry_of, records_of
from relfast.engine.segments import Detours, pieces
from relfast.errors import RelfastError
from relfast.formats import Entry
from relfast.json_text import Undecodable, decode_object
from relfast.records import Outcome, Place, Record, Score, unscored
from relfast.tasks import EXACT_FIELDS, TASKS
from relfast.tasks.base import Task
from relfast.tasks.modules import MAX_TEXTS

if TYPE_CHECKING:
    from relfast.tasks.modules import EmbeddingTaskScorer

EMBEDDED: Final = frozenset(name for name, task in TASKS.items() if task.embeds)
"""Tasks that run an embedding model."""

LOAD_SECONDS: Final = 600.0
"""Longest time to load what a task runs on, at worst an embedding model from a cold network disk or kernels
that are to be compiled first. It is no record's time."""

STEP_SECONDS: Final = 1.0
"""How long past its time a record that embeds may go on before its worker is killed: between two steps it
stops by itself, and keeps the worker and its model."""


class Guard(Protocol):
    """Told before and after whatever may never come back."""

    def enter(self, place: Place | None, seconds: float, *, limited: bool = True) -> None:
        """One record starts or goes on (or, with None, several), and has so many seconds; 0 = no limit. What
        loads or runs a model is not ``limited`` in memory."""

    def leave(self) -> None: ...


class NoGuard:
    """In-process: nothing can be done about a hang, so nothing is."""

    def enter(self, place: Place | None, seconds: float, *, limited: bool = True) -> None:
        pass

    def leave(self) -> None:
        pass


class Scoring:
    """A job made ready to score: options settled, rewards resolved."""

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
        """Responses that kernels have left to their task's scorer."""
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

        ``chosen`` is the filter of lm-evaluation-harness whose rows are scored.
        """
        entries = (
            entry for index, line in enumerate(lines, first_index) for entry in self.line(line, index, chosen)
        )
        for piece in pieces(entries):
            yield from self.entries(piece, verdicts, one_by_one=one_by_one)

    def line(self, line: bytes, index: int, chosen: str | None = None) -> list[Record | Score]:
        """The records of one line, none where it is blank."""
        if line.isspace() or not line:
            return []
        try:
            row = decode_object(line, EXACT_FIELDS)
        except Undecodable as error:
            return [unscored(index, None, None, 0, "invalid_record", "InvalidJSON", str(error))]
        return self.row(row, index, chosen)

    def row(
        self, row: Mapping[str, Any] | Entry, index: int, chosen: str | None = None
    ) -> list[Record | Score]:
        """The records of one decoded input row, or of what it says."""
        try:
            entry = row if isinstance(row, Entry) else entry_of(row, self.job)
            return list(records_of(entry, index, self.job, self.gold, chosen or self.job.filter))
        except Exception as error:
            # a dialect met something nobody thought of: a row says so, the run goes on
            return [unscored(index, None, None, 0, "invalid_record", type(error).__name__, str(error))]

    def entries(
        self,
        entries: Sequence[Record | Score],
        verdicts: Mapping[Place, Verdict] | None = None,
        *,
        one_by_one: bool = False,
    ) -> Iterator[Score]:
        """Scores of records, in order; entries that are scores already pass through."""
        results: list[Score | None] = [entry if isinstance(entry, Score) else None for entry in entries]
        groups: dict[str, list[int]] = {}
        for at, entry in enumerate(entries):
            if isinstance(entry, Score):
                continue
            verdict = verdicts.get((entry.index, entry.sample)) if verdicts else None
            if verdict is not None:
                results[at] = entry.unscored(*verdict)
            else:
                groups.setdefault(entry.task, []).append(at)
        for name, places in groups.items():
            task = TASKS[name]
            records = [entry for entry in (entries[at] for at in places) if isinstance(entry, Record)]
            scores = self._singly(task, records) if one_by_one else self._fast_first(task, records)
            for at, score in zip(places, scores, strict=True):
                results[at] = score
        return (score for score in results if score is not None)

    def _together(self, task: Task, records: Sequence[Record]) -> list[Score]:
        self._make_ready(task)
        try:
            if task.embeds:
                return self._within(task, records)
            if len(records) == 1:
                return self._singly(task, records)
            # All together have the time of one. They take a fraction of it; where they do not, each is given
            # its own, one by one, by whoever comes after the worker that this has ended.
            with self._guarding(None):
                outcomes = self.outcomes(task, records)
        except RelfastError:
            raise  # no embedding model here, an extra that is not installed: no record's fault
        except Exception as error:
            # one record spoils the batch: find it by scoring each on its own
            self.detours.add(f"a batch of {task.name}", error)
            return self._singly(task, records)
        return [self.score_of(task, *pair) for pair in zip(records, outcomes, strict=True)]

    @contextmanager
    def _guarding(self, place: Place | None) -> Iterator[None]:
        """The guard around a record, or around several that cannot hang by themselves."""
        self.guard.enter(place, self.job.timeout)
        try:
            yield
        finally:
            self.guard.leave()

    def _within(self, task: Task, records: Sequence[Record]) -> list[Score]:
        """Scores of records that embed: they share the steps of the work; each has a deadline of its own."""
        timeout = self.job.timeout

        def before_step() -> None:
            if len(records) == 1:
                place = records[0].index, records[0].sample
                self.guard.enter(place, timeout and deadlines.left(0) + STEP_SECONDS, limited=False)
            else:
                # a step that takes longer than a record may ends the worker, and each is tried alone
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
                with deadlines.step({k: 1}):
                    batch.append((record, scorer.extract(record, self.options)))
            outcomes = scorer.score_within(batch, self.options, deadlines)
        finally:
            self.guard.leave()
        return [
            record.unscored(*timed_out_verdict(timeout))
            if outcome is None
            else self.score_of(task, record, outcome)
            for record, outcome in zip(records, outcomes, strict=True)
        ]

    def _fast_first(self, task: Task, records: Sequence[Record]) -> list[Score]:
        """Those that the task's kernels can score at once, the others one by one or, where none can hang,
        together."""
        slow = self._singly if task.can_hang else self._together
        # the kernels of the others have not all details
        if task.kernels is None or (self.job.details and not task.can_hang):
            return slow(task, records)
        # RDKit takes half a second to load
        self._load(task, lambda: self.kernels.of(task.name), part=" kernels")
        if self.kernels.of(task.name) is None:
            return slow(task, records)
        scores: list[Score | None] = []
        for some in pieces(records, MAX_TEXTS):
            # they take a fraction of the time of one; where they do not, each is given its own, one by one,
            # by whoever comes after the worker that this has ended
            with self._guarding(None):
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
        """Have kernels without golds, for rows as `KernelScoring` says; failures are detours by default."""
        self.kernels = KernelScoring(
            self.options,
            self.row_of,
            known=known,
            shows=shows,
            longest=longest,
            failed=failed or self.detours.add,
        )

    def _singly(self, task: Task, records: Sequence[Record]) -> list[Score]:
        scores = []
        self._make_ready(task)
        for record in records:
            try:
                if task.embeds:
                    scores += self._within(task, [record])
                    continue
                with self._guarding((record.index, record.sample)):
                    scores.append(self.score_of(task, record, self.outcomes(task, [record])[0]))
            except MemoryError:
                if not isinstance(self.guard, NoGuard):
                    raise  # it gets another chance, in a worker with all its memory
                scores.append(record.unscored("crashed", "MemoryError", "scoring it ran out of memory"))
            except RelfastError:
                raise
            except Exception as error:
                scores.append(failed(record, error))
        return scores

    def _make_ready(self, task: Task) -> None:
        """Load what a task runs on before any record's time runs."""
        self._load(task, task.load)

    def _load(self, task: Task, load: Callable[[], object], part: str = "") -> None:
        """Load all of what a task runs on or a part of it, once. Where a fast path decides everything, what
        only the others need (RDKit) is never loaded."""
        if task.name + part in self._ready:
            return
        self.guard.enter(None, self.job.timeout and LOAD_SECONDS, limited=False)
        try:
            load()
        finally:
            self.guard.leave()
        self._ready.add(task.name + part)

    def outcomes(self, task: Task, records: Sequence[Record]) -> list[Outcome]:
        """What the scorer says; raises what it raises."""
        outcomes = task.score(records, self.options)
        if len(outcomes) != len(records):
            raise RuntimeError(f"{task.name} gave {len(outcomes)} scores for {len(records)} records")
        return outcomes

    def score_of(self, task: Task, record: Record, outcome: Outcome) -> Score:
        """The row of a record from its outcome."""
        return self.row_of(task, outcome, record.index, record.id, record.sample)

    def row_of(self, task: Task, outcome: Outcome, index: int = 0, id: Any = None, sample: int = 0) -> Score:
        """The row of an outcome at its place, or without one."""
        if outcome.error is not None:
            kind = outcome.error_type
            return unscored(index, id, task.name, sample, "invalid_record", kind, outcome.error)
        metric = self._reward_metric[task.name]
        value = outcome.correct if metric == "correct" else outcome.metrics.get(metric)
        metrics = {**outcome.metrics, **outcome.details} if self.job.details else outcome.metrics
        return Score(
            index,
            id,
            task.name,
            sample,
            "ok" if outcome.found else "no_answer",
            outcome.correct,
            None if value is None else float(value),
            metrics,
            None,
            outcome.vote,
            task.say(outcome),
        )


def failed(record: Record, error: Exception) -> Score:
    """A record that made its scoring raise: unscored, in the words of what was raised."""
    kind = type(error).__name__
    return record.unscored("invalid_record", kind, str(error) or kind)
