"""A run on a cluster: shards are counted, and scored in any order; rows and summary are as of one machine.

::

    OUT/part-000000.jsonl …   rows, a file for each shard; concatenated they equal the output of one machine
    OUT/manifest.json         the list of these files with their inputs and rows; written last
    OUT/run.json, _parts/     what the run was started with, and a note for each complete shard: for --resume
"""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

from relfast.distributed.cluster import Cluster
from relfast.distributed.shards import NOTES, Assignment, Done, Method, Shard, cut, place, suffix_of
from relfast.distributed.storage import DRAFT, Folder, expand, is_url
from relfast.engine.columns.blocks import Tell, tell_nobody
from relfast.engine.files.inputs import fingerprint
from relfast.engine.files.io.parquet import require_parquet
from relfast.engine.files.io.sources import STDIN, check_once, find_sources, paths_in
from relfast.engine.files.score_files import Progress, summary_of
from relfast.engine.job import Job, count_of, workers_of
from relfast.errors import (
    InputError,
    OutputExistsError,
    ReadError,
    RelfastError,
    ResumeMismatchError,
    UsageError,
)
from relfast.json_text import Undecodable, decode_object, encode_indented
from relfast.stats.summary import Summary, Tally
from relfast.stats.unusable import Cause, Unusable
from relfast.support.outputs import GrowingFile, check_modes, check_settings, keep_apart

PART_BYTES: Final = 64 * 2**20
"""Bytes of input of a shard: a second's work of a text task, minutes of chemistry. That is large enough to
make the overhead (10 ms of the driver, two small files) negligible; a node that dies loses one for each task
that it ran."""

_SHOWN: Final = 5
_RUN, _MANIFEST, _LOCK = "run.json", "manifest.json", ".lock"
_OURS: Final = re.compile(rf"part-\d{{6,}}\.|({_RUN}|{_MANIFEST}|{NOTES})$|{re.escape(DRAFT)}")
"""What a run has written into its folder."""


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
        A folder, by path or URL. The end of its name sets the format of its files, such as
        ``.jsonl.gz`` or ``.parquet``, else ``.jsonl``.
    address
        See `Cluster`.
    workers
        Number of worker processes, and of CPUs, for a shard.
    limit
        Number of lines to score, from the first on; None: all.
    part_bytes
        Approximate bytes of input of a shard.

    Raises
    ------
    ReadError
        Some shards could not be read. All others are written.
    UsageError, InputError, OutputError, WorkerError
        As for files on one machine.
    """
    check_modes(resume, overwrite)
    if STDIN in inputs or output == STDIN:
        raise UsageError("stdin and stdout are of one machine: with --engine ray name files and a folder")
    count_of("part_bytes", part_bytes, 1)
    limit = None if limit is None else count_of("limit", limit)
    gold = find_sources(job.data, gold=True)  # missing gold raises before an output is made
    if output is None and (len(inputs) != 1 or any(mark in inputs[0] for mark in "*?[")):
        raise UsageError("several inputs: say in which folder the rows go with -o")
    folder = Folder(f"{inputs[0].rstrip('/')}.scored" if output is None else output)
    named = [(name, path) for name in inputs for path in expand(name)]
    check_once(named)
    names = [path for _, path in named]
    job = job.of_files(len(names))
    shards = cut(names, job, part_bytes)
    if suffix_of(folder) == ".parquet":
        require_parquet()
    read = {"INPUT": list(dict.fromkeys(shard.path for shard in shards)), "--data": paths_in(gold)}
    keep_apart("score --engine ray", {"-o": [folder.path], "--summary": [summary] if summary else [], **read})
    settings = fingerprint(job, gold, (), part_bytes=part_bytes, limit=limit)
    n_bytes = sum(shard.end - shard.start for shard in shards)
    state = Progress(started=time.monotonic(), total_bytes=0 if limit is not None else n_bytes)
    done: list[Done] = []
    failed: dict[str, str] = {}
    state.causes = lambda: _causes(done, names)
    with (
        Cluster(address, workers_of(workers)) as cluster,
        _held(folder, settings, resume=resume, overwrite=overwrite),
    ):
        given = pickle.dumps(Assignment(job, cluster.cpus, folder))

        def answers(method: Method, of: Sequence[Shard]) -> Iterator[tuple[Shard, Any]]:
            """What nodes say of shards; what cannot be read has failed, all else raises. Shows progress."""
            for told in cluster.run(method, of, given):
                if told is not None and isinstance(error := told[1], InputError):
                    failed[str(told[0])] = str(error).removeprefix(f"{told[0].path}: ")
                elif told is not None and isinstance(told[1], RelfastError):
                    raise told[1]
                elif told is not None:
                    yield told
                if progress is not None:
                    progress(state)

        counted = dict(answers("count", shards))
        placed = list(place((counted[shard] for shard in shards if shard in counted), limit))
        before = {shard: Done.before(folder, shard) for shard in placed} if resume else {}
        for earlier in filter(None, before.values()):
            _add(state, done, earlier)
        state.resumed_rows, state.resumed_bytes = state.rows, state.done_bytes
        if resume:
            tell(f"output {output}: {state.resumed_rows:,} rows were there")
        for _, new in answers("score", [shard for shard in placed if before.get(shard) is None]):
            _add(state, done, new)
        done.sort(key=lambda item: item.shard.number)
        found = _summary(done, placed, job, limit)
        found.unusable = _causes(done, names)
        found.output = folder.path if output is None else output
        found.seconds = round(time.monotonic() - state.started, 3)
        _finish(folder, done, failed, found.to_dict())
    if failed:
        raise _failure(failed, len(done), found.output)
    return found


def _failure(failed: Mapping[str, str], n_done: int, output: str | None) -> ReadError:
    """The error that names shards which could not be read."""
    shown = "; ".join(f"{what}: {reason}" for what, reason in [*failed.items()][:_SHOWN])
    more = f"; and {len(failed) - _SHOWN} more (manifest.json)" if len(failed) > _SHOWN else ""
    return ReadError(
        f"{len(failed)} of {n_done + len(failed)} parts failed: {shown}{more}. The others"
        f" are in {output}; --resume tries these again"
    )


def _add(state: Progress, done: list[Done], item: Done) -> None:
    done.append(item)
    state.rows += item.tally.rows
    state.done_bytes += item.shard.end - item.shard.start
    invalid, timeouts, crashes = item.tally.statuses("invalid_record", "timeout", "crashed")
    state.invalid, state.timeouts = state.invalid + invalid, state.timeouts + timeouts
    state.crashes += crashes


def _causes(done: Iterable[Done], names: Sequence[str]) -> list[Cause]:
    """Why records were unusable, in the order of the input, whose files are called by ``names``."""
    unusable = Unusable()
    for item in sorted(done, key=lambda item: item.shard.number):
        name = names[item.shard.source]
        unusable.merge(item.unusable, str if len(names) == 1 else partial("{}:{}".format, name))
    return unusable.most_frequent()


def _summary(done: Sequence[Done], placed: Sequence[Shard], job: Job, limit: int | None) -> Summary:
    """The summary of all shards, equal to that of a run on one machine. Raises `ResumeMismatchError` if they
    were scored by different embedding models."""
    embedders = list(dict.fromkeys(item.embedder for item in done if item.embedder))
    if len(embedders) > 1:
        raise ResumeMismatchError(f"embedder was {embedders[0]} and is {embedders[1]}")
    tally = Tally()
    for item in done:
        tally.merge(item.tally)
    filters = list(dict.fromkeys(shard.filter for shard in placed if shard.filter is not None))
    return summary_of(tally, job, filters, limit)


@contextmanager
def _held(folder: Folder, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> Iterator[None]:
    """Make the output folder ready for a run and hold its lock. Object stores have none; in them files
    appear complete. What tasks that were ended have left goes at the end, and all that the run has made if an
    error ends it before it has scored anything.

    Raises
    ------
    OutputExistsError
        The folder is not empty, and neither ``resume`` nor ``overwrite`` is set.
    ResumeMismatchError
        ``resume`` is set, and the run in the folder had other ``settings``.
    OutputError
        The folder cannot be written, or another run is writing it.
    """
    there = [name for name in folder.names() if name != _LOCK]
    if there and not (resume or overwrite):
        raise OutputExistsError(folder.path, resumable=True)
    folder.make("")
    # the lock file is not removed: a process that waits for the lock has it open already
    lock = None if is_url(folder.path) else GrowingFile(folder.join(_LOCK))
    try:
        if resume and there:
            check_settings(_settings_in(folder), settings, folder.join(_RUN), folder.path)
        else:
            for name in filter(_OURS.match, there):
                folder.remove(name)
        folder.make(NOTES)
        folder.write(_RUN, encode_indented({"run": settings}))
        yield
    except RelfastError:
        if not there and not folder.names(NOTES):
            for name in (NOTES, _RUN):
                folder.remove(name)
        raise
    finally:
        with suppress(RelfastError, OSError):
            for name in folder.names():
                if name.startswith(DRAFT):
                    folder.remove(name)
        if lock is not None:
            lock.close()


def _settings_in(folder: Folder) -> Mapping[str, Any] | None:
    try:
        return dict(decode_object(folder.read(_RUN) or b"")["run"])
    except (Undecodable, KeyError):
        return None


def _finish(
    folder: Folder, done: Sequence[Done], failed: Mapping[str, str], summary: Mapping[str, Any]
) -> None:
    """Write the manifest, and remove files of rows that are of no shard."""
    for name in folder.names():
        if name.startswith("part-") and name not in {item.file for item in done}:
            folder.remove(name)
    parts = [
        {
            "file": item.file,
            "input": item.shard.path,
            "start": item.shard.start,
            "end": item.shard.end,
            "first_index": item.shard.first_index,
            "rows": item.tally.rows,
            "bytes": item.size,
        }
        for item in done
    ]
    manifest = {
        "relfast_manifest": 1,
        "complete": not failed,
        "rows": sum(item.tally.rows for item in done),
        "parts": parts,
        "failed": [{"what": what, "reason": reason} for what, reason in failed.items()],
        "summary": summary,
    }
    folder.write(_MANIFEST, encode_indented(manifest))
