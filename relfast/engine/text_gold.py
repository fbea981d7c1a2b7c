"""Golds for the text kernel: each is prepared once, and found by a digest of the line's other fields."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from relfast.json_text import decode_object
from relfast.records import Record, Score, SharedGold
from relfast.stats.samples import key_of
from relfast.tasks import EXACT_FIELDS, TASKS
from relfast.tasks.text_scorer import PreparedGolds, compared_gold, gold_text

TASK_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}

NUMBERS: Final = {task.name: number for number, (task, _) in TASK_BY_NUMBER.items()}
"""Task → its number in the text kernel, for tasks whose responses that kernel reads."""


MAX_BYTES: Final = 32 << 20
"""Limit on the kept golds, as bytes of their lines: 1,300 lines of SeqBench with 10 × 10 rooms."""

_RECORD_BYTES: Final = 256
"""Memory of a record besides the content of its line."""

_NO_MORE: Final[Mapping[str, Any]] = {}
"""The row of a line that has nothing but an id and responses."""

_DIGITS: Final = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_MANY: Final = b"0" * 19


def _has_large_integer(line: bytes) -> bool:
    """Whether a line may hold an integer that orjson rounds and Python's parser does not (which of the two
    reads a line depends on its other fields): 19 digits in a row, not after a decimal point."""
    digits = line.translate(_DIGITS)
    at = digits.find(_MANY)
    while at > 0 and line[at - 1] == 46:
        end = digits.find(b" ", at)
        at = digits.find(_MANY, end) if end > 0 else -1
    return at >= 0


class Taken(NamedTuple):
    """The records of some lines, the number of lines that were decoded (``n_exact``), and the number of the
    other lines whose task has kernels (``n_known``)."""

    entries: list[Record | Score]
    n_exact: int
    n_known: int


class KnownGold:
    """Golds, as records without a response, by the kernel's digests. When it is full it forgets them all."""

    def __init__(self, scoring: Scoring, limit: int = MAX_BYTES) -> None:
        self._scoring = scoring
        self._limit = limit
        self._size = 0
        # the kernel tells a line's prompt, unless gold has its id: a digest of a question takes Python long
        self._without_prompts = replace(scoring.job, repeats=0)
        self.golds: dict[int, Record] = {}
        """Digest → record without a response."""

    def gold_of(self, block: ScannedBlock, number: int, first: int) -> Record | None:
        """A record with the gold of line ``number``, whose fields the kernel has found; None if other lines
        with the same digest may have another gold. ``first`` is the number of the line's first record."""
        place = number * LINE_COLUMNS
        digest, rest = block.lines[place + LINE_DIGEST], block.lines[place + LINE_REST]
        if digest not in self.golds:
            self._learn(block, number, first, digest, rest)
        return self.golds.get(digest)

    def _learn(self, block: ScannedBlock, number: int, first: int, digest: int, rest: int) -> None:
        """Decode a line and keep its gold, unless other lines with the same digest may have another one."""
        job, line = self._scoring.job, b""
        if rest == HAS_ID_ONLY and job.data:
            texts = memoryview(block.data), memoryview(block.scratch).cast("B")
            records = memoryview(block.records).cast("B").cast("q")
            entry = Entry(id_of(texts, records, first)[0], row=_NO_MORE)
        else:
            line = block.line(number)
            if _has_large_integer(line):
                return
            try:
                entry = entry_of(decode_object(line, EXACT_FIELDS), job)
            except Exception:  # the line will be scored the ordinary way, which reports the error in a row
                return
        entry.response = ""  # the kernel finds the responses
        by = job if rest == ID_OF_GOLD else self._without_prompts
        found = self._scoring.row(entry, block.first_index + number, block.chosen, job=by)
        record = found[0] if found else None
        if not isinstance(record, Record):
            return
        if rest == ID_OF_GOLD and record.id is None and record.prompt is None:
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
        """The records of the lines ``numbers`` of a block, which the kernel has not scored. Lines of a known
        gold are not decoded again."""
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
            is_of_gold = lines[place + LINE_REST] == ID_OF_GOLD
            id, prompt = (known.id, known.prompt) if is_of_gold else id_of(texts, records, at)
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
                        prompt,
                    )
                )
        return Taken(entries, n_exact, n_known)


MOST_GOLDS: Final = 1 << 17
MOST_BYTES: Final = 1 << 25
"""Limits on the number of kept golds and on the bytes of their JSON; a full table forgets all. `MOST_GOLDS`
also limits the ids of ``--data`` that are added at once."""

_SLOTS: Final = 4 * MOST_GOLDS

ID_SHARE: Final = 32
"""Once 1/32 of the ids of ``--data`` were met, all are added: 100,000 in 0.2 s; one by one takes 2.6 s."""


class Golds:
    """The golds that the text kernel knows, found by digest. ``about`` holds the addresses for the kernel."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # the kernel knows only the usual marks of reasoning: with others it just finds the responses
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
        """Make sure that ``n_lines`` more golds fit, before a block is scanned; may forget all others."""
        if not self._prepared.has_room(n_lines):
            self._begin()

    def is_answer(self, record: Record) -> bool:
        """Whether the kernel reads a record's task and compares its response with ``answer`` alone, so that
        no other field of the line matters."""
        number = NUMBERS.get(record.task, -1) if self._reads else -1
        return number >= 0 and not (self._job.options.strict and TASK_BY_NUMBER[number][1].strict_gold)

    def add(self, digest: int, record: Record, rest: int) -> bool:
        """Add a record's gold under a digest, with its prompt's key if the digest includes it (`ID_OF_GOLD`);
        False if there is no room."""
        key = key_of(record.id, record.prompt, 0) if rest == ID_OF_GOLD else b""
        number = self._number(record, key)
        if number < 0:
            return False
        prepared = self._prepared
        at = digest & _SLOTS - 1
        while prepared.numbers[at]:
            at = at + 1 & _SLOTS - 1
        prepared.digests[at], prepared.numbers[at] = digest, number + 1
        return True

    def _number(self, record: Record, id: bytes = b"") -> int:
        """Prepare a record's gold; its number, -1 if there is no room."""
        task = NUMBERS.get(record.task, -1) if self._reads else -1
        answer = b"" if task < 0 else gold_text(self._as_compared(record, task))
        return self._prepared.add(task, answer, id)

    def wants_ids(self, gold: GoldRecords) -> bool:
        """Count a gold that a line names by its id alone; whether so many were met by now that `know_ids`
        should add all golds of ``--data``."""
        self._n_ids += 1
        return not self._knows_ids and ID_SHARE * self._n_ids >= len(gold) and len(gold) <= MOST_GOLDS

    def know_ids(
        self, scoring: Scoring, know: Callable[..., int], context: ctypes.Array[ctypes.c_int64]
    ) -> None:
        """Add all golds of ``--data`` of which `is_answer` holds, for lines that have only an id and
        responses; each different answer is prepared once. ``know`` is the kernel's function."""
        self._knows_ids = True
        known: dict[bytes, int] = {}
        ids, ends, numbers = bytearray(), array("q"), array("q")
        for id, entry in scoring.gold.items():
            try:
                answer, text = orjson.dumps((entry.task, entry.answer)), orjson.dumps(id)
            except (TypeError, ValueError, RecursionError):
                continue  # a line with this id is scored the ordinary way
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
        """The gold that the job's policy compares with; None if ``details`` must show a different one."""
        kernel = TASK_BY_NUMBER[number][1]
        compared = compared_gold(kernel, self._job.options.strict, record.answer, record.question)
        return None if self._job.details and compared is not record.answer else compared
