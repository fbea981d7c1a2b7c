"""Golds for the text kernel: each is prepared once, and found by a digest of the line's other fields."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import orjson
from relfast_kernels.layouts import (
    FIELDS,
    GOLD_MEMBERS,
    HAS_ID_ONLY,
    ID_OF_GOLD,
    LINE_ASKED,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    RECORD_COLUMNS,
    RECORD_ESCAPED,
    RECORD_TEXT,
    RECORD_TEXT_END,
    ROW_UNSEEN,
)
from relfast_kernels.text import layouts

from relfast.engine.columns.projection import SaidGold
from relfast.engine.columns.rows import complete_gold, entry_of
from relfast.engine.columns.scoring import Scoring
from relfast.engine.columns.text_block import ScannedBlock, id_of
from relfast.engine.job import Job
from relfast.formats import Entry
from relfast.json_text import decode_object
from relfast.records import Record, Score, SharedGold
from relfast.stats.samples import key_of
from relfast.tasks import EXACT_FIELDS, TASKS, find_task
from relfast.tasks.text_scorer import PreparedGolds, compared_text, gold_text, needs_question

TASK_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}

NUMBERS: Final = {task.name: number for number, (task, _) in TASK_BY_NUMBER.items()}
"""Task → its number in the text kernel, for tasks whose responses that kernel reads."""


MAX_BYTES: Final = 64 << 20
"""Limit on the kept golds, as bytes of their lines or of what their task made of them: 6,000 mazes of
10 × 10 rooms."""

_RECORD_BYTES: Final = 256
"""Memory of a record besides the content of its line."""

_NO_MORE: Final[Mapping[str, Any]] = {}
"""The row of a line that has nothing but an id and responses."""


class Taken(NamedTuple):
    """The records of some lines, the number of lines that were decoded (``n_exact``), and the number of the
    other lines whose task has kernels (``n_known``)."""

    entries: list[Record | Score]
    n_exact: int
    n_known: int


class KnownGold:
    """Golds, as records without a response, by the kernel's digests of lines. When it is full it forgets them
    all."""

    def __init__(
        self, scoring: Scoring, has_large_integer: Callable[[bytes, int, int], bool], limit: int = MAX_BYTES
    ) -> None:
        self._scoring = scoring
        self._has_large_integer = has_large_integer
        self._limit = limit
        self._size = 0
        # the kernel tells a line's prompt, unless gold has its id: a digest of a question takes Python long
        self._without_prompts = replace(scoring.job, repeats=0)
        self.golds: dict[int, Record] = {}
        """Digest → record without a response."""
        self._whole: list[tuple[Record, int]] = []
        """Records that still have their gold as the line says it, with its size in bytes."""

    def gold_of(self, block: ScannedBlock, number: int, first: int) -> tuple[int, Record | None]:
        """The digest by which the gold of line ``number`` is known, whose fields the kernel has found, and a
        record with it; None if other lines with the same digest may have another gold. ``first`` is the
        number of the line's first record."""
        digest = self._known_by(block.lines, number)
        if digest not in self.golds:
            self._learn(block, number, first, digest)
            digest = self._known_by(block.lines, number)
        return digest, self.golds.get(digest)

    def _known_by(self, lines: Sequence[int] | ctypes.Array[ctypes.c_int64], number: int) -> int:
        """The digest of a line by which a gold is known: that without a tool's number, or that of all."""
        place = number * LINE_COLUMNS
        asked = lines[place + LINE_ASKED]
        return asked if asked and asked in self.golds else lines[place + LINE_DIGEST]

    def _learn(self, block: ScannedBlock, number: int, first: int, digest: int) -> None:
        """Decode a line and keep its gold, unless other lines with the same digest may have another one."""
        rest, asked = (block.lines[number * LINE_COLUMNS + column] for column in (LINE_REST, LINE_ASKED))
        job, line = self._scoring.job, b""
        if rest == HAS_ID_ONLY and job.data:
            scratch = memoryview(block.scratch).cast("B")
            records = memoryview(block.records).cast("B").cast("q")
            entry = Entry(id_of(scratch, records, first)[0], row=_NO_MORE)
        else:
            line = block.line(number)
            if any(self._has_large_integer(block.data, *part) for part in block.beside_responses(number)):
                return
            try:
                entry = entry_of(decode_object(line, EXACT_FIELDS), job)
            except Exception:  # the line will be scored the ordinary way, which reports the error in a row
                return
        entry.response = ""  # the kernel finds the responses
        told_id = entry.id
        by = job if rest >= ID_OF_GOLD else self._without_prompts
        found = self._scoring.records_of_row(entry, block.first_index + number, block.chosen, job=by)
        record = found[0] if found else None
        if not isinstance(record, Record):
            return
        if rest >= ID_OF_GOLD and record.id is None and record.prompt is None:
            return
        looked_at = TASKS[record.task].row_fields
        if looked_at and (digest & ROW_UNSEEN or not set(looked_at).issubset(GOLD_MEMBERS)):
            return
        size = len(line) + _RECORD_BYTES
        if self._size + size > self._limit:
            self.golds.clear()
            self._whole.clear()
            self._size = 0
        self._size += size
        # a question that gold of --data has gives its id in place of the tool's number
        digest = asked if asked and entry.numbered and entry.id is not told_id else digest
        record.shared = SharedGold()
        self.golds[digest] = record
        if looked_at:
            self._whole.append((record, len(line)))

    def _let_go(self) -> None:
        """Of golds that their task has prepared keep only that: a maze is half as long as its line."""
        still = []
        for record, size in self._whole:
            shared = record.shared
            if shared is None or shared.made is None:
                still.append((record, size))
                continue
            record.answer, record.question, record.row = {}, None, {}
            self._size += shared.n_bytes - size
        self._whole = still

    def take(self, block: ScannedBlock, numbers: Sequence[int]) -> Taken:
        """The records of the lines ``numbers`` of a block, which the kernel has not scored. Lines of a known
        gold are not decoded again."""
        entries: list[Record | Score] = []
        lines, records = (memoryview(part).cast("B").cast("q") for part in (block.lines, block.records))
        n_exact = n_known = 0
        self._let_go()
        data, scratch = memoryview(block.data), memoryview(block.scratch).cast("B")
        for number in numbers:
            place = number * LINE_COLUMNS
            at, end = lines[place + LINE_RECORD], lines[place + LINE_COLUMNS + LINE_RECORD]
            fields = lines[place + LINE_KIND] == FIELDS
            known = self.golds.get(self._known_by(lines, number)) if fields else None
            is_of_gold = known is not None and lines[place + LINE_REST] >= ID_OF_GOLD
            index = block.first_index + number
            if known is None:
                entries += self._scoring.records_of_line(block.line(number), index, block.chosen)
                n_exact += 1
                continue
            task = TASKS[known.task]
            n_known += task.kernels is not None
            id, prompt = (known.id, known.prompt) if is_of_gold else id_of(scratch, records, at)
            for sample in range(end - at):
                row = (at + sample) * RECORD_COLUMNS
                start, stop = records[row + RECORD_TEXT], records[row + RECORD_TEXT_END]
                if records[row + RECORD_ESCAPED]:
                    response = orjson.loads(data[start - 1 : stop + 1])
                else:
                    response = str(data[start:stop], "utf-8")
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
"""Limits on the number of kept golds and on the bytes of their JSON; a full table forgets all."""

_SLOTS: Final = 4 * MOST_GOLDS


class Golds:
    """The golds that the text kernel knows, found by digest; ``view`` is what it gets."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # the kernel knows only the usual marks of reasoning: with others it just finds the responses
        self._reads = not (job.options.reasoning and (job.options.strict or job.options.strip_reasoning))
        self._begin()

    def _begin(self) -> None:
        self._prepared = PreparedGolds(MOST_GOLDS, MOST_BYTES, _SLOTS)
        self.shapes: set[int] = set()
        """Digests of shapes of lines (`LINE_SHAPE`) from which the kernel reads gold itself."""

    @property
    def view(self) -> layouts.Golds:
        return self._prepared.view

    def make_room(self, n_lines: int) -> None:
        """Make sure that ``n_lines`` more golds fit, before a block is scanned; may forget all others."""
        if not self._prepared.has_room(n_lines):
            self._begin()

    def add_shape(self, digest: int, said: SaidGold | None) -> bool:
        """Let the kernel read gold from all lines of this shape, one of which names task and answer so; False
        if it stands elsewhere, or depends on more than these."""
        if said is None or not said.is_plain:
            return False
        number = self._number_of(Entry(task=said.task, answer=said.answer))
        if number < 0 or not self._enter(digest, self._prepared.add(number, b"")):
            return False
        self.shapes.add(digest)
        return True

    def _number_of(self, entry: Entry) -> int:
        """The number of the task of an entry, which gets its decoded answer; -1 if responses of that task are
        not read here."""
        try:
            task = None if complete_gold(entry, self._job) else find_task(entry.task)
        except Exception:  # the lines are scored the ordinary way, which reports the error in rows
            return -1
        return NUMBERS.get(task.name, -1) if task is not None and self._reads else -1

    def add(self, digest: int, record: Record, rest: int) -> bool:
        """Add a record's gold under a digest, with its prompt's key if the digest includes it (`ID_OF_GOLD`);
        False if there is no room."""
        key = key_of(record.id, record.prompt, 0) if rest >= ID_OF_GOLD else b""
        task = NUMBERS.get(record.task, -1) if self._reads else -1
        text = b""
        if task >= 0:
            text = gold_text(record.answer)
            if needs_question(TASKS[record.task], self._job.options):
                text = compared_text(text, record.question)
        return self._enter(digest, self._prepared.add(task, text, key))

    def _enter(self, digest: int, number: int) -> bool:
        """Let the kernel find a gold by a digest; False if the gold has no number."""
        if number < 0:
            return False
        prepared = self._prepared
        at = digest & _SLOTS - 1
        while prepared.numbers[at]:
            at = at + 1 & _SLOTS - 1
        prepared.digests[at], prepared.numbers[at] = digest, number + 1
        return True
