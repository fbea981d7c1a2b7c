"""A run on a cluster: shards are counted, and scored in any order; rows and summary are as of one machine.

::

    OUT/part-000000.jsonl …   rows, a file for each shard; concatenated they equal the output of one machine
    OUT/manifest.json         the list of these files with their inputs and rows; written last
    OUT/run.json, _parts/     what the run was started with, and a note for each complete shard: for --resume
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from relfast.distributed.cluster import Cluster
from relfast.distributed.shards import NOTES, SUFFIXES, Assignment, Done, Method, Shard, cut, place
from relfast.distributed.storage import Folder, expand, is_url
from relfast.engine.columns.segments import Tell, tell_nobody
from relfast.engine.files.io.commit_log import fingerprint
from relfast.engine.files.io.parquet import require_parquet
from relfast.engine.files.io.sources import STDIN, find_sources, paths_in
from relfast.engine.files.run import Progress, filter_note
from relfast.engine.job import Job, count_of, workers_of
from relfast.engine.signature import signature
from relfast.errors import (
    InputError,
    OutputExistsError,
    ReadError,
    RelfastError,
    ResumeMismatchError,
    UsageError,
)
from relfast.json_text import Undecodable, decode_object, encode_indented
from relfast.stats.summary import Summary, Tally, summarize
from relfast.stats.unusable import Cause, Unusable
from relfast.support.growing import GrowingFile, check_settings
from relfast.support.outputs import keep_apart
from relfast.tasks import TASKS

PART_BYTES: Final = 64 * 2**20
"""Bytes of input of a shard: a second's work of a text task, minutes of chemistry. That is large enough to
make the overhead (10 ms of the driver, two small files) negligible; a node that dies loses one for each task
that it ran."""

_SHOWN: Final = 5
_RUN, _MANIFEST, _LOCK = "run.json", "manifest.json", ".lock"
_DRAFT: Final = re.compile(r"\.[0-9a-f]{32}\.part\.")
_ROWS: Final = re.compile(r"part-\d{6,}\.")


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
        A folder, by path or URL. The end of its name sets the format of its files: ``.jsonl.gz``,
        ``.jsonl.zst``, ``.parquet``, else ``.jsonl``.
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
    if resume and overwrite:
        raise UsageError("--resume and --overwrite exclude each other")
    if STDIN in inputs or output == STDIN:
        raise UsageError("stdin and stdout are of one machine: with --engine ray name files and a folder")
    count_of("part_bytes", part_bytes, 1)
    limit = None if limit is None else count_of("limit", limit)
    gold = find_sources(job.data)  # missing gold raises before an output is made
    if output is None and (len(inputs) != 1 or any(mark in inputs[0] for mark in "*?[")):
        raise UsageError("several inputs: say in which folder the rows go with -o")
    folder = Folder(f"{inputs[0].rstrip('/')}.scored" if output is None else output)
    names = [path for name in inputs for path in expand(name)]
    job = job.of_files(len(names))
    shards = cut(names, job, part_bytes)
    suffix = next((suffix for suffix in SUFFIXES if folder.path.endswith(suffix)), ".jsonl")
    if suffix == ".parquet":
        require_parquet()
    read = {"INPUT": list(dict.fromkeys(shard.path for shard in shards)), "--data": paths_in(gold)}
    keep_apart("score --engine ray", {"-o": [folder.path], "--summary": [summary] if summary else [], **read})
    settings = fingerprint(job, (), part_bytes=part_bytes, limit=limit)
    n_bytes = sum(shard.end - shard.start for shard in shards)
    state = Progress(started=time.monotonic(), total_bytes=0 if limit is not None else n_bytes)
    done: list[Done] = []
    failed: dict[str, str] = {}
    state.causes = lambda: _causes(done, names)
    with (
        RunFolder(folder, settings, resume=resume, overwrite=overwrite) as target,
        Cluster(address) as cluster,
    ):

        def answers(method: Method, of: Sequence[Shard]) -> Iterator[tuple[Shard, Any]]:
            """What nodes say of shards; what cannot be read has failed, all else raises. Shows progress."""
            how = Assignment(job, 0, folder, suffix)
            for told in cluster.run(method, of, how, workers_of(workers)):
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
        before = {shard: Done.before(folder, shard, suffix) for shard in placed} if resume else {}
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
        target.finish(done, failed, found.to_dict())
    _check(failed, len(done), found.output)
    return found


def _check(failed: Mapping[str, str], n_done: int, output: str | None) -> None:
    """Raise `ReadError` that names shards which could not be read, if there are any."""
    if not failed:
        return
    shown = "; ".join(f"{what}: {reason}" for what, reason in [*failed.items()][:_SHOWN])
    more = f"; and {len(failed) - _SHOWN} more (manifest.json)" if len(failed) > _SHOWN else ""
    raise ReadError(
        f"{len(failed)} of {n_done + len(failed)} parts failed: {shown}{more}. The others"
        f" are in {output}; --resume tries these again"
    )


def _add(state: Progress, done: list[Done], item: Done) -> None:
    done.append(item)
    state.rows += item.rows
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
    tasks = [name for name in TASKS if name in tally.tasks]
    summary = summarize(tally, signature(job, tasks, filters, limit=limit))
    if filters:
        summary.notes.append(filter_note(filters))
    return summary


def _is_ours(name: str) -> bool:
    """Whether a run has written this entry of its folder."""
    return bool(_DRAFT.match(name) or _ROWS.match(name)) or name in (_RUN, _MANIFEST, NOTES)


class RunFolder:
    """The output folder of a run, a context manager that holds its lock. Object stores have none; in them
    files appear complete.

    Raises
    ------
    OutputExistsError
        The folder is not empty, and neither ``resume`` nor ``overwrite`` is set.
    ResumeMismatchError
        ``resume`` is set, and the run in the folder had other ``settings``.
    OutputError
        The folder cannot be written, or another run is writing it.
    """

    def __init__(self, folder: Folder, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
        self._folder: Folder = folder
        self._lock: GrowingFile | None = None
        there = [name for name in folder.names() if name != _LOCK]
        self._new, self._made = not there, not os.path.isdir(folder.path)
        if there and not (resume or overwrite):
            raise OutputExistsError(folder.path, resumable=True)
        folder.make()
        if not is_url(folder.path):
            # the lock file is not removed: a process that waits for the lock has it open already
            self._lock = GrowingFile(folder.join(_LOCK))
        try:
            if resume and there:
                check_settings(self._settings_before(), settings, folder.join(_RUN), folder.path)
            else:
                for name in filter(_is_ours, there):
                    folder.remove(name)
            folder.make(NOTES)
            folder.write(_RUN, encode_indented({"run": settings}))
        except BaseException:
            self._unlock()
            raise

    def _settings_before(self) -> Mapping[str, Any] | None:
        try:
            before: Any = decode_object(self._folder.read(_RUN) or b"")["run"]
        except (Undecodable, KeyError):
            return None
        return dict(before)

    def finish(self, done: Sequence[Done], failed: Mapping[str, str], summary: Mapping[str, Any]) -> None:
        """Write the manifest, and remove files of rows that are of no shard."""
        files = {item.file for item in done}
        for name in self._folder.names():
            if _ROWS.match(name) and name not in files:
                self._folder.remove(name)
        manifest = {
            "relfast_manifest": 1,
            "complete": not failed,
            "rows": sum(item.rows for item in done),
            "parts": [
                {
                    "file": item.file,
                    "input": item.shard.path,
                    "start": item.shard.start,
                    "end": item.shard.end,
                    "first_index": item.shard.first_index,
                    "rows": item.rows,
                    "bytes": item.size,
                }
                for item in done
            ],
            "failed": [{"what": what, "reason": reason} for what, reason in failed.items()],
            "summary": summary,
        }
        self._folder.write(_MANIFEST, encode_indented(manifest))

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Remove what tasks that were ended have left; after an error such as a wrong address all that this
        run has written, if it has scored nothing and the folder was empty before."""
        with contextlib.suppress(RelfastError, OSError):
            drafts = filter(_DRAFT.match, self._folder.names())
            empty = isinstance(error, RelfastError) and self._new and not self._folder.names(NOTES)
            for name in [*drafts, *((NOTES, _RUN, _LOCK) if empty else ())]:
                self._folder.remove(name)
            if empty and self._made and not is_url(self._folder.path):
                os.rmdir(self._folder.path)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
