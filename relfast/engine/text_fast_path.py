"""The fast path of the text tasks: rows from a block's bytes, without decoding its lines.

`relfast_kernels.text` reads the lines it understands exactly, in all dialects that hold records of these
tasks, and writes their rows by template; a template is made here, by the ordinary way from outcome to row, so
both ways write the same bytes. Under ``strict`` a response that the kernel cannot read exactly is left to the
task's own extractor, its line with it only where that fails. All other lines take the ordinary way and are
put in their places; of those whose fields the kernel has found, gold is decoded once (`text_fields`). The
fast path is taken only where its machine code has been compiled.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from typing import Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    CORRECT,
    DIALECT_NUMBERS,
    FOUND,
    GOLD_VALUE_SHIFT,
    IN_DATA,
    KEY_TASK,
    KEY_VALUE,
    LEFT,
    LINE_COLUMNS,
    LINE_KIND,
    LINE_RECORD,
    MAX_TAXA,
    MAX_TOKENS,
    PATTERN_WORK,
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
    TOKEN_COLUMNS,
    WANTS_NOTHING,
    WANTS_RECORDS,
)

from relfast.engine.block_rows import JudgedBlock, LineJudge, SlowLines
from relfast.engine.job import Job
from relfast.engine.pool.failures import Verdict
from relfast.engine.scanned_block import ScannedBlock
from relfast.engine.scoring import Scoring
from relfast.engine.segments import Segment
from relfast.engine.strict_reader import StrictReader
from relfast.engine.text_fields import CountingReader, KnownGold
from relfast.engine.text_gold import JoinedGold, least_measure, task_number
from relfast.engine.text_paths import paths_of
from relfast.engine.text_rows import RowWriter
from relfast.engine.text_setting import serves
from relfast.engine.text_work import TASK_BY_NUMBER, lazy_buffer, numbers, start_of
from relfast.records import Place
from relfast.stats.summary import Tally
from relfast.tasks.base import resolve

UNIT: Final = "text"

MOST_LINES: Final = 8_192
"""Lines of a block at first, where nobody has counted them."""

RECORDS: Final = 4_096
SCRATCH_BYTES: Final = 1 << 24
"""Room for a block's responses, and for its texts, at first; the system gives memory as it is touched."""


def _finds_fields_only(job: Job) -> bool:
    """Whether no response can be read by kernels: they know no marks of reasoning but our own."""
    options = job.options
    return bool(options.reasoning) and (options.strict or options.strip_reasoning)


_at_hand: list[Mapping[str, Callable[..., int]]] = []


def make_ready() -> None:
    """Load what the first block will need."""
    functions = native.load(UNIT)
    if functions is not None:
        _at_hand[:] = [functions]


class TextFastPath:
    """Scans blocks and writes rows; keeps its templates and work space between blocks."""

    def __init__(self, scoring: Scoring, functions: Mapping[str, Callable[..., int]]) -> None:
        self._scoring = scoring
        self._find_lines, self._scan = functions["find_lines"], functions["scan"]
        job = scoring.job
        self._joined = JoinedGold(scoring.gold if job.data else {}, job, functions)
        self._settings = (ctypes.c_int64 * SET_SIZE)(
            DIALECT_NUMBERS[job.dialect],
            job.options.strip_reasoning,
            job.details,
            bool(job.data),
            SEEN_IN_GOLD if job.task is None else task_number(job.task, None, job.task),
            False,
            job.options.strict,
            least_measure(job),
            _finds_fields_only(job),
            int.from_bytes(os.urandom(8), "little") >> 1,
        )
        self._paths = paths_of(job.field_map)
        self._known = KnownGold(scoring)
        self._work = (
            lazy_buffer(8 * TOKEN_COLUMNS * MAX_TOKENS),
            lazy_buffer(8 * MAX_TOKENS),
            numbers(SMALL_SIZE),
            lazy_buffer(8 * 4 * MAX_TAXA),
            numbers(2 * (TAXA_SLOTS + 1)),
            lazy_buffer(8 * PROMPTS_SIZE),
        )
        self._state = numbers(STATE_SIZE)
        self._reader = StrictReader(job.options, functions)
        self.one_by_one = CountingReader(self._reader)
        """Reads responses of lines whose fields were found, as rewards have theirs read."""
        self._judge = LineJudge(scoring, self._known, self.one_by_one)
        self._patterns = lazy_buffer(8 * PATTERN_WORK)
        self._lines = numbers(0)
        self._records = numbers(RECORDS * RECORD_COLUMNS)
        self._scratch = lazy_buffer(SCRATCH_BYTES)
        self._writer = RowWriter(scoring, functions)

    @classmethod
    def open(cls, scoring: Scoring) -> TextFastPath | None:
        """The fast path, or None where the job or the missing machine code does not allow it."""
        if not serves(scoring.job) or not JoinedGold.can_hold(scoring.gold):
            return None
        functions = _at_hand.pop() if _at_hand else native.load(UNIT)
        return None if functions is None else cls(scoring, functions)

    def scan(
        self,
        data: bytes | memoryview,
        n_lines: int | None,
        chosen: str | None = None,
        *,
        tell: Callable[[int], None] = lambda n_lines: None,
    ) -> ScannedBlock:
        """Read the first ``n_lines`` of a block's lines; all of them where their number is not known, which
        ``tell`` is told before they are read.

        ``data`` must stay as it is while the result is used, which is until the next block is read.
        ``chosen`` is the filter of lm-evaluation-harness that is scored.
        """
        self._known.begin_block()
        address = start_of(data)
        found = self._find(address, len(data), n_lines)
        if n_lines is None:
            tell(found)
        return self._scan_lines(data, address, found, chosen)

    def _find(self, address: bytes | ctypes.Array[ctypes.c_char], size: int, n_lines: int | None) -> int:
        """Find a block's lines, at most so many; how many there are."""
        most = MOST_LINES if n_lines is None else n_lines
        while True:
            if len(self._lines) < (most + 1) * LINE_COLUMNS:
                self._lines = numbers((most + 1) * LINE_COLUMNS)
            found = self._find_lines(address, size, self._lines, most)
            if found < most or n_lines is not None:
                return found
            most *= 4

    def _scan_lines(
        self,
        data: bytes | memoryview,
        address: bytes | ctypes.Array[ctypes.c_char],
        n_lines: int,
        chosen: str | None,
    ) -> ScannedBlock:
        lines = self._lines
        size = len(data)
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
                joined.asked,
                joined.n_asked,
                joined.lengths,
                joined.n_lengths,
                joined.asked_slots,
                joined.n_asked_slots,
                *self._work,
                self._records,
                len(self._records) // RECORD_COLUMNS,
                self._scratch,
                len(self._scratch),
                state,
                self._patterns,
                self._paths.table,
                self._paths.n,
                self._paths.steps,
                len(self._paths.steps),
            )
            if state[STATE_WANTS] == WANTS_NOTHING:
                return ScannedBlock(self, data, address, lines, found)
            if state[STATE_WANTS] == WANTS_RECORDS:
                records = numbers(2 * len(self._records))
                ctypes.memmove(records, self._records, 8 * RECORD_COLUMNS * state[STATE_RECORDS])
                self._records = records
            else:
                scratch = lazy_buffer(2 * len(self._scratch))
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
                key, vote = self._read(key, text.decode(), line, block)
            except Exception as error:
                self._scoring.detours.add("a response for the extractor", error)
                block.lines[line * LINE_COLUMNS + LINE_KIND] = SLOW
                continue
            records[at + RECORD_KEY], records[at + RECORD_VOTE] = key, vote

    def _read(self, key: int, response: str, line: int, block: ScannedBlock) -> tuple[int, int]:
        """Key and vote of a response that was left."""
        task, kernel = TASK_BY_NUMBER[key & KEY_TASK]
        assert kernel.number_of is not None
        # it may have been left before its lines were known
        extracted = self._reader.read(task, response)
        if extracted is None:
            extracted = self._scoring.extract(task, response)
            block.left.add(line)
        number, vote = resolve(kernel.number_of)(extracted.value)
        gold = key >> GOLD_VALUE_SHIFT & KEY_VALUE
        key = kernel.number | REASONS.index(extracted.reason) << REASON_SHIFT
        key |= extracted.found * FOUND | (number == gold) * CORRECT
        if self._scoring.job.details:
            key |= number << PRED_VALUE_SHIFT | gold << GOLD_VALUE_SHIFT
        return key, vote

    def judge(
        self, block: ScannedBlock, numbers: range, first_index: int, chosen: str | None
    ) -> JudgedBlock | None:
        """The rows of those lines that a task's judge scores."""
        return self._judge.judge(block, self._records, self._scratch, numbers, first_index, chosen)

    def score(
        self,
        block: ScannedBlock,
        lines: SlowLines,
        first_index: int,
        chosen: str | None,
        verdicts: Mapping[Place, Verdict] | None,
    ) -> Segment:
        """The segment of lines some of which are slow."""
        return self._judge.segment(block, self._records, self._scratch, lines, first_index, chosen, verdicts)

    def rows(self, block: ScannedBlock, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]:
        """Rows and tally of lines that are not slow."""
        at, end = (block.lines[line * LINE_COLUMNS + LINE_RECORD] for line in (start, stop))
        return self._writer.rows(
            block.data, block.address, self._scratch, self._records, at, end, first_index
        )
