"""The dump that rows were scored from, read along with them: question, gold and response of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from relfast.engine.io.lines import lines_of
from relfast.engine.io.sources import Source, find_sources
from relfast.engine.job import Job
from relfast.engine.rows import read_gold, records_of
from relfast.errors import InputError
from relfast.json_text import Undecodable, decode_object, shallow
from relfast.records import Record, Score
from relfast.tasks import EXACT_FIELDS

_SCORED: Final = (".scored.jsonl", ".scored.jsonl.gz", ".scored.jsonl.zst", ".scored.parquet", ".scored.csv")
_DUMPS: Final = ("", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".csv")


def dump_beside(scored: str) -> str | None:
    """The dump that scored rows were made of by default: ``x.jsonl`` of ``x.jsonl.scored.jsonl``, or of
    ``x.scored.jsonl``; None if neither is there."""
    stem = next((scored.removesuffix(suffix) for suffix in _SCORED if scored.endswith(suffix)), None)
    if stem is None:
        return None
    return next((stem + suffix for suffix in _DUMPS if Path(stem + suffix).is_file()), None)


class Dump:
    """Records of a dump by the places of their rows, which must be asked for in order.

    ``problem`` says why there is nothing more to be had of it, else it is None.
    """

    def __init__(self, names: Sequence[str], job: Job) -> None:
        self.names = list(names)
        self.problem: str | None = None
        self._job = job
        self._gold = read_gold(job.data)
        self._sources = find_sources(names)
        self._lines = self._numbered(self._sources)
        self._index = -1
        self._records: dict[int, Record] = {}

    @staticmethod
    def _numbered(sources: Sequence[Source]) -> Iterator[tuple[int, bytes]]:
        index = 0
        for source in sources:
            for line in lines_of(source):
                yield index, line
                index += 1

    def record_of(self, score: Score) -> Record | None:
        """The record that a row was scored from; None where there is none, or the dump is another one."""
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
        for record in records_of(row, index, self._job, self._gold, self._job.filter):
            if isinstance(record, Record):
                record.id = shallow(record.id)
                yield record
