"""`score_files`: finds the inputs, opens the output, and scores all blocks or those of a shard."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from relfast.embed import CACHE_VARIABLE
from relfast.engine.columns.blocks import Block, Tell, tell_nobody
from relfast.engine.files.io.commit_log import JOURNAL_SUFFIX, fingerprint, growing
from relfast.engine.files.io.filters import Filters
from relfast.engine.files.io.foreign import refuse_output
from relfast.engine.files.io.sources import STDIN, Source, find_sources, lines_of, paths_in
from relfast.engine.files.io.writer import FileWriter, StreamWriter, Writer
from relfast.engine.files.run import Progress, in_process, on_pool, run
from relfast.engine.job import Job, count_of, shard_of, workers_of
from relfast.errors import Damaged, InputError, RelfastError, UsageError
from relfast.formats import detect
from relfast.json_text import Undecodable, decode_object
from relfast.stats.summary import Summary
from relfast.support.outputs import check_modes, is_stream, keep_apart, own_outputs
from relfast.support.system import usable_cores


def default_output(inputs: Sequence[str], sources: Sequence[Source]) -> str:
    """The default output: ``INPUT.scored.jsonl`` beside a single input; stdout for stdin.

    Raises
    ------
    UsageError
        There are several inputs, so that no default is obvious.
    """
    if list(inputs) == [STDIN]:
        return STDIN
    if len(inputs) == 1 and Path(inputs[0]).is_dir():
        return f"{inputs[0].rstrip('/')}.scored.jsonl"
    if len(sources) != 1:
        raise UsageError("several inputs: say where the rows go with -o")
    return f"{sources[0].path}.scored.jsonl"


def score_files(
    inputs: Sequence[str],
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
    sources = find_sources(inputs, own_outputs(output, JOURNAL_SUFFIX))
    job = job.of_files(len(sources))
    output = default_output(inputs, sources) if output is None else output
    refuse_output(output)
    gold = find_sources(job.data)  # missing gold files are an error before any output is made
    read = {"INPUT": paths_in(sources), "--data": paths_in(gold)}
    keep_apart("score", {"-o": [output], "--summary": [summary] if summary else [], **read})
    if lengths:
        from relfast.engine.files.measuring import check_readable, measure

        check_readable(sources)
    keep = None if shard is None else _shard(sources, *shard)
    filters = Filters(sources, job.dialect, job.filter)
    decided = {"limit": limit, "shard": shard, "filters": [filters[at] for at in range(len(sources))]}
    writer: Writer
    if output == STDIN:
        writer = StreamWriter.of_stdout()
    elif is_stream(output):
        writer = StreamWriter.of_device(output)
    else:
        how = {"resume": resume, "overwrite": overwrite}
        writer = FileWriter(output, fingerprint(job, sources, **decided), sources=sources, **how)
    if writer.commits:
        tell(f"output {output}: continued after {len(writer.commits)} blocks")
    workers = usable_cores() if workers is None else workers
    if tell is not tell_nobody:
        for source in sources:
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
            on_pool(job, workers, tell=tell, meanwhile=meanwhile, note=notes.append)
            if workers
            else in_process(job, notes.append)
        ) as score:
            found = run(
                job,
                sources,
                writer,
                score,
                filters=filters,
                limit=limit,
                keep=keep,
                progress=progress,
                state=state,
            )
    except (InputError, UsageError):
        writer.withdraw()  # the command was wrong: leave no empty files behind
        raise
    finally:
        writer.close()
    if found.rows > 1:  # for one row it is not worth the 25 ms
        from relfast_kernels.compiled import native

        native.tell_missing()
    found.output = output
    found.notes += [*notes, *writer.grown, *(growing(sources) if limit is None else ())]
    if lengths:
        tell("lengths: the input is read again")
        for name, of_task in measure(sources, job, filters=filters, limit=limit, keep=keep).items():
            if name in found.tasks:
                found.tasks[name].lengths = of_task
    for line in (_about_fast_path(state), *state.detours.lines()):
        tell(line)
    tell(f"{found.rows:,} rows in {found.seconds} s")
    return found


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


def _shard(sources: Sequence[Source], number: int, count: int) -> Callable[[Block], bool]:
    """A function that returns whether a block belongs to the shard. Shards are contiguous ranges of the
    input, so that their rows, concatenated, are those of the whole.

    Raises
    ------
    UsageError
        The input has no known size.
    """
    if not all(source.regular for source in sources):
        raise UsageError("stdin and pipes cannot be cut into shards: name a file")
    *starts, total = accumulate(map(_length, sources), initial=0)

    def keep(block: Block) -> bool:
        # the min: a block may start at the very end of the input, for the row that reports a broken stream
        return min((starts[block.source] + block.start) * count // max(1, total), count - 1) == number

    return keep


def _length(source: Source) -> int:
    """The length of a source in the unit of `Block.start`: (decompressed) bytes, or rows of Parquet."""
    if source.codec == "parquet":
        from relfast.engine.files.io.parquet import count_rows

        return count_rows(source.path)
    if source.seekable:
        return Path(source.path).stat().st_size
    length = 0
    with contextlib.suppress(Damaged), source.open() as stream:
        for piece in stream.pieces:
            length += len(piece)
    return length
