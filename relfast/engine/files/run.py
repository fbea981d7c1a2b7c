"""A whole run: sources → blocks → scores → rows, in order, resumable."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from relfast.engine.columns.blocks import Block
from relfast.engine.columns.scoring import EMBEDDED, Scoring
from relfast.engine.columns.segments import Blocks, Detours, Segment, Tell, tell_nobody
from relfast.engine.files.block_scoring import BlockScoring
from relfast.engine.files.block_work import score_on_pool
from relfast.engine.files.first_causes import FirstCauses
from relfast.engine.files.io.commit_log import Commit
from relfast.engine.files.io.filters import Filters
from relfast.engine.files.io.reader import blocks, first_lines, read_gold
from relfast.engine.files.io.sources import Source
from relfast.engine.files.io.writer import Writer
from relfast.engine.isolated.pool import Pool
from relfast.engine.job import Job
from relfast.engine.signature import embedder_of, signature
from relfast.errors import ResumeMismatchError, UsageError
from relfast.records import Score
from relfast.stats.samples import SampleStore, votes_of, with_votes
from relfast.stats.summary import Summary, Tally, summarize
from relfast.stats.unusable import Cause
from relfast.support.plain import Plain
from relfast.tasks import TASKS


@dataclass(slots=True, repr=False, eq=False)
class Progress(Plain):
    """How far a run is; given to the progress callback after each block.

    ``total_bytes`` is 0 if the input's size is not known. ``resumed_rows`` and ``resumed_bytes`` count the
    work of earlier runs, which the totals include. ``causes`` returns the causes of invalid rows,
    ``rows_by_task`` the rows of each task so far. ``slow``
    counts the records that have been scored for long at this moment, each for up to ``timeout`` seconds.
    ``n_fast``, ``n_exact``, ``n_left`` and ``detours`` are the sums over this run's `Segment`s.
    """

    done_bytes: int = 0
    total_bytes: int = 0
    rows: int = 0
    invalid: int = 0
    timeouts: int = 0
    crashes: int = 0
    resumed_rows: int = 0
    resumed_bytes: int = 0
    started: float = 0.0
    slow: int = 0
    timeout: float = 0.0
    causes: Callable[[], Sequence[Cause]] = tuple
    rows_by_task: Callable[[], Mapping[str, int]] = dict
    n_fast: int = 0
    n_exact: int = 0
    n_left: int = 0
    detours: Detours = field(default_factory=Detours)

    def add(self, segment: Segment) -> None:
        """Add the counts of a segment."""
        self.n_fast += segment.n_fast
        self.n_exact += segment.n_exact
        self.n_left += segment.n_left
        self.detours.merge(segment.detours)


@contextmanager
def in_process(job: Job, note: Tell = tell_nobody) -> Iterator[Blocks]:
    """Score in this process (``--workers 0``), where a record that hangs cannot be stopped. ``note`` is
    called with remarks on gold."""
    gold = read_gold(job.data, job.max_line_bytes, in_files=True)
    scoring = BlockScoring(Scoring(job, gold))
    yield lambda todo: ((block, list(scoring.segments(block))) for block in todo)
    if gold.repeated is not None:
        note(gold.repeated.describe(job.data))


@contextmanager
def on_pool(
    job: Job,
    workers: int,
    *,
    tell: Tell = tell_nobody,
    meanwhile: Callable[[int], None] = lambda n_slow: None,
    note: Tell = tell_nobody,
) -> Iterator[Blocks]:
    """Score on worker processes, which end with the context. ``meanwhile`` is called with the number of slow
    records, at least every half second, and ``note`` with remarks on gold."""
    pool = Pool(job, workers, tell=tell)
    try:
        yield partial(score_on_pool, pool, meanwhile)
        if pool.repeated is not None:
            note(pool.repeated.describe(job.data))
    finally:
        pool.close()
        tell(f"workers: {workers}, replaced: {pool.replaced}")


def run(
    job: Job,
    sources: Sequence[Source],
    writer: Writer,
    score: Blocks,
    *,
    filters: Filters,
    limit: int | None = None,
    keep: Callable[[Block], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
    state: Progress,
) -> Summary:
    """Score the blocks that the output does not have yet; returns the summary of the whole output.

    ``progress`` is called with ``state``. ``limit`` is a number of input lines, ``keep`` chooses the blocks
    of a shard. Raises what reading and writing raise; rows written until then are whole and committed.
    """
    state.started = time.monotonic()
    if limit is None and keep is None:
        state.total_bytes = _total_bytes(sources)
    first_causes = FirstCauses(sources, job)
    state.causes = first_causes.unusable.most_frequent
    todo = first_causes.reading(blocks(sources, job.max_line_bytes, filters))
    if limit is not None:
        todo = first_lines(todo, limit)
    if keep is not None:
        todo = filter(keep, todo)
    before, todo = _done_before(todo, writer, sources)
    state.resumed_bytes = state.done_bytes = sum(block.size for block in before)
    embedder = _embedder_before(writer.commits, job)
    store = SampleStore()
    tally = _tally_of(writer, before, first_causes, store)
    state.rows = state.resumed_rows = tally.rows
    state.rows_by_task = lambda: {name: sum(task.statuses.values()) for name, task in tally.tasks.items()}
    for block, segments in score(todo):
        rows = b"".join([segment.rows for segment in segments])
        samples = b"".join([segment.tally.take_samples() for segment in segments])
        store += samples
        for segment in segments:
            state.add(segment)
            tally.merge(segment.tally)
            if segment.tally.count("invalid_record"):
                first_causes.rows(segment.rows, block)
        if not embedder and any(EMBEDDED & segment.tally.tasks.keys() for segment in segments):
            embedder = embedder_of(job)
        commit = Commit(0, block.then, votes_of(samples), 0, block.checksum, embedder)
        writer.write(rows, commit)
        state.rows = tally.rows
        state.done_bytes += block.size
        state.invalid, state.timeouts, state.crashes = tally.statuses("invalid_record", "timeout", "crashed")
        if progress is not None:
            progress(state)
    if job.filter is not None and not tally.rows and keep is None and limit != 0:
        raise UsageError(_no_row_of(job, sources))
    writer.finish(tally.rows)
    summary = summary_of(tally, job, filters.names, limit, store)
    summary.unusable = first_causes.unusable.most_frequent()
    summary.seconds = round(time.monotonic() - state.started, 3)
    return summary


def _no_row_of(job: Job, sources: Sequence[Source]) -> str:
    names = " and ".join(map(repr, Filters(sources, job.dialect).names))
    return f"no row has the filter {job.filter!r}" + (f"; the first one is {names}" if names else "")


def summary_of(
    tally: Tally, job: Job, filters: Sequence[str], limit: int | None, store: SampleStore | None = None
) -> Summary:
    """The signed summary of a run's rows, whose samples are in ``store`` or else in the tally; ``filters``
    are those of lm-evaluation-harness whose rows alone were scored."""
    tasks = [name for name in TASKS if name in tally.tasks]
    summary = summarize(tally, signature(job, tasks, filters, limit=limit), store)
    if filters:
        shown = " and ".join(map(repr, filters))
        summary.notes.append(f"lm-eval filter {shown} was scored, no other (--filter chooses)")
    return summary


def _embedder_before(commits: Sequence[Commit], job: Job) -> str:
    """The embedder that scored the rows written before a resume, or "". Raises `ResumeMismatchError` if
    another one would be used now."""
    before = next((commit.embedder for commit in reversed(commits) if commit.embedder), "")
    if before and (now := embedder_of(job)) != before:
        raise ResumeMismatchError(f"embedder was {before} and is {now}")
    return before


def _total_bytes(sources: Sequence[Source]) -> int:
    """The sum of the sources' sizes; 0 if one is not known before it is read."""
    if not all(source.seekable for source in sources):
        return 0
    return sum(os.stat(source.path).st_size for source in sources)


def _done_before(
    todo: Iterator[Block], writer: Writer, sources: Sequence[Source]
) -> tuple[list[Block], Iterator[Block]]:
    """The blocks that an earlier run has scored, and those that are left. Checks that the input is unchanged;
    of one that has grown, the last block is scored again, as more may belong to it (or to its last line) now.
    """
    before: list[Block] = []
    for commit in writer.commits:
        block = next(todo, None)
        if block is None or (block.then, block.checksum) != (commit.position, commit.input_sum):
            if writer.grown:
                todo = chain(() if block is None else (block,), todo)
                break
            path = sources[commit.position.source].path if commit.position.source < len(sources) else "input"
            raise ResumeMismatchError(
                f"{path} has changed before byte {commit.position.offset}, which was scored already"
            )
        block.data = None  # all blocks of an earlier run, read from a stream, may not fit into memory
        before.append(block)
    if writer.grown:
        writer.keep(len(before))
    return before, todo


def _tally_of(
    writer: Writer, before: Sequence[Block], first_causes: FirstCauses, store: SampleStore
) -> Tally:
    """The tally of the rows of the blocks ``before``, written before a resume: counted from the rows, with
    votes from the journal. Their samples go into ``store``."""
    tally = Tally()
    if not writer.commits:
        return tally
    commits = zip(writer.commits, before, strict=True)
    commit, block = next(commits)
    pending: list[Score] = []

    def flush() -> None:
        nonlocal store
        part = Tally.of(pending)
        store += with_votes(part.take_samples(), commit.votes)
        tally.merge(part)
        first_causes.scores(pending, block)
        pending.clear()

    for score in writer.written():
        while score.index >= commit.position.index:
            flush()
            commit, block = next(commits)
        pending.append(score)
    flush()
    return tally
