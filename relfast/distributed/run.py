"""A run on a cluster: measures inputs, scores parts in any order; rows and summary are as of one machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from relfast.distributed.cluster import Cluster
from relfast.distributed.output import RunFolder
from relfast.distributed.part_scoring import Assignment, Done, Method, suffix_of
from relfast.distributed.parts import PART_BYTES, Failed, Part, Planning, chunks_of, find_inputs, reason_of
from relfast.distributed.storage import Folder, expand
from relfast.engine.file_run.run import Progress, filter_note
from relfast.engine.io.commit_log import fingerprint
from relfast.engine.io.parquet import require_parquet
from relfast.engine.io.sources import STDIN, find_sources, paths_in
from relfast.engine.job import Job
from relfast.engine.segments import Tell, tell_nobody
from relfast.engine.settings import count_of, workers_of
from relfast.engine.signature import signature
from relfast.errors import InputError, ReadError, RelfastError, ResumeMismatchError, UsageError
from relfast.outputs import keep_apart
from relfast.stats.summary import Summary, Tally, summarize
from relfast.stats.unusable import Cause, Unusable
from relfast.tasks import TASKS

_SHOWN: Final = 5

_CHUNKS_OF_LIMIT: Final = 16
"""Chunks that are measured at a time if there is a limit of lines."""

UNMEASURED: Final = Failed("inputs", "not measured to their end")
"""Entry of a plan that is not complete yet."""


def default_output(inputs: Sequence[str]) -> str:
    """``INPUT.scored`` beside a single input. Raises `UsageError` for several inputs."""
    if len(inputs) != 1 or any(mark in inputs[0] for mark in "*?["):
        raise UsageError("several inputs: say in which folder the rows go with -o")
    return f"{inputs[0].rstrip('/')}.scored"


def score_on_ray(
    inputs: Sequence[str],
    output: str | None,
    job: Job,
    *,
    address: str | None = None,
    workers: int | None = None,
    limit: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    part_bytes: int = PART_BYTES,
    progress: Callable[[Progress], None] | None = None,
    tell: Tell = tell_nobody,
    summary: str | None = None,
) -> Summary:
    """Score files on a Ray cluster. The file ``summary`` is written by the caller, afterwards.

    Parameters
    ----------
    inputs
        Paths, patterns or folders that all nodes can access, and URLs that fsspec opens.
    output
        A folder (see `relfast.distributed.output`), by path or URL. The end of its name sets the format of
        its files: ``.jsonl.gz``, ``.jsonl.zst``, ``.parquet``, else ``.jsonl``.
    address
        See `Cluster`.
    workers
        Number of worker processes, and of CPUs, for a part.
    limit
        Number of lines to score, from the first on; None: all.
    part_bytes
        Approximate bytes of input of a part.

    Raises
    ------
    ReadError
        Some parts could not be read. All others are written.
    UsageError, InputError, OutputError, WorkerError
        As for files on one machine.
    """
    if resume and overwrite:
        raise UsageError("--resume and --overwrite exclude each other")
    if STDIN in inputs or output == STDIN:
        raise UsageError("stdin and stdout are of one machine: with --engine ray name files and a folder")
    count_of("part_bytes", part_bytes, 1)
    limit = None if limit is None else count_of("limit", limit)
    gold = find_sources(job.data)  # missing gold raises before an output is made
    output = default_output(inputs) if output is None else output
    names = [path for name in inputs for path in expand(name)]
    input_files = find_inputs(names)
    job = job.of_files(len(input_files))
    folder, suffix = Folder(output), suffix_of(output)
    if suffix == ".parquet":
        require_parquet()
    read = {"INPUT": [item.path for item in input_files], "--data": paths_in(gold)}
    keep_apart("score --engine ray", {"-o": [folder.path], "--summary": [summary] if summary else [], **read})
    run = fingerprint(job, (), part_bytes=part_bytes, limit=limit)
    target = RunFolder(folder, run, input_files, suffix, resume=resume, overwrite=overwrite)
    n_bytes = sum(item.size for item in input_files)
    state = Progress(started=time.monotonic(), total_bytes=0 if limit is not None else n_bytes)
    assignment = Assignment(job, 0, part_bytes, folder, suffix)
    done: dict[int, Done] = {}
    failed: list[Failed] = []
    state.causes = lambda: _causes([done[number] for number in sorted(done)], names)

    def take(item: Done) -> None:
        done[item.part.number] = item
        _count(state, item)

    try:
        with Cluster(address) as cluster:

            def answers(method: Method, items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
                """Yield results; `InputError` for unreadable items, others raise. Shows progress."""
                for item in cluster.run(method, items, assignment, workers_of(workers)):
                    if item is not None:
                        if isinstance(item[1], RelfastError) and not isinstance(item[1], InputError):
                            raise item[1]
                        yield item
                    if progress is not None:
                        progress(state)

            parts = target.planned()
            if parts is None:
                target.plan([], [UNMEASURED])
                planning, chunks = Planning(limit), chunks_of(input_files, part_bytes)
                while chunks and planning.wants_more:
                    # with a limit, a few chunks at a time until it is reached
                    some = chunks if limit is None else chunks[:_CHUNKS_OF_LIMIT]
                    chunks = chunks[len(some) :]
                    measured = dict(answers("measure", some))
                    for chunk in some:
                        planning.add(chunk, measured[chunk])
                parts, failed = planning.parts, planning.failed
                target.plan(parts, failed)
            todo = []
            for part in parts:
                before = target.done_before(part)
                if before is None:
                    todo.append(part)
                else:
                    take(before)
                    state.resumed_rows += before.rows
                    state.resumed_bytes += part.size
            n_parts = len(parts) + len(failed)
            for part, answer in answers("score", todo):
                if isinstance(answer, InputError):
                    failed.append(Failed(str(part), reason_of(answer, part.input)))
                else:
                    take(answer)
        if resume:
            tell(f"output {output}: {state.resumed_rows:,} rows were there")
        ordered = [done[number] for number in sorted(done)]
        found = _summary(ordered, parts, job, limit)
        found.unusable = _causes(ordered, names)
        found.output = output
        found.seconds = round(time.monotonic() - state.started, 3)
        target.finish(ordered, failed, found.to_dict())
    except RelfastError:
        target.withdraw()  # after a wrong address, for instance
        raise
    finally:
        target.close()
    if failed:
        shown = "; ".join(f"{failure.what}: {failure.reason}" for failure in failed[:_SHOWN])
        more = f"; and {len(failed) - _SHOWN} more (manifest.json)" if len(failed) > _SHOWN else ""
        raise ReadError(
            f"{len(failed)} of {n_parts} parts failed: {shown}{more}. The others"
            f" are in {output}; --resume tries these again"
        )
    return found


def _count(state: Progress, done: Done) -> None:
    state.rows += done.rows
    state.done_bytes += done.part.size
    state.invalid += done.tally.count("invalid_record")
    state.timeouts += done.tally.count("timeout")
    state.crashes += done.tally.count("crashed")


def _causes(done: Iterable[Done], names: Sequence[str]) -> list[Cause]:
    """Why records were unusable: merged causes of the parts ``done``, in order, with places in the inputs,
    which are called by ``names``."""
    unusable = Unusable()
    for item in done:
        name = names[item.part.source]
        unusable.merge(item.unusable, str if len(names) == 1 else partial("{}:{}".format, name))
    return unusable.most_frequent()


def _summary(done: Sequence[Done], parts: Sequence[Part], job: Job, limit: int | None) -> Summary:
    """The summary of all parts, equal to that of a run on one machine.

    Raises
    ------
    ResumeMismatchError
        Parts were scored by different embedding models.
    """
    embedders = list(dict.fromkeys(item.embedder for item in done if item.embedder))
    if len(embedders) > 1:
        raise ResumeMismatchError(f"embedder was {embedders[0]} and is {embedders[1]}")
    tally = Tally()
    for item in done:
        tally.merge(item.tally)
    filters = list(dict.fromkeys(part.filter for part in parts if part.filter is not None))
    tasks = [name for name in TASKS if name in tally.tasks]
    summary = summarize(tally, signature(job, tasks, filters, limit=limit))
    if filters:
        summary.notes.append(filter_note(filters))
    return summary
