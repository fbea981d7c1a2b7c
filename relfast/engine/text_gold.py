"""Golds as the text kernel reads them: each is prepared once, and found by the digest of what it depends
on."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import orjson
from relfast_kernels.layouts import (
    FIELDS,
    GOLD_MEMBERS,
    HAS_ID_ONLY,
    ID_OF_GOLD,
    IN_DATA,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    RECORD_COLUMNS,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
    ROW_UNSEEN,
)

from relfast.engine.gold_records import GoldRecords
from relfast.engine.job import Job
from relfast.engine.rows import entry_of
from relfast.engine.scoring import Scoring
from relfast.engine.text_block import ScannedBlock, id_of
from relfast.formats import Entry
from relfast.json_text import decode_object, encode_json
from relfast.records import Record, Score, SharedGold
from relfast.tasks import EXACT_FIELDS, TASKS
from relfast.tasks.text_scorer import PreparedGolds, compared_gold, gold_text

TASK_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}

NUMBERS: Final = {task.name: number for number, (task, _) in TASK_BY_NUMBER.items()}
"""The kernel's numbers of the tasks whose responses it reads."""


MAX_BYTES: Final = 32 << 20
"""Lines of which the gold is kept, in bytes: 1,300 of SeqBench's with 10 × 10 rooms."""

_RECORD_BYTES: Final = 256
"""What a record takes beside what its line says."""

_NO_MORE: Final[Mapping[str, Any]] = {}
"""What a row says that has an id and responses only."""

_DIGITS: Final = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_MANY: Final = b"0" * 19


def _has_large_integer(line: bytes) -> bool:
    """Whether there may be a number that parsers read differently, depending on what else a line has: 19
    digits that stand behind no point."""
    digits = line.translate(_DIGITS)
    at = digits.find(_MANY)
    while at > 0 and line[at - 1] == 46:
        end = digits.find(b" ", at)
        at = digits.find(_MANY, end) if end > 0 else -1
    return at >= 0


class Taken(NamedTuple):
    """What lines hold, how many were decoded, and how many of the others are of a task with a kernel for
    texts."""

    entries: list[Record | Score]
    n_exact: int
    n_known: int


class KnownGold:
    """Gold by the kernel's digests; full, it forgets all."""

    def __init__(self, scoring: Scoring, limit: int = MAX_BYTES) -> None:
        self._scoring = scoring
        self._limit = limit
        self._size = 0
        self.golds: dict[int, Record] = {}
        """A record without a response, by its digest."""

    def gold_of(self, block: ScannedBlock, number: int, first: int) -> Record | None:
        """A record with the gold of a line whose fields the kernel has found, ``first`` the first of its
        records; None where its gold cannot be shared."""
        place = number * LINE_COLUMNS
        digest, rest = block.lines[place + LINE_DIGEST], block.lines[place + LINE_REST]
        if digest not in self.golds:
            self._learn(block, number, first, digest, rest)
        return self.golds.get(digest)

    def _learn(self, block: ScannedBlock, number: int, first: int, digest: int, rest: int) -> None:
        """Keep the gold of a line, unless it can be another's with the same digest."""
        job, line = self._scoring.job, b""
        if rest == HAS_ID_ONLY and job.data:
            texts = memoryview(block.data), memoryview(block.scratch).cast("B")
            records = memoryview(block.records).cast("B").cast("q")
            entry = Entry(id_of(texts, records, first), row=_NO_MORE)
        else:
            line = block.line(number)
            if _has_large_integer(line):
                return
            try:
                entry = entry_of(decode_object(line, EXACT_FIELDS), job)
            except Exception:  # the ordinary way makes a row of what is wrong
                return
        entry.response = ""  # to find the responses is the kernel's
        found = self._scoring.row(entry, block.first_index + number, block.chosen)
        record = found[0] if found else None
        if not isinstance(record, Record) or (rest == ID_OF_GOLD and record.id is None):
            return
        looked_at = TASKS[record.task].row_fields
        if looked_at and (digest & ROW_UNSEEN or not set(looked_at).issubset(GOLD_MEMBERS)):
            return
        size = len(line) + _RECORD_BYTES
        if self._size + size > self._limit:
            self.golds.clear()
            self._size = 0
        self._size += size
        record.shared = SharedGold()
        self.golds[digest] = record

    def take(self, block: ScannedBlock, numbers: Sequence[int]) -> Taken:
        """The records of some lines of a block, none of which the kernel has scored."""
        entries: list[Record | Score] = []
        lines, records = (memoryview(part).cast("B").cast("q") for part in (block.lines, block.records))
        n_exact = n_known = 0
        texts = memoryview(block.data), memoryview(block.scratch).cast("B")
        for number in numbers:
            place = number * LINE_COLUMNS
            at, end = lines[place + LINE_RECORD], lines[place + LINE_COLUMNS + LINE_RECORD]
            fields = lines[place + LINE_KIND] == FIELDS
            known = self.golds.get(lines[place + LINE_DIGEST]) if fields else None
            index = block.first_index + number
            if known is None:
                entries += self._scoring.line(block.line(number), index, block.chosen)
                n_exact += 1
                continue
            task = TASKS[known.task]
            n_known += task.kernels is not None
            id = known.id if lines[place + LINE_REST] == ID_OF_GOLD else id_of(texts, records, at)
            for sample in range(end - at):
                row = (at + sample) * RECORD_COLUMNS
                text = texts[records[row + RECORD_TEXT_PLACE] != IN_DATA]
                response = str(text[records[row + RECORD_TEXT] : records[row + RECORD_TEXT_END]], "utf-8")
                entries.append(
                    Record(
                        index,
                        id,
                        known.task,
                        known.answer,
                        response,
                        known.question,
                        sample,
                        known.row,
                        known.shared,
                    )
                )
        return Taken(entries, n_exact, n_known)


MOST_GOLDS: Final = 1 << 17
MOST_BYTES: Final = 1 << 25
"""Golds, and bytes of their JSON, that are kept; full, the table forgets all. As many ids are known at
once."""

_SLOTS: Final = 4 * MOST_GOLDS

ID_SHARE: Final = 32
"""Once one of so many ids of ``--data`` was met, all are made known: 100,000 in 0.2 s, one by one in 2.6."""


class Golds:
    """The golds that a run has met, by the digest of what each depends on; ``about`` says where they are."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # marks of reasoning but our own no kernel knows: responses are found, and judged elsewhere
        self._reads = not (job.options.reasoning and (job.options.strict or job.options.strip_reasoning))
        self._begin()

    def _begin(self) -> None:
        self._prepared = PreparedGolds(MOST_GOLDS, MOST_BYTES, _SLOTS)
        self._n_ids = 0
        self._knows_ids = False

    @property
    def about(self) -> ctypes.Array[ctypes.c_int64]:
        return self._prepared.about

    def make_room(self, n_lines: int) -> None:
        """Have room for the golds of so many lines, before a block is read."""
        if not self._prepared.has_room(n_lines):
            self._begin()

    def is_answer(self, record: Record) -> bool:
        """Whether a record is held against nothing but its answer, whatever else its line says."""
        number = NUMBERS.get(record.task, -1) if self._reads else -1
        return number >= 0 and not (self._job.options.strict and TASK_BY_NUMBER[number][1].strict_gold)

    def add(self, digest: int, record: Record, rest: int) -> bool:
        """Add what a record is held against and, where a line says no more than that, its id; False where
        there is no room for it."""
        number = self._number(record, encode_json(record.id) if rest == ID_OF_GOLD else b"")
        if number < 0:
            return False
        prepared = self._prepared
        at = digest & _SLOTS - 1
        while prepared.numbers[at]:
            at = at + 1 & _SLOTS - 1
        prepared.digests[at], prepared.numbers[at] = digest, number + 1
        return True

    def _number(self, record: Record, id: bytes = b"") -> int:
        """The number of what a record is held against; -1 without room."""
        task = NUMBERS.get(record.task, -1) if self._reads else -1
        answer = b"" if task < 0 else gold_text(self._as_compared(record, task))
        return self._prepared.add(task, answer, id)

    def wants_ids(self, gold: GoldRecords) -> bool:
        """Whether so many golds of ``--data`` have been met by their ids alone that all should be known."""
        self._n_ids += 1
        return not self._knows_ids and ID_SHARE * self._n_ids >= len(gold) and len(gold) <= MOST_GOLDS

    def know_ids(
        self, scoring: Scoring, know: Callable[..., int], context: ctypes.Array[ctypes.c_int64]
    ) -> None:
        """Add all golds of ``--data`` for lines that have their ids and responses only: those that are held
        against their answer alone, each answer prepared once. ``know`` is the kernel's."""
        self._knows_ids = True
        known: dict[bytes, int] = {}
        ids, ends, numbers = bytearray(), array("q"), array("q")
        for id, entry in scoring.gold.items():
            try:
                answer, text = orjson.dumps((entry.task, entry.answer)), orjson.dumps(id)
            except (TypeError, ValueError, RecursionError):
                continue  # met by itself it is what the ordinary way makes of it
            if answer not in known:
                found = scoring.row(Entry(id, response="", row=_NO_MORE), 0)[0]
                shared = isinstance(found, Record) and self.is_answer(found)
                known[answer] = self._number(cast("Record", found)) if shared else -1
            if known[answer] >= 0:
                ids += text
                ends.append(len(ids))
                numbers.append(known[answer])
        if ends:
            places = [(ctypes.c_int64 * len(ends)).from_buffer(column) for column in (ends, numbers)]
            know(bytes(ids), len(ids), *places, len(ends), context)

    def _as_compared(self, record: Record, number: int) -> Any:
        """Gold as the job's policy compares it; None where that is not what details show."""
        kernel = TASK_BY_NUMBER[number][1]
        compared = compared_gold(kernel, self._job.options.strict, record.answer, record.question)
        return None if self._job.details and compared is not record.answer else compared
