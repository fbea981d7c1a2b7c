"""Golds as the text kernel reads them: each is prepared once, and found by the digest of what it depends
on."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from typing import Any, Final

import orjson
from relfast_kernels.layouts import GOLD_COLUMNS, GOLD_FIELDS, GOLD_PARTS, ID_OF_GOLD

from relfast.engine.job import Job
from relfast.engine.text_work import NUMBERS, TASK_BY_NUMBER, lazy_buffer
from relfast.json_text import encode_json
from relfast.records import Record
from relfast.tasks.base import resolve

MOST_GOLDS: Final = 1 << 17
MOST_BYTES: Final = 1 << 25
"""Golds, and bytes of their JSON, that are kept; full, the table forgets all."""

_SLOTS: Final = 2 * MOST_GOLDS
_ROW: Final = struct.Struct(f"{GOLD_COLUMNS}q")
_NO_GOLD: Final = b"0"
"""JSON that is no gold: the kernel leaves its responses."""


class Golds:
    """The golds that a run has met; ``about`` says where they are."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # marks of reasoning but our own no kernel knows: responses are found, and read elsewhere
        self._reads = not (job.options.reasoning and (job.options.strict or job.options.strip_reasoning))
        self._forget()

    def _forget(self) -> None:
        """Begin anew, in memory that takes room only where it is touched."""
        sizes = MOST_BYTES, MOST_GOLDS, _SLOTS, _SLOTS
        columns = 1, 8 * GOLD_COLUMNS, 8, 8
        self._memory = [lazy_buffer(n * size) for n, size in zip(sizes, columns, strict=True)]
        self._text, self._rows, *others = (memoryview(part).cast("B") for part in self._memory)
        self._digests, self._numbers = (part.cast("q") for part in others)
        self._n = self._used = 0
        places = [ctypes.addressof(part) for part in self._memory]
        self.about = (ctypes.c_int64 * (2 * GOLD_PARTS))(
            *(number for pair in zip(places, sizes, strict=True) for number in pair)
        )

    def make_room(self, n_lines: int) -> None:
        """Have room for the golds of so many lines, before a block is read."""
        if self._n + n_lines > MOST_GOLDS or self._used > MOST_BYTES // 2:
            self._forget()

    def is_answer(self, record: Record) -> bool:
        """Whether a record is held against nothing but its answer, whatever else its line says."""
        number = NUMBERS.get(record.task, -1) if self._reads else -1
        return number >= 0 and not (self._job.options.strict and TASK_BY_NUMBER[number][1].strict_gold)

    def add(self, digest: int, record: Record, rest: int) -> bool:
        """Add what a record is held against and, where a line says no more than that, its id; False where
        there is no room for it."""
        task = NUMBERS.get(record.task, -1) if self._reads else -1
        answer = b"" if task < 0 else _gold_text(self._as_compared(record, task))
        id = encode_json(record.id) if rest == ID_OF_GOLD else b""
        begin = self._used
        middle, end = begin + len(answer), begin + len(answer) + len(id)
        if end > MOST_BYTES or self._n == MOST_GOLDS:
            return False
        self._text[begin:end] = answer + id
        _ROW.pack_into(self._rows, _ROW.size * self._n, task, begin, middle, middle, end)
        at = digest & _SLOTS - 1
        while self._numbers[at]:
            at = at + 1 & _SLOTS - 1
        self._n, self._used = self._n + 1, end
        self._digests[at], self._numbers[at] = digest, self._n
        return True

    def _as_compared(self, record: Record, number: int) -> Any:
        """Gold as the job's policy compares it; None where that is not what details show."""
        kernel = TASK_BY_NUMBER[number][1]
        if not self._job.options.strict or kernel.strict_gold is None:
            return record.answer
        compared = resolve(kernel.strict_gold)(record.answer, record.question)
        return None if self._job.details and compared is not record.answer else compared


def _gold_text(answer: Any) -> bytes:
    """The JSON of what the kernel reads of gold; of gold that is none, JSON that it does not take."""
    if not isinstance(answer, Mapping):
        return _NO_GOLD
    try:
        return orjson.dumps({name: answer[name] for name in GOLD_FIELDS if name in answer})
    except (TypeError, ValueError, RecursionError):
        return _NO_GOLD


def least_measure(job: Job) -> int:
    """The smallest measure of a right answer, as the bits of a float."""
    (name,) = {kernel.least for _, kernel in TASK_BY_NUMBER.values() if kernel.least is not None}
    (bits,) = struct.unpack("<q", struct.pack("<d", getattr(job.options, name)))
    return int(bits)
