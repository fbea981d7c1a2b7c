"""The fast path of the text tasks: rows from a block's bytes, without decoding its lines.

`relfast_kernels.text` reads the lines it understands exactly, in all dialects that hold records of these
tasks, and writes their rows by template; a template is made here, by the ordinary way from outcome to row, so
both ways write the same bytes. Under ``strict`` a response that the kernel cannot read exactly is left to the
task's own extractor, its line with it only where that fails. All other lines take the ordinary way and are
put in their places. The fast path is taken only where its machine code has been compiled.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson
from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    CORRECT,
    DIALECT_NUMBERS,
    FOUND,
    GOLD_FIELDS,
    GOLD_SHIFT,
    GOLD_VALUE_SHIFT,
    GOLD_YES,
    IN_DATA,
    JOIN_COLUMNS,
    KEY_COUNT,
    KEY_REASON,
    KEY_TASK,
    KEY_VALUE,
    LEFT,
    LINE_COLUMNS,
    LINE_END,
    LINE_KIND,
    LINE_RECORD,
    LINE_START,
    MAX_TAXA,
    MAX_TOKENS,
    NO_TASK,
    PATTERN_WORK,
    PRED_SHIFT,
    PRED_VALUE_SHIFT,
    PROMPTS_SIZE,
    REASON_SHIFT,
    REASONS,
    RECORD_BEFORE,
    RECORD_COLUMNS,
    RECORD_KEY,
    RECORD_LINE,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
    RECORD_VOTE,
    SEEN_IN_GOLD,
    SET_FILTER,
    SET_SIZE,
    SLOW,
    SMALL_SIZE,
    STATE_LEFT,
    STATE_RECORDS,
    STATE_SIZE,
    STATE_USED,
    STATE_WANTS,
    TAXA_SLOTS,
    TEMPLATE_PARTS,
    TEMPLATE_SLOTS,
    TOKEN_COLUMNS,
    TP_SHIFT,
    WANTS_NOTHING,
    WANTS_RECORDS,
    WANTS_TEMPLATE,
    WRITTEN_ROWS,
    WRITTEN_SAMPLES,
    WRITTEN_WANTS,
)

from relfast.engine.job import Job
from relfast.engine.pool.launch import environment
from relfast.engine.rows import Gold
from relfast.engine.scoring import Scoring
from relfast.engine.strict_reader import StrictReader
from relfast.formats.entry import MISSING
from relfast.json_text import decode_text, encode_row
from relfast.records import Outcome, Record, Score
from relfast.stats.samples import SAMPLE
from relfast.stats.summary import Tally
from relfast.tasks import TASKS, find_task, infer_task
from relfast.tasks.base import resolve

UNIT: Final = "text"

_COUNT_SHIFTS: Final = (TP_SHIFT, PRED_SHIFT, GOLD_SHIFT)

_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}

ROW_BYTES: Final = 256
"""Room for a row at first: the longest template without details has 190."""

RECORDS: Final = 4_096
SCRATCH_BYTES: Final = 1 << 24
"""Room for a block's responses, and for its texts, at first; the system gives memory as it is touched."""

MAX_TEMPLATES: Final = 4_096
"""Templates that are kept. Rows differ by task, outcome and, where there are metrics, counts; a run has some
hundreds of kinds, unless its responses are full of numbers."""


def serves(job: Job) -> bool:
    """Whether a job's settings are those that the fast path reads lines under."""
    options = job.options
    if options.reasoning and (options.strict or options.strip_reasoning):
        return False  # it knows no marks but our own
    return not job.field_map and job.dialect in DIALECT_NUMBERS


def compile_in_background() -> None:
    """Have the kernels compiled by a process of low priority that nobody waits for.

    It ends with this one: a command leaves nothing running behind its user's back, even if that means that
    a run of a few seconds comes too early and ``relfast warmup`` or a longer one has to do it.
    """
    if all(map(native.is_built, native.UNITS)) or not native.cache().usable(make=True):
        return
    # workers look for the result from time to time
    subprocess.Popen(
        ["nice", sys.executable, "-P", "-m", "relfast_kernels.compiled", str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment(),
    )


def _buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size)()


def _lazy_buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    """Zeros that take memory only where they are touched."""
    return (ctypes.c_char * size).from_buffer(mmap.mmap(-1, size))


def _numbers(n: int) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * n)()


class _Joined:
    """Gold records as the kernel looks them up."""

    def __init__(self, gold: Gold, job: Job, index: Callable[..., int]) -> None:
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
            task = _task_number(entry.task, answer, job)
            text += _gold_text(_as_compared(answer, entry.question, task, job))
            columns.extend((start, middle, middle, len(text), task))
        self.n = len(columns) // JOIN_COLUMNS
        self.text = bytes(text)
        self.records = (ctypes.c_int64 * max(1, len(columns))).from_buffer(columns or array("q", [0]))
        self.n_slots = 1 << (2 * self.n + 1).bit_length()
        self.slots = (ctypes.c_int64 * self.n_slots).from_buffer(mmap.mmap(-1, 8 * self.n_slots))
        index(self.text, len(self.text), self.records, self.n, self.slots, self.n_slots)

    @staticmethod
    def can_hold(gold: Gold) -> bool:
        """Whether all ids are text or whole numbers: to Python 1, 1.0 and true are one id."""
        return all(type(record_id) is str or type(record_id) is int for record_id in gold)


def _gold_text(answer: Any) -> bytes:
    """The JSON of what the kernel reads of gold; of gold that is none, JSON that it does not take."""
    if not isinstance(answer, Mapping):
        return b"0"
    try:
        return orjson.dumps({name: answer[name] for name in GOLD_FIELDS if name in answer})
    except (TypeError, ValueError, RecursionError):
        return b"0"


def _as_compared(answer: Any, question: Any, number: int, job: Job) -> Any:
    """Gold as the job's policy compares it; None where that is not what details show."""
    kernel = _BY_NUMBER[number][1] if number in _BY_NUMBER else None
    if not job.options.strict or kernel is None or kernel.strict_gold is None:
        return answer
    if not isinstance(answer, Mapping):
        return answer
    compared = resolve(kernel.strict_gold)(answer, question)
    return None if job.details and compared is not answer else compared


def _least(job: Job) -> int:
    """The smallest measure of a right answer, as the bits of a float."""
    (name,) = {kernel.least for _, kernel in _BY_NUMBER.values() if kernel.least is not None}
    (bits,) = struct.unpack("<q", struct.pack("<d", getattr(job.options, name)))
    return int(bits)


def _task_number(name: Any, answer: Any, job: Job) -> int:
    """The kernel's number of a gold record's task, or `NO_TASK`."""
    if name is MISSING or name is None:
        task = find_task(job.task) if job.task else infer_task(answer)
    else:
        task = find_task(name)
    return NO_TASK if task is None or task.text_kernel is None else task.text_kernel.number


class TextFastPath:
    """Scans blocks and writes rows; keeps its templates and work space between blocks."""

    def __init__(self, scoring: Scoring, functions: Mapping[str, Callable[..., int]]) -> None:
        self._scoring = scoring
        self._scan, self._write, self._add = functions["scan"], functions["write"], functions["add"]
        job = scoring.job
        self._joined = _Joined(scoring.gold if job.data else {}, job, functions["index"])
        self._settings = (ctypes.c_int64 * SET_SIZE)(
            DIALECT_NUMBERS[job.dialect],
            job.options.strip_reasoning,
            job.details,
            bool(job.data),
            SEEN_IN_GOLD if job.task is None else _task_number(job.task, None, job),
            False,
            job.options.strict,
            _least(job),
        )
        self._work = (
            _lazy_buffer(8 * TOKEN_COLUMNS * MAX_TOKENS),
            _lazy_buffer(8 * MAX_TOKENS),
            _numbers(SMALL_SIZE),
            _lazy_buffer(8 * 4 * MAX_TAXA),
            _numbers(2 * (TAXA_SLOTS + 1)),
            _lazy_buffer(8 * PROMPTS_SIZE),
        )
        self._state = _numbers(STATE_SIZE)
        self._reader = StrictReader(job.options, functions)
        self._patterns = _lazy_buffer(8 * PATTERN_WORK)
        self._records = _numbers(RECORDS * RECORD_COLUMNS)
        self._scratch = _lazy_buffer(SCRATCH_BYTES)
        self._written = _numbers(3)
        self._out, self._samples = _buffer(0), _buffer(0)
        self._forget_templates()

    def _forget_templates(self) -> None:
        self._keys = _numbers(MAX_TEMPLATES)
        self._slots = _numbers(TEMPLATE_SLOTS)
        self._offsets = _numbers(TEMPLATE_PARTS * MAX_TEMPLATES + 1)
        self._counts = _numbers(MAX_TEMPLATES)
        self._blob = b""
        self._scores: list[Score] = []

    @classmethod
    def open(cls, scoring: Scoring) -> TextFastPath | None:
        """The fast path, or None where the job or the missing machine code does not allow it."""
        if not serves(scoring.job) or not _Joined.can_hold(scoring.gold):
            return None
        functions = native.load(UNIT)
        return None if functions is None else cls(scoring, functions)

    def scan(self, data: bytes | memoryview, n_lines: int, chosen: str | None = None) -> ScannedBlock:
        """Read a block's lines; ``data`` must stay as it is while the result is used, which is until the next
        block is read. ``chosen`` is the filter of lm-evaluation-harness that is scored."""
        lines = _numbers((n_lines + 1) * LINE_COLUMNS)
        size = len(data)
        address = data if isinstance(data, bytes) else (ctypes.c_char * size).from_buffer(data)
        name = (chosen or "").encode("utf-8", "surrogatepass")
        self._settings[SET_FILTER] = chosen is not None
        joined, state = self._joined, self._state
        ctypes.memset(state, 0, ctypes.sizeof(state))
        while True:
            found = self._scan(
                address,
                size,
                lines,
                n_lines,
                self._settings,
                name,
                len(name),
                joined.text,
                len(joined.text),
                joined.records,
                joined.n,
                joined.slots,
                joined.n_slots,
                *self._work,
                self._records,
                len(self._records) // RECORD_COLUMNS,
                self._scratch,
                len(self._scratch),
                state,
                *self._reader.tables,
                self._patterns,
            )
            if state[STATE_WANTS] == WANTS_NOTHING:
                return ScannedBlock(self, data, address, lines, found)
            if state[STATE_WANTS] == WANTS_RECORDS:
                records = _numbers(2 * len(self._records))
                ctypes.memmove(records, self._records, 8 * RECORD_COLUMNS * state[STATE_RECORDS])
                self._records = records
            else:
                scratch = _lazy_buffer(2 * len(self._scratch))
                ctypes.memmove(scratch, self._scratch, state[STATE_USED])
                self._scratch = scratch

    def read_left(self, block: ScannedBlock, start: int, stop: int) -> None:
        """Have the task's extractor read the responses of some lines that the kernel has left. A line for
        which it fails becomes slow: the ordinary way says what is wrong with it."""
        records = self._records
        number = self._state[STATE_LEFT]
        while number:
            at = (number - 1) * RECORD_COLUMNS
            number, line = records[at + RECORD_BEFORE], records[at + RECORD_LINE]
            key = records[at + RECORD_KEY]
            if not (key & LEFT and start <= line < stop):
                continue
            source = block.data if records[at + RECORD_TEXT_PLACE] == IN_DATA else self._scratch
            text = bytes(memoryview(source)[records[at + RECORD_TEXT] : records[at + RECORD_TEXT_END]])
            try:
                key, vote = self._read(key, text.decode())
            except Exception:
                block.lines[line * LINE_COLUMNS + LINE_KIND] = SLOW
                continue
            records[at + RECORD_KEY], records[at + RECORD_VOTE] = key, vote
            block.n_left += 1

    def _read(self, key: int, response: str) -> tuple[int, int]:
        """Key and vote of a response that was left."""
        task, kernel = _BY_NUMBER[key & KEY_TASK]
        assert kernel.number_of is not None
        # it may have been left before its lines were known
        extracted = self._reader.read(task, response) or self._scoring.extract(task, response)
        number, vote = resolve(kernel.number_of)(extracted.value)
        gold = key >> GOLD_VALUE_SHIFT & KEY_VALUE
        key = kernel.number | REASONS.index(extracted.reason) << REASON_SHIFT
        key |= extracted.found * FOUND | (number == gold) * CORRECT
        if self._scoring.job.details:
            key |= number << PRED_VALUE_SHIFT | gold << GOLD_VALUE_SHIFT
        return key, vote

    def rows(self, block: ScannedBlock, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]:
        """Rows and tally of lines that are not slow."""
        lines = block.lines
        at, end = lines[start * LINE_COLUMNS + LINE_RECORD], lines[stop * LINE_COLUMNS + LINE_RECORD]
        if len(self._out) < ROW_BYTES * (end - at):
            self._out = _buffer(ROW_BYTES * (end - at))
        if len(self._samples) < SAMPLE.size * (end - at):
            self._samples = _buffer(2 * SAMPLE.size * (end - at))
        tally = Tally()
        written = self._written
        written[WRITTEN_ROWS] = written[WRITTEN_SAMPLES] = 0
        while True:
            at = self._write(
                block.address,
                len(block.data),
                self._scratch,
                len(self._scratch),
                self._records,
                at,
                end,
                first_index,
                self._keys,
                MAX_TEMPLATES,
                self._slots,
                self._offsets,
                self._blob,
                len(self._blob),
                self._out,
                len(self._out),
                self._samples,
                len(self._samples),
                self._counts,
                written,
            )
            if written[WRITTEN_WANTS] == WANTS_NOTHING:
                break
            if written[WRITTEN_WANTS] == WANTS_TEMPLATE:
                if len(self._scores) == MAX_TEMPLATES:
                    self._count(tally)
                    self._forget_templates()
                self._add_template(self._records[at * RECORD_COLUMNS + RECORD_KEY])
            else:
                out = _buffer(2 * len(self._out) + len(block.data))
                ctypes.memmove(out, self._out, written[WRITTEN_ROWS])
                self._out = out
        self._count(tally)
        tally.samples += ctypes.string_at(self._samples, written[WRITTEN_SAMPLES])
        return ctypes.string_at(self._out, written[WRITTEN_ROWS]), tally

    def _count(self, tally: Tally) -> None:
        """Move the counts of rows per template into a tally."""
        for number, score in enumerate(self._scores):
            if self._counts[number]:
                tally.add(score, self._counts[number])
                self._counts[number] = 0

    def _add_template(self, key: int) -> None:
        score = self._score_of(key)
        row = encode_row(score.to_row())
        prefix, middle = b'{"index":0,"id":null', b'"sample":'
        head, _, tail = row.removeprefix(prefix).partition(middle + b"0")
        # the lists that are empty here are every record's own
        holes = tail.split(b":[]")
        parts = [tail, b"", b""] if len(holes) == 1 else [holes[0] + b":", holes[1] + b":", holes[2]]
        number = self._add(key, len(self._scores), self._keys, MAX_TEMPLATES, self._slots)
        for place, part in enumerate((head + middle, *parts), TEMPLATE_PARTS * number + 1):
            self._blob += part
            self._offsets[place] = len(self._blob)
        self._scores.append(score)

    def _score_of(self, key: int) -> Score:
        """A row with a key's outcome, for record 0 without an id."""
        task, kernel = _BY_NUMBER[key & KEY_TASK]
        metrics: dict[str, Any] = {}
        details: dict[str, Any] = {}
        if kernel.metrics is not None:
            counts = (key >> shift & KEY_COUNT for shift in _COUNT_SHIFTS)
            metrics = resolve(kernel.metrics)(bool(key & GOLD_YES), *counts)
        if self._scoring.options.strict:
            metrics["reason"] = REASONS[key >> REASON_SHIFT & KEY_REASON]
        if self._scoring.job.details:
            values = (key >> shift & KEY_VALUE for shift in (PRED_VALUE_SHIFT, GOLD_VALUE_SHIFT))
            details = resolve(kernel.details)(*values)
        outcome = Outcome(bool(key & CORRECT), metrics, details, found=bool(key & FOUND))
        return self._scoring.score_of(task, Record(0, None, task.name, None, None), outcome)


class ScannedBlock:
    """A block's lines as the kernel read them."""

    def __init__(
        self,
        fast_path: TextFastPath,
        data: bytes | memoryview,
        address: bytes | ctypes.Array[ctypes.c_char],
        lines: ctypes.Array[ctypes.c_int64],
        n_lines: int,
    ) -> None:
        self._fast_path = fast_path
        self.data, self.address, self.lines, self.n_lines = data, address, lines, n_lines
        self.n_left = 0
        """Responses that the task's extractor has read."""

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int, bool]]:
        """Lines ``start`` to ``stop`` as runs (first, end, whether they are slow)."""
        self._fast_path.read_left(self, start, stop)
        kinds = self.lines[start * LINE_COLUMNS + LINE_KIND : stop * LINE_COLUMNS : LINE_COLUMNS]
        if SLOW not in kinds:
            if stop > start:
                yield start, stop, False
            return
        at = 0
        while at < len(kinds):
            slow = kinds[at] == SLOW
            end = at + 1
            while end < len(kinds) and (kinds[end] == SLOW) == slow:
                end += 1
            yield start + at, start + end, slow
            at = end

    def line(self, number: int) -> bytes:
        """The bytes of a line, its end excluded."""
        at = number * LINE_COLUMNS
        return bytes(self.data[self.lines[at + LINE_START] : self.lines[at + LINE_END]])

    def rows(self, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]:
        return self._fast_path.rows(self, start, stop, first_index)
