"""Gold as the text kernel reads it: records to join with, and what a job says of tasks and measures."""

from __future__ import annotations

import ctypes
import mmap
import struct
from array import array
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson
from relfast_kernels.layouts import GOLD_FIELDS, JOIN_COLUMNS, NO_TASK

from relfast.engine.job import Job
from relfast.engine.rows import Gold
from relfast.engine.text_work import TASK_BY_NUMBER
from relfast.formats.entry import MISSING
from relfast.json_text import decode_text
from relfast.tasks import find_task, infer_task
from relfast.tasks.base import resolve


class _Reading(NamedTuple):
    """What of a job decides how gold reads."""

    strict: bool
    details: bool
    task: str | None


class _Records(NamedTuple):
    """Gold records as text: each one's id and gold, and `JOIN_COLUMNS` numbers that say where they stand."""

    text: bytes
    columns: array[int]


_prepared: list[tuple[Gold, _Reading, _Records]] = []


def prepare(gold: Gold, *, strict: bool, details: bool, task: str | None) -> None:
    """Write gold down before this process is forked, so that its workers share it: those whose job reads it
    in another way than was thought write it themselves."""
    reading = _Reading(strict, details, task)
    _prepared.append((gold, reading, _records_of(gold, reading)))


class JoinedGold:
    """Gold records as the kernel looks them up."""

    def __init__(self, gold: Gold, job: Job, index: Callable[..., int]) -> None:
        reading = _Reading(job.options.strict, job.details, job.task)
        found = (each[2] for each in _prepared if each[0] is gold and each[1] == reading)
        self.text, columns = next(found, None) or _records_of(gold, reading)
        self.n = len(columns) // JOIN_COLUMNS
        self.records = (ctypes.c_int64 * max(1, len(columns))).from_buffer(columns or array("q", [0]))
        self.n_slots = 1 << (2 * self.n + 1).bit_length()
        self.slots = (ctypes.c_int64 * self.n_slots).from_buffer(mmap.mmap(-1, 8 * self.n_slots))
        index(self.text, len(self.text), self.records, self.n, self.slots, self.n_slots)

    @staticmethod
    def can_hold(gold: Gold) -> bool:
        """Whether all ids are text or whole numbers: to Python 1, 1.0 and true are one id."""
        return all(type(record_id) is str or type(record_id) is int for record_id in gold)


def _records_of(gold: Gold, reading: _Reading) -> _Records:
    text = bytearray()
    columns = array("q")
    for record_id, entry in gold.items():
        start = len(text)
        try:
            text += orjson.dumps(record_id)
        except (TypeError, ValueError):
            continue  # large numbers, lone surrogates: lines with such ids take the exact way
        middle = len(text)
        answer = decode_text(entry.answer) if isinstance(entry.answer, str) else entry.answer
        task = task_number(entry.task, answer, reading.task)
        text += _gold_text(_as_compared(answer, entry.question, task, reading))
        columns.extend((start, middle, middle, len(text), task))
    return _Records(bytes(text), columns)


def _gold_text(answer: Any) -> bytes:
    """The JSON of what the kernel reads of gold; of gold that is none, JSON that it does not take."""
    if not isinstance(answer, Mapping):
        return b"0"
    try:
        return orjson.dumps({name: answer[name] for name in GOLD_FIELDS if name in answer})
    except (TypeError, ValueError, RecursionError):
        return b"0"


def _as_compared(answer: Any, question: Any, number: int, reading: _Reading) -> Any:
    """Gold as the job's policy compares it; None where that is not what details show."""
    kernel = TASK_BY_NUMBER[number][1] if number in TASK_BY_NUMBER else None
    if not reading.strict or kernel is None or kernel.strict_gold is None:
        return answer
    if not isinstance(answer, Mapping):
        return answer
    compared = resolve(kernel.strict_gold)(answer, question)
    return None if reading.details and compared is not answer else compared


def least_measure(job: Job) -> int:
    """The smallest measure of a right answer, as the bits of a float."""
    (name,) = {kernel.least for _, kernel in TASK_BY_NUMBER.values() if kernel.least is not None}
    (bits,) = struct.unpack("<q", struct.pack("<d", getattr(job.options, name)))
    return int(bits)


def task_number(name: Any, answer: Any, otherwise: str | None) -> int:
    """The kernel's number of a gold record's task, ``otherwise`` where it does not say; or `NO_TASK`."""
    if name is MISSING or name is None:
        task = find_task(otherwise) if otherwise else infer_task(answer)
    else:
        task = find_task(name)
    return NO_TASK if task is None or task.text_kernel is None else task.text_kernel.number
