"""Records to scores: records are grouped by task, each group is scored by its task's kernels or scorer, and a
record that fails does not affect the others.

A `Guard` surrounds work that may hang or crash. In a worker it arms the operating system's timer and notes
which record is in flight; in-process it does nothing. Records that reach RDKit are guarded one by one, texts
and mazes by the batch and without a deadline: reading them ends. Tasks that embed work in steps, and check
each record's deadline between them
(`relfast.support.deadlines`); there the guard only ends a step that takes too long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from relfast.engine.columns.gold_records import GoldRecords
from relfast.engine.columns.kernel_scoring import MAX_CHARS, Failed, KernelScoring
from relfast.engine.columns.rows import entry_of, records_of
from relfast.engine.columns.segments import Detours, pieces
from relfast.engine.job import Job
from relfast.errors import ReadError, RelfastError
from relfast.formats import Entry
from relfast.json_text import Undecodable, decode_object
from relfast.records import Outcome, Place, Record, Score, Verdict, timed_out_verdict, told_cut_off, unscored
from relfast.support.deadlines import Deadlines
from relfast.tasks import EXACT_FIELDS, TASKS
from relfast.tasks.base import MAX_TEXTS, Task

if TYPE_CHECKING:
    from relfast.tasks.base import EmbeddingTaskScorer

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
        entries = (
            entry for index, line in enumerate(lines, first_index) for entry in self.line(line, index, chosen)
        )
        for piece in pieces(entries):
            yield from self.entries(piece, verdicts, one_by_one=one_by_one)

    def line(
        self, line: bytes, index: int, chosen: str | None = None, most: int = sys.maxsize
    ) -> list[Record | Score]:
        """The records of one line, the first ``most`` of them; none if it is blank."""
        if line.isspace() or not line:
            return []
        try:
            row = decode_object(line, EXACT_FIELDS)
        except Undecodable as error:
            return [unscored(index, None, None, 0, "invalid_record", "InvalidJSON", str(error))]
        return self.row(row, index, chosen, most)

    def row(
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

    def entries(
        self,
        entries: Sequence[Record | Score],
        verdicts: Mapping[Place, Verdict] | None = None,
        *,
        one_by_one: bool = False,
    ) -> Iterator[Score]:
        """Scores of records, in order; an entry that is a `Score` already is returned as it is."""
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
            for at, record, score in zip(places, records, scores, strict=True):
                results[at] = told_cut_off(score) if record.cut_off else score
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
        return [self.score_of(task, *pair) for pair in zip(records, outcomes, strict=True)]

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
            else self.score_of(task, record, outcome)
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
        for some in pieces(records, MAX_TEXTS):
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
                    scores.append(self.score_of(task, record, self.outcomes(task, [record])[0]))
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

    def score_of(self, task: Task, record: Record, outcome: Outcome) -> Score:
        """The row of a record from its outcome."""
        score = self.row_of(task, outcome, record.index, record.id, record.sample)
        score.prompt = record.prompt
        return score

    def row_of(self, task: Task, outcome: Outcome, index: int = 0, id: Any = None, sample: int = 0) -> Score:
        """The row of an outcome: for the record with this index, id and sample, or without these as a row
        that many records share."""
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
    """The row of a record whose scoring raised: unscored, with the exception's type and message."""
    kind = type(error).__name__
    return record.unscored("invalid_record", kind, str(error) or kind)
