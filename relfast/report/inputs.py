"""The inputs of a report: find the files of scored rows and summaries, make sure that nothing is counted
twice, and read the dump that the rows were scored from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from relfast.comparison.runs import files_beside, read_summary
from relfast.engine.columns.rows import entry_of, records_of
from relfast.engine.files.io.codecs import LINES, ROWS
from relfast.engine.files.io.reader import read_gold
from relfast.engine.files.io.scored import is_row, is_unusable, read_scores
from relfast.engine.files.io.sources import Source, find_sources, lines_of, paths_in
from relfast.engine.job import Job
from relfast.errors import InputError, UsageError, told_of
from relfast.formats.facts import facts_of
from relfast.json_text import Undecodable, decode_object, shallow
from relfast.records import STATUSES, Record, Score
from relfast.stats.samples import key_of
from relfast.stats.summary import Summary, TaskSummary
from relfast.support.outputs import keep_apart
from relfast.tasks import EXACT_FIELDS

_SCORED: Final = tuple(".scored" + ending for ending in ROWS)


def dump_beside(scored: str) -> str | None:
    """The dump from which a file of scored rows was made, by default names: ``x.jsonl`` for
    ``x.jsonl.scored.jsonl`` or ``x.scored.jsonl``. None if there is no such file."""
    stem = next((scored.removesuffix(suffix) for suffix in _SCORED if scored.endswith(suffix)), None)
    if stem is None:
        return None
    return next((stem + suffix for suffix in ("", *ROWS) if os.path.isfile(stem + suffix)), None)


def keep_inputs(inputs: Sequence[str], dump: Sequence[str], directory: str | Path) -> None:
    """Check that a report is not written over a file that it reads. ``inputs`` and ``dump`` are paths.

    Raises
    ------
    UsageError, InputError
    """
    rows = [item.path for item in find_inputs(inputs)]
    found = [dump_beside(path) for path in rows]
    beside = [*(name for path in rows for name in files_beside(path)), *filter(None, found)]
    dumps: list[str] = []
    with suppress(InputError):  # what is not there is said when it is read
        dumps = paths_in(find_sources(dump))
    keep_apart("report", {"-o": [directory], "SCORED": rows, "beside SCORED": beside, "--dump": dumps})


class Dump:
    """Reads the records of a dump for scored rows, which must be requested in the order of the dump.

    ``problem`` says why no further record can be read; None if there is no problem.
    """

    def __init__(self, names: Sequence[str], job: Job) -> None:
        self.names = list(names)
        self.problem: str | None = None
        self._job = job
        self._gold = read_gold(job.data, job.max_line_bytes)
        longest = job.max_line_bytes
        self._lines = enumerate(line for source in find_sources(names) for line in lines_of(source, longest))
        self._index = -1
        self._records: dict[int, Record] = {}
        self._row: Mapping[str, Any] = {}
        self._samples = 0

    def record_of(self, score: Score) -> Record | None:
        """The record that a row was scored from; None if there is none or the dump is not the row's."""
        if self.problem is not None or not isinstance(score.index, int):
            return None
        if score.index > self._index:
            self._read(score.index)
        elif score.index < self._index:
            self.problem = f"its rows are not in the order of the dump from line {score.index + 1} on"
        record = self._records.get(score.sample) if score.index == self._index else None
        if record is not None and (record.id, record.task) != (score.id, score.task):
            self.problem = (
                f"the dump {' '.join(self.names)} is another one: on line {score.index + 1} it has id"
                f" {record.id!r:.60}, not {score.id!r:.60}"
            )
            return None
        return record

    def tokens_of(self, record: Record) -> int | None:
        """The number of tokens of a response in the line read last, if the line gives it."""
        return facts_of(self._row, record.response, record.sample, self._samples).tokens

    def _read(self, wanted: int) -> None:
        self._records = {}
        try:
            for index, line in self._lines:
                if index == wanted:
                    self._index = index
                    self._records = {r.sample: r for r in self._decoded(line, index)}
                    return
        except InputError as error:
            self.problem = str(error)
            return
        self._index = wanted
        self.problem = f"the dump {' '.join(self.names)} ends before line {wanted + 1}"

    def _decoded(self, line: bytes, index: int) -> Iterator[Record]:
        try:
            row = decode_object(line, EXACT_FIELDS)
        except Undecodable:
            return
        entries = list(records_of(entry_of(row, self._job), index, self._job, self._gold, self._job.filter))
        self._row, self._samples = row, len(entries)
        for record in entries:
            if isinstance(record, Record):
                record.id = shallow(record.id)
                yield record


_FOLDER_SUFFIXES: Final = (*LINES, ".parquet", ".json")

_REMEDY: Final = (
    "name the models (NAME=FILE) to have them side by side, or say --shards if they are parts of one run"
)


@dataclass(frozen=True)
class Input:
    """An input file: scored rows, or (``summary`` is set) what `relfast score --summary` wrote."""

    source: Source
    summary: Summary | None = None

    @property
    def path(self) -> str:
        return self.source.path


def find_inputs(names: Sequence[str]) -> list[Input]:
    """The input files that names (files, patterns, folders, ``-``) refer to, in order.

    In a folder only scored rows and summaries are used; other files (dumps, journals) are ignored.

    Raises
    ------
    InputError
        A name refers to nothing that can be read.
    UsageError
        Stdin, or a file, is named twice.
    """
    if list(names).count("-") > 1:
        raise UsageError("stdin (-) can be read only once")
    found = [item for name in names for item in (_of_folder(name) if os.path.isdir(name) else _named(name))]
    seen: set[str] = set()
    for item in found:
        path = str(Path(item.path).resolve())
        if path in seen:
            raise UsageError(f"{item.path} is named twice")
        seen.add(path)
    return found


def _named(name: str) -> list[Input]:
    found = [(source, Path(source.path)) for source in find_sources([name])]
    return [Input(source, read_summary(path) if path.suffix == ".json" else None) for source, path in found]


def _of_folder(name: str) -> list[Input]:
    with told_of(name):
        paths = sorted(str(path) for path in Path(name).iterdir() if path.name.endswith(_FOLDER_SUFFIXES))
    inputs = [item for path in paths for item in _named(path)]
    inputs = [item for item in inputs if item.summary is not None or _holds_rows(item.source)]
    if not inputs:
        raise InputError("no scored rows and no summary in this folder; score the dump first", file=name)
    return inputs


def is_entry(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of ReAlign's result entries."""
    return "alignment_score" in row and "final_correct" in row


def realign_results(names: Sequence[str]) -> str | None:
    """The name of the first input with ReAlign's result entries instead of scored rows, or None."""
    for name in names:
        try:
            row = next(_first_rows(find_sources([name])[0]), None)
        except InputError:
            continue  # a folder of scored rows, which `find_sources` does not accept
        if row is not None and is_entry(row):
            return name
    return None


def _holds_rows(source: Source) -> bool:
    """Whether a file of a folder is one of scored rows, by its name or its first lines."""
    rows = (row for row in _first_rows(source) if is_row(row))
    return source.path.endswith(_SCORED) or any(row["status"] in STATUSES for row in rows)


def _first_rows(source: Source) -> Iterator[dict[str, Any]]:
    """The first rows of a regular file (one that can be read again), without lines that are damaged."""
    if source.regular:
        for line in islice(filter(bytes.strip, lines_of(source)), _FIRST):
            with suppress(Undecodable):
                yield decode_object(line)


_FIRST: Final = 20
"""Lines of a file that are looked at to find out what it holds."""


class SharedRows:
    """Finds samples that occur in two files: two runs of the same records, or a shard given twice.

    A sample is identified by task, prompt and sample number. For ``shards`` of one run its index counts, too,
    since samples of one prompt may be on several lines and so in several shards. Takes 8 bytes per row.
    """

    def __init__(self, *, shards: bool) -> None:
        self._shards = shards
        self._files: list[Source] = []
        self._hashes: list[NDArray[np.uint64]] = []

    def add(self, source: Source, scores: Iterator[Score]) -> Iterator[Score]:
        """Pass a file's rows through unchanged; the file is registered when all its rows have been read."""
        digests = bytearray()
        for score in scores:
            if not is_unusable(score):
                digests += self._digest(score)
            yield score
        self._files.append(source)
        self._hashes.append(np.unique(np.frombuffer(digests, np.uint64)))

    def _digest(self, score: Score) -> bytes:
        parts = [orjson.dumps([score.task, score.sample]), key_of(score.id, score.prompt, score.index)]
        if self._shards:
            parts.append(orjson.dumps(score.index))
        return blake2b(b"\n".join(parts), digest_size=8).digest()

    def check(self) -> None:
        """Raise `UsageError` if two files have the same sample."""
        hashes = self._hashes
        if len(np.unique(np.r_[*hashes, np.zeros(0, np.uint64)])) == sum(map(len, hashes)):
            return
        pairs = (
            (one, other, np.intersect1d(*of, assume_unique=True))
            for (one, other), of in zip(combinations(self._files, 2), combinations(hashes, 2), strict=True)
        )
        one, other, common = next(pair for pair in pairs if len(pair[-1]))
        what = self._named(one if one.regular else other, {each.tobytes() for each in common})
        both = f"{one.path} and {other.path} both hold {what}"
        if self._shards:
            raise UsageError(f"{both}: they are no two parts of one run")
        raise UsageError(f"{both}: two runs are not samples of one prompt; {_REMEDY}")

    def _named(self, source: Source, digests: set[bytes]) -> str:
        """The first row with one of these digests, in words for an error message."""
        if source.regular:
            for score in read_scores(source):
                if self._digest(score) in digests:
                    task = f" of {score.task}" if score.task else ""
                    name = "without an id" if score.id is None else f"with id {score.id!r:.60}"
                    return f"row {score.index}{task} {name}, sample {score.sample}"
        return "some of the same rows"


def is_summary_of(summary: Summary, path: str, rows: Summary) -> bool:
    """Whether a summary belongs to the rows in a file: it names the file, and its counts are the same."""
    if summary.output is None or Path(summary.output).name != Path(path).name:
        return False
    return summary.tasks.keys() == rows.tasks.keys() and all(
        _counts(task) == _counts(rows.tasks[name]) for name, task in summary.tasks.items()
    )


def _counts(task: TaskSummary) -> tuple[Any, ...]:
    """The counts that are equal in rows and their summary (sums of floats depend on the order)."""
    counts = task.counts
    sums = {name: n for name, (n, _) in counts.sums.items()}
    return counts.statuses, counts.found, task.histogram, counts.labels, counts.rewards[0], sums


def check_summaries(
    summaries: Sequence[tuple[str, Summary]], rows: Sequence[tuple[str, Summary]], *, shards: bool
) -> None:
    """Make sure that summaries count nothing twice, as far as this can be known.

    Raises
    ------
    UsageError
        A summary is given twice; or, without ``shards``, a summary has a task in common with another
        summary or with rows: summaries do not say which records they count, so these might be the same.
    """
    for at, (path, summary) in enumerate(summaries):
        for other, counted in summaries[:at]:
            if summary.to_dict() == counted.to_dict():
                raise UsageError(f"{other} and {path} are the same summary")
        for other, counted in () if shards else (*rows, *summaries[:at]):
            common = [name for name in summary.tasks if name in counted.tasks]
            if common:
                raise UsageError(
                    f"{other} and {path} both count {', '.join(common)}, and a summary does not say which"
                    f" records: {_REMEDY}"
                )
