"""Gold as the text kernel reads it: records to join with, and what a job says of tasks and measures."""

from __future__ import annotations

import ctypes
import mmap
import struct
from array import array
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import orjson
from relfast_kernels.layouts import (
    ASKED_BITS,
    ASKED_COLUMNS,
    GOLD_FIELDS,
    JOIN_COLUMNS,
    NO_TASK,
    SHORTEST_QUESTION,
)

from relfast.engine.gold_records import GoldRecords
from relfast.engine.job import Job
from relfast.engine.rows import Gold
from relfast.engine.text_work import NUMBERS, TASK_BY_NUMBER
from relfast.formats.paths import MISSING
from relfast.json_text import decode_text
from relfast.tasks import find_task, infer_task
from relfast.tasks.base import resolve

MOST_ASKED: Final = 1 << 28
"""Characters of questions that are written down; with more, rows are joined by question the ordinary way."""

_SEVERAL: Final = -1


class _Reading(NamedTuple):
    """What of a job decides how gold reads."""

    strict: bool
    details: bool
    task: str | None


class _Records(NamedTuple):
    """Gold records as text: each one's id and gold, and `JOIN_COLUMNS` numbers that say where they stand;
    their questions, `ASKED_COLUMNS` numbers each, and which lengths these have, the longest first."""

    text: bytes
    columns: array[int]
    asked: array[int]
    lengths: array[int]


_prepared: list[tuple[Gold, _Reading, _Records]] = []


def prepare(gold: Gold, *, strict: bool, details: bool, task: str | None) -> None:
    """Write gold down before this process is forked, so that its workers share it: those whose job reads it
    in another way than was thought write it themselves."""
    reading = _Reading(strict, details, task)
    _prepared.append((gold, reading, _records_of(gold, reading)))


class JoinedGold:
    """Gold records as the kernel looks them up."""

    def __init__(self, gold: Gold, job: Job, functions: Mapping[str, Callable[..., int]]) -> None:
        reading = _Reading(job.options.strict, job.details, job.task)
        found = (each[2] for each in _prepared if each[0] is gold and each[1] == reading)
        self.text, columns, asked, lengths = next(found, None) or _records_of(gold, reading)
        self.n, self.n_asked, self.n_lengths = (
            len(columns) // JOIN_COLUMNS,
            len(asked) // ASKED_COLUMNS,
            len(lengths),
        )
        self.records, self.asked, self.lengths = _numbers(columns), _numbers(asked), _numbers(lengths)
        self.n_slots = _places_for(self.n)
        self.slots = _zeros(self.n_slots)
        functions["index"](self.text, len(self.text), self.records, self.n, self.slots, self.n_slots)
        self.n_asked_slots = _places_for(self.n_asked) + ASKED_BITS
        self.asked_slots = _zeros(self.n_asked_slots)
        functions["index_asked"](
            self.text, len(self.text), self.asked, self.n_asked, self.asked_slots, self.n_asked_slots
        )

    @staticmethod
    def can_hold(gold: Gold) -> bool:
        """Whether all ids are text or whole numbers: to Python 1, 1.0 and true are one id."""
        return all(type(record_id) is str or type(record_id) is int for record_id in gold)


def _numbers(values: array[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * max(1, len(values))).from_buffer(values or array("q", [0]))


def _places_for(n: int) -> int:
    """Places of a table of so many things."""
    return 1 << (2 * n + 1).bit_length()


def _zeros(n: int) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * n).from_buffer(mmap.mmap(-1, 8 * n))


def _records_of(gold: Gold, reading: _Reading) -> _Records:
    text = bytearray()
    columns = array("q")
    numbers: dict[Any, int] = {}
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
        numbers[record_id] = len(columns) // JOIN_COLUMNS
        columns.extend((start, middle, middle, len(text), task))
    asked, lengths = _asked(gold, numbers, text)
    return _Records(bytes(text), columns, asked, lengths)


def _asked(gold: Gold, numbers: Mapping[Any, int], text: bytearray) -> tuple[array[int], array[int]]:
    """Write questions down as the kernel looks for them in prompts: where they are, and their lengths."""
    asked = array("q")
    questions = gold.questions() if isinstance(gold, GoldRecords) else {}
    if sum(map(len, questions)) > MOST_ASKED:
        questions = {}
    for question, record_id in questions.items():
        if len(question) < SHORTEST_QUESTION:
            continue
        start = len(text)
        try:
            text += question.encode()
        except UnicodeEncodeError:
            continue  # half a surrogate pair stands in no prompt that the kernel reads
        asked.extend((start, len(text), numbers.get(record_id, _SEVERAL)))
    lengths = {asked[at + 1] - asked[at] for at in range(0, len(asked), ASKED_COLUMNS)}
    return asked, array("q", sorted(lengths, reverse=True))


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
    return NO_TASK if task is None else NUMBERS.get(task.name, NO_TASK)
