"""Rows of lines whose responses a task's judge scores by the block (`relfast.tasks.modules.BlockJudge`).

The text kernel has found the fields of such lines. Gold is decoded once, as for all of them (`text_fields`);
responses stay where they are. A line of which the judge leaves a response takes the ordinary way. Rows are
put together by columns: the values of all rows go through the JSON writer at once, so they are the same
bytes.
"""

from __future__ import annotations

import ctypes
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson
from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    FIELDS,
    IN_DATA,
    LINE_COLUMNS,
    LINE_KIND,
    LINE_RECORD,
    NOWHERE,
    RECORD_COLUMNS,
    RECORD_GOLD,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_SAMPLE,
)

from relfast.engine.scoring import LOAD_SECONDS, Scoring
from relfast.engine.text_fields import KnownGold
from relfast.records import Outcome, Record
from relfast.stats.samples import FURTHER, SAMPLE, TASK_NUMBERS, hash_id, hash_vote
from relfast.stats.tally import Tally
from relfast.tasks import TASKS
from relfast.tasks.base import Task
from relfast.tasks.modules import MAX_AT_ONCE, BlockJudge, Responses

if TYPE_CHECKING:
    from relfast.engine.scanned_block import ScannedBlock

UNIT: Final = "tags"

JUDGED: Final = 4
"""A line's kind once its rows are here, beside those that the kernel knows."""

MAX_GOLDS: Final = 1 << 16
"""Golds whose numbers are remembered."""


_Outcomes = dict[int, tuple[str, Outcome]]
"""Outcomes of records, with their tasks."""

_Waiting = dict[str, tuple[list[int], list[int]]]
"""For each task records that are still to be judged, and the numbers of their golds."""


class _Rows:
    """Rows of one task, in order: which of a block's they are, and their values by columns."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.places: list[int] = []
        self.found: list[bool] = []
        self.rewards: list[float | None] = []
        self.metrics: dict[str, list[Any]] = {}

    def between(self, first: int, end: int) -> slice:
        """Which of them are rows ``first`` to ``end`` of the block."""
        return slice(bisect_left(self.places, first), bisect_left(self.places, end))


class JudgedBlock:
    """The rows of a block's lines that were judged."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self.before: list[int] = [0]
        """For each line, counted from the first one, and for the end, how many rows come before."""
        self.rows: list[bytes] = []
        self.samples: list[bytes] = []
        self.by_task: list[_Rows] = []

    def rows_of(self, start: int, stop: int) -> tuple[bytes, Tally]:
        """Rows and tally of those of some lines that were judged."""
        first, end = self._rows_before(start), self._rows_before(stop)
        tally = self.tally_of(start, stop)
        tally.samples += b"".join(self.samples[first:end])
        return b"".join(self.rows[first:end]), tally

    def tally_of(self, start: int, stop: int) -> Tally:
        """What is counted of those of some lines that were judged, but for their samples."""
        first, end = self._rows_before(start), self._rows_before(stop)
        tally = Tally()
        for rows in self.by_task:
            some = rows.between(first, end)
            if some.start < some.stop:
                metrics = {name: column[some] for name, column in rows.metrics.items()}
                tally.add_columns(rows.task.name, rows.found[some], rows.rewards[some], metrics)
        return tally

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, bytes, bytes]]:
        """Line, row and sample of all that were judged of some lines."""
        for line in range(start, stop):
            for at in range(self._rows_before(line), self._rows_before(line + 1)):
                yield line, self.rows[at], self.samples[at]

    def _rows_before(self, line: int) -> int:
        return self.before[line - self._first_line]


class LineJudge:
    """Judges of all tasks that have one, and the golds that they know; full, it forgets all."""

    def __init__(self, scoring: Scoring, gold: KnownGold) -> None:
        self._scoring = scoring
        self._gold = gold
        self._judges: dict[str, BlockJudge | None] = {}
        self._known: dict[int, tuple[str, int]] = {}
        self._hash: Callable[..., int] | None = None

    def judge(
        self,
        block: ScannedBlock,
        records: ctypes.Array[ctypes.c_int64],
        scratch: ctypes.Array[ctypes.c_char],
        numbers: range,
        first_index: int,
        chosen: str | None,
    ) -> JudgedBlock | None:
        """Judge the lines of a block whose fields were found; None where there is none that can be.

        The kinds of lines that were judged become `JUDGED`. ``first_index`` is the index of the block's first
        line, ``numbers`` says which of its lines are meant.
        """
        if self._scoring.job.details:
            return None
        # there may be room for more lines than were found
        lines = memoryview(block.lines).cast("B").cast("q")[: (block.n_lines + 1) * LINE_COLUMNS]
        kinds = lines[LINE_KIND::LINE_COLUMNS].tolist()
        if FIELDS not in kinds[numbers.start : numbers.stop]:
            return None
        first_of = lines[LINE_RECORD::LINE_COLUMNS].tolist()
        by_record = memoryview(records).cast("B").cast("q")
        responses = Responses(block.address, len(block.data), scratch, len(scratch), records, first_of[-1])
        outcomes: _Outcomes = {}
        waiting: _Waiting = {}
        if len(self._known) > MAX_GOLDS:
            self._known.clear()
        for number in numbers:
            if kinds[number] != FIELDS:
                continue
            at, end = first_of[number], first_of[number + 1]
            digest = by_record[at * RECORD_COLUMNS + RECORD_GOLD]
            known = self._known.get(digest)
            if known is None:
                record = self._gold.gold_of(block, number, end - at, first_index, chosen, digest)
                known = ("", -1) if record is None else self._learn(record, waiting, responses, outcomes)
                self._known[digest] = known
            task, gold = known
            if gold < 0 or end - at > MAX_AT_ONCE:
                continue
            mine = waiting.setdefault(task, ([], []))
            if len(mine[0]) + end - at > MAX_AT_ONCE:
                self._judge(task, mine, responses, outcomes)
            mine[0].extend(range(at, end))
            mine[1].extend([gold] * (end - at))
        for task, mine in waiting.items():
            self._judge(task, mine, responses, outcomes)
        return (
            self._write(block, numbers, kinds, first_of, outcomes, responses, first_index)
            if outcomes
            else None
        )

    def _learn(
        self, record: Record, waiting: _Waiting, responses: Responses, outcomes: _Outcomes
    ) -> tuple[str, int]:
        """The task of a record and the number of its gold, -1 where nobody can judge it."""
        judge = self._judge_of(record.task)
        if judge is None:
            return "", -1
        if judge.is_full:
            self._judge(record.task, waiting.setdefault(record.task, ([], [])), responses, outcomes)
            judge.forget()
            self._known = {key: known for key, known in self._known.items() if known[0] != record.task}
        return record.task, judge.gold(record.answer)

    def _judge_of(self, name: str) -> BlockJudge | None:
        if name not in self._judges:
            task = TASKS[name]
            self._judges[name] = None
            if task.in_blocks is not None and task.breakdown is None:
                guard = self._scoring.guard
                guard.enter(None, self._scoring.job.timeout and LOAD_SECONDS)
                try:
                    self._judges[name] = task.block_judge(self._scoring.options)
                finally:
                    guard.leave()
        return self._judges[name]

    def _judge(
        self, task: str, waiting: tuple[list[int], list[int]], responses: Responses, outcomes: _Outcomes
    ) -> None:
        """Have the records that wait judged."""
        numbers, golds = waiting
        judge = self._judges[task]
        if not numbers or judge is None:
            return
        # they take a fraction of the time of one; where they do not, each is given its own, one by one, by
        # whoever comes after the worker that this has ended
        guard = self._scoring.guard
        guard.enter(None, self._scoring.job.timeout)
        try:
            found = judge.judge(responses, numbers, golds)
        except Exception:
            found = []  # the ordinary way says what is wrong
        finally:
            guard.leave()
        for number, outcome in zip(numbers, found, strict=False):
            if outcome is not None:
                outcomes[number] = task, outcome
        numbers.clear()
        golds.clear()

    def _write(
        self,
        block: ScannedBlock,
        numbers: range,
        kinds: Sequence[int],
        first_of: Sequence[int],
        outcomes: _Outcomes,
        responses: Responses,
        first_index: int,
    ) -> JudgedBlock:
        """The rows of the lines all of whose records have outcomes."""
        judged = JudgedBlock(numbers.start)
        written: list[int] = []
        indices: list[int] = []
        for number in numbers:
            if kinds[number] == FIELDS:
                mine = range(first_of[number], first_of[number + 1])
                # most lines have one record; with it missing there is no need to look at others
                if mine[0] in outcomes and (len(mine) == 1 or outcomes.keys() >= set(mine)):
                    block.lines[number * LINE_COLUMNS + LINE_KIND] = JUDGED
                    written += mine
                    indices += [first_index + number] * len(mine)
            judged.before.append(len(written))
        if not written:
            return judged
        records = memoryview(responses.records).cast("B").cast("q")
        columns = {
            column: [records[record * RECORD_COLUMNS + column] for record in written]
            for column in (RECORD_ID, RECORD_ID_END, RECORD_ID_PLACE, RECORD_SAMPLE)
        }
        views = memoryview(block.data).cast("B"), memoryview(responses.scratch).cast("B")
        ids = [
            b"null" if place == NOWHERE else bytes(views[place != IN_DATA][start:end])
            for place, start, end in zip(
                columns[RECORD_ID_PLACE], columns[RECORD_ID], columns[RECORD_ID_END], strict=True
            )
        ]
        hashes = self._hashes(responses, written)
        for place, index in zip(columns[RECORD_ID_PLACE], range(len(written)), strict=True):
            if place == NOWHERE:
                # each such line is a prompt of its own
                hashes[index] = hash_id(b"%d" % indices[index])
        judged.rows, judged.samples = [b""] * len(written), [b""] * len(written)
        places: dict[str, list[int]] = {}
        for at, record in enumerate(written):
            places.setdefault(outcomes[record][0], []).append(at)
        for name, some in places.items():
            rows = _Rows(TASKS[name])
            rows.places = some
            results = [outcomes[written[at]][1] for at in some]
            self._fill(rows, results)
            beginnings = zip(
                [indices[at] for at in some],
                [ids[at] for at in some],
                [columns[RECORD_SAMPLE][at] for at in some],
                strict=True,
            )
            for at, row in zip(some, _encoded(rows, results, beginnings), strict=True):
                judged.rows[at] = row
            task = TASK_NUMBERS[name]
            for at, outcome in zip(some, results, strict=True):
                further = FURTHER if columns[RECORD_SAMPLE][at] else 0
                judged.samples[at] = SAMPLE.pack(
                    task + further, hashes[at], hash_vote(outcome.vote), outcome.correct
                )
            judged.by_task.append(rows)
        return judged

    def _fill(self, rows: _Rows, outcomes: Sequence[Outcome]) -> None:
        rows.found = [outcome.found for outcome in outcomes]
        rows.metrics = {name: [outcome.metrics[name] for outcome in outcomes] for name in outcomes[0].metrics}
        rows.rewards = self._scoring.rewards_of(rows.task, outcomes)

    def _hashes(self, responses: Responses, numbers: Sequence[int]) -> array[int]:
        """The hashes of the ids of some records."""
        if self._hash is None:
            functions = native.load(UNIT)
            assert functions is not None, "without it nobody judges"
            self._hash = functions["hash"]
        chosen, hashes = array("q", numbers), array("Q", bytes(8 * len(numbers)))
        self._hash(*responses, chosen.buffer_info()[0], len(numbers), hashes.buffer_info()[0])
        return hashes


def _encoded(
    rows: _Rows, outcomes: Sequence[Outcome], beginnings: Iterable[tuple[int, bytes, int]]
) -> list[bytes]:
    """The rows as `relfast.json_text.encode_row` writes them."""
    names = b",".join(orjson.dumps(name) + b":%b" for name in rows.metrics)
    template = (
        b'{"index":%d,"id":%b,"task":'
        + orjson.dumps(rows.task.name)
        + b',"sample":%d,"status":%b,"correct":%b,"reward":%b,"metrics":{'
        + names
        + b'},"error":null}\n'
    )
    columns = [
        _texts(["ok" if found else "no_answer" for found in rows.found]),
        _texts([outcome.correct for outcome in outcomes]),
        _texts(rows.rewards),
        *map(_texts, rows.metrics.values()),
    ]
    return [template % (*start, *values) for start, *values in zip(beginnings, *columns, strict=True)]


def _texts(values: Sequence[Any]) -> list[bytes]:
    """The JSON of each of some numbers, flags and codes."""
    texts = orjson.dumps(values)[1:-1].split(b",")
    # a label can have a comma
    return texts if len(texts) == len(values) else [orjson.dumps(value) for value in values]
