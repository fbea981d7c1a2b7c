"""`score_files`: a whole run, from sources to blocks, scores and rows, in order, resumable."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from relfast.embed import CACHE_VARIABLE
from relfast.engine.columns.blocks import Block, Blocks, Detours, Segment, Tell, tell_nobody
from relfast.engine.columns.scoring import EMBEDDED, Scoring
from relfast.engine.files.block_scoring import BlockScoring, expand, load, split_lines
from relfast.engine.files.block_work import Counted, score_on_pool
from relfast.engine.files.first_causes import FirstCauses
from relfast.engine.files.inputs import Inputs, filter_in
from relfast.engine.files.io.reader import read_gold
from relfast.engine.files.io.recognise import refuse_output
from relfast.engine.files.io.sources import STDIN, Source, lines_of, paths_in
from relfast.engine.files.io.writer import JOURNAL_SUFFIX, Commit, FileWriter, StreamWriter, Writer
from relfast.engine.isolated.pool import Pool
from relfast.engine.job import Job, count_of, shard_of, workers_of
from relfast.engine.signature import embedder_of, signature
from relfast.errors import Damaged, InputError, RelfastError, ResumeMismatchError, UsageError
from relfast.formats import detect
from relfast.json_text import Undecodable, decode_object
from relfast.records import Plain, Record, Score
from relfast.stats.samples import SampleStore, votes_of, with_votes
from relfast.stats.summary import Summary, Tally, summarize
from relfast.stats.unusable import Cause
from relfast.support.outputs import check_modes, is_stream, keep_apart, own_outputs
from relfast.support.system import usable_cores
from relfast.tasks import EXACT_FIELDS, TASKS

if TYPE_CHECKING:
    from relfast.stats.lengths import Lengths


def score_files(
    names: Sequence[str],
    output: str | None,
    job: Job,
    *,
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    limit: int | None = None,
    shard: tuple[int, int] | None = None,
    lengths: bool = False,
    progress: Callable[[Progress], None] | None = None,
    tell: Tell = tell_nobody,
    summary: str | None = None,
) -> Summary:
    """See `relfast.score_file`; ``tell`` gets the lines that ``-v`` prints. The file ``summary`` is written
    by the caller, afterwards."""
    check_modes(resume, overwrite)
    workers, shard = workers_of(workers), shard_of(shard)
    limit = None if limit is None else count_of("limit", limit)
    # missing inputs and gold are errors before any output is made
    inputs = Inputs(names, job, own_outputs(output, JOURNAL_SUFFIX), limit=limit, shard=shard, twice=lengths)
    output = inputs.default_output() if output is None else output
    refuse_output(output)
    read = {"INPUT": paths_in(inputs.sources), "--data": paths_in(inputs.gold)}
    keep_apart("score", {"-o": [output], "--summary": [summary] if summary else [], **read})
    writer: Writer
    if output == STDIN:
        writer = StreamWriter.of_stdout()
    elif is_stream(output):
        writer = StreamWriter.of_device(output)
    else:
        how = {"resume": resume, "overwrite": overwrite}
        writer = FileWriter(output, inputs.fingerprint(), grown_since=inputs.grown_since, **how)
    if writer.commits:
        tell(f"output {output}: continued after {len(writer.commits)} blocks")
    workers = usable_cores() if workers is None else workers
    if tell is not tell_nobody:
        for source in inputs.sources:
            tell(_about_input(source, job))
        tell(f"kernels: {_about_kernels(job)}")
        tell(f"embedding cache ({CACHE_VARIABLE}): {os.environ.get(CACHE_VARIABLE) or 'off'}")
    if not workers:
        tell("workers: none, scored in this process without deadlines")
    state = Progress(timeout=job.timeout)

    def meanwhile(n_slow: int) -> None:
        if progress is not None and (n_slow or state.slow):
            state.slow = n_slow
            progress(state)

    notes: list[str] = []
    try:
        with (
            on_pool(
                inputs.job,
                workers,
                tell=tell,
                meanwhile=meanwhile,
                note=notes.append,
                counted=inputs.blocks_from,
            )
            if workers
            else in_process(inputs.job, notes.append)
        ) as score:
            found = run(inputs, writer, score, counted=not workers, progress=progress, state=state)
    except (InputError, UsageError):
        writer.withdraw()  # the command was wrong: leave no empty files behind
        raise
    finally:
        writer.close()
    if found.rows > 1:  # for one row it is not worth the milliseconds
        _tell_missing(found.tasks, state)
    found.output = output
    found.notes += [*notes, *writer.grown, *inputs.growing()]
    if lengths:
        tell("lengths: the input is read again")
        for name, of_task in measure(inputs).items():
            if name in found.tasks:
                found.tasks[name].lengths = of_task
    for line in (_about_fast_path(state), *state.detours.lines()):
        tell(line)
    tell(f"{found.rows:,} rows in {found.seconds} s")
    return found


def _tell_missing(tasks: Iterable[str], state: Progress) -> None:
    """Say which kernels of a run's tasks ran as plain Python."""
    from relfast_kernels.compiled import native

    units = {unit for name in tasks if name in TASKS for unit, _ in TASKS[name].plain_seconds}
    if state.n_fast:
        units.discard("text")  # its kernel has read lines
    if missing := [unit for unit in native.UNITS if unit in units and not native.is_built(unit)]:
        native.tell_missing(missing)


@dataclass(slots=True, repr=False, eq=False)
class Progress(Plain):
    """How far a run is; given to the progress callback after each block.

    ``total_bytes`` is 0 if the input's size is not known. ``resumed_rows`` and ``resumed_bytes`` count the
    work of earlier runs, which the totals include. ``causes`` returns the causes of invalid rows,
    ``rows_by_task`` the rows of each task so far, without those that the text kernel wrote. ``slow``
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
    gold = read_gold(job.data, job.max_line_bytes, strict=job.options.strict, in_files=True)
    scoring = BlockScoring(Scoring(job, gold))
    yield lambda todo: ((block, list(scoring.segments(block))) for block in todo)
    if gold.repeated is not None:
        note(gold.repeated.describe(job.data))


def _all_are_counted(block: Block) -> Iterator[Block]:
    raise AssertionError(f"block {block.seq} has more lines than were counted")


@contextmanager
def on_pool(
    job: Job,
    workers: int,
    *,
    tell: Tell = tell_nobody,
    meanwhile: Callable[[int], None] = lambda n_slow: None,
    note: Tell = tell_nobody,
    counted: Counted = _all_are_counted,
) -> Iterator[Blocks]:
    """Score on worker processes, which end with the context. ``meanwhile`` is called with the number of slow
    records, at least every half second, and ``note`` with remarks on gold. ``counted`` is that of
    `score_on_pool`, for blocks that are not."""
    pool = Pool(job, workers, tell=tell)
    try:
        yield partial(score_on_pool, pool, meanwhile, counted)
        if pool.repeated is not None:
            note(pool.repeated.describe(job.data))
    finally:
        pool.close()
        tell(f"workers: {workers}, replaced: {pool.replaced}")


def run(
    inputs: Inputs,
    writer: Writer,
    score: Blocks,
    *,
    counted: bool = True,
    progress: Callable[[Progress], None] | None = None,
    state: Progress,
) -> Summary:
    """Score the blocks that the output does not have yet; returns the summary of the whole output.

    ``counted``: whether ``score`` needs counted blocks. ``progress`` is called with ``state``. Raises what
    reading and writing raise; rows written until then are whole and committed.
    """
    job = inputs.job
    state.started = time.monotonic()
    state.total_bytes = inputs.total_bytes
    first_causes = FirstCauses(job, inputs.place)
    state.causes = first_causes.unusable.most_frequent
    before, todo = _done_before(inputs, writer, counted=counted)
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
    if job.filter is not None and not tally.rows and inputs.shard is None and inputs.limit != 0:
        unasked = replace(job, filter=None)
        names = dict.fromkeys(filter_in(source, unasked) for source in inputs.sources if source.regular)
        shown = " and ".join(repr(name) for name in names if name is not None)
        first = f"; the first one is {shown}" if shown else ""
        raise UsageError(f"no row has the filter {job.filter!r}{first}")
    writer.finish(tally.rows)
    expand(tally, job)
    summary = summary_of(tally, job, inputs.filter_names, inputs.limit, store)
    summary.unusable = first_causes.unusable.most_frequent()
    summary.seconds = round(time.monotonic() - state.started, 3)
    return summary


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


def _done_before(inputs: Inputs, writer: Writer, *, counted: bool) -> tuple[list[Block], Iterator[Block]]:
    """The blocks that an earlier run has scored, and those that are left. Checks that the input is unchanged;
    of one that has grown, the last block is scored again, as more may belong to it (or to its last line) now.
    """
    before: list[Block] = []
    # where lines end is compared with the journal
    todo, sources = inputs.blocks(counted=counted or bool(writer.commits)), inputs.sources
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


def measure(inputs: Inputs) -> dict[str, Lengths]:
    """``--lengths``: read a dump a second time for what scored rows do not contain: task → lengths of
    responses, tokens, and why responses ended.

    Most runs do not need it. The numbers do not depend on resumes or the number of workers. Responses without
    a text in the dump are not counted. Raises what reading raises.
    """
    from relfast.formats.facts import facts_of
    from relfast.stats.lengths import Lengths

    job = inputs.job
    scoring = Scoring(job, read_gold(job.data, job.max_line_bytes, strict=job.options.strict, in_files=True))
    found: dict[str, Lengths] = {}
    for block in inputs.blocks():
        if block.faults:
            continue
        with suppress(Damaged):  # the rows of the block say so
            lines = split_lines(load(block))[: block.n_lines]
            for index, line in enumerate(lines, block.first_index):
                try:
                    row = decode_object(line, EXACT_FIELDS)
                except Undecodable:
                    continue
                entries = scoring.records_of_row(row, index, block.filter)
                for entry in entries:
                    if isinstance(entry, Record):
                        facts = facts_of(row, entry.response, entry.sample, len(entries))
                        found.setdefault(entry.task, Lengths()).add(facts)
    return found


# what -v says


def _about_input(source: Source, job: Job) -> str:
    """The line that ``-v`` prints about an input."""
    size = f"{os.stat(source.path).st_size:,} bytes, " if source.regular else ""
    if job.dialect != "auto":
        read = f"read as {job.dialect} (--input-format)"
    elif not source.regular:
        read = "dialect seen row by row"
    else:
        try:
            with contextlib.closing(lines_of(source, job.max_line_bytes)) as lines:
                first = next(filter(bytes.strip, lines), b"")
            read = f"first record read as {detect(decode_object(first))}"
        except (Undecodable, RelfastError):
            read = "its first line is no record"
    return f"input {source.path}: {size}{source.codec}, {read}"


def _about_kernels(job: Job) -> str:
    """The line that ``-v`` prints about the kernels."""
    from relfast_kernels.compiled import native

    from relfast.engine.columns.text_table import can_hold

    places = {unit: native.folder_of(unit) for unit in native.UNITS}
    if missing := [unit for unit, place in places.items() if place is None]:
        return f"not compiled: {', '.join(missing)} (relfast warmup compiles them into the cache)"
    where = " and ".join(dict.fromkeys(map(str, places.values())))
    if not can_hold(job.field_map):
        return f"compiled in {where}; these options score all lines the ordinary way"
    return f"compiled in {where}; lines of the text tasks take the fast path"


def _about_fast_path(state: Progress) -> str:
    """The line that ``-v`` prints about the fast path: how many lines it got, how many of them it left to
    ordinary code, and for how many of the others it left a response to the task's scorer."""
    n = state.n_fast + state.n_exact
    if not n:
        return "text fast path: not taken"
    text = f"text fast path: {n:,} lines, {state.n_exact:,} ({state.n_exact / n:.2%}) of them left"
    left = f", {state.n_left:,} ({state.n_left / n:.2%}) to the task's scorer" if state.n_left else ""
    return f"{text} to the ordinary way{left}"
