"""Scores of lines whose responses their tasks' kernels judge by the block (`relfast.tasks.block_rows`).

The text kernel has found the fields of such lines. Gold is decoded once, as for all of them (`text_gold`);
responses stay where they are. A line of which a response is left takes the ordinary way. Rows of both stand
in the order of the lines, and are counted as if all had gone the same way.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from relfast_kernels.layouts import (
    FIELDS,
    GOLD_UNKNOWN,
    ID_OF_GOLD,
    IN_DATA,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_GOLD,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    NOWHERE,
    RECORD_COLUMNS,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_LINE,
    RECORD_SAMPLE,
)

from relfast.engine.pool.failures import Verdict
from relfast.engine.scoring import LOAD_SECONDS, Scoring
from relfast.engine.segments import PIECE, Segment, pieces, rows_of
from relfast.engine.text_gold import kinds_of
from relfast.records import Place, Record, Score
from relfast.stats.prompts import FURTHER, SAMPLE
from relfast.stats.samples import TASK_NUMBERS, hash_id, hash_vote
from relfast.stats.tally import Tally
from relfast.stats.task_tally import TaskTally
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.block_rows import MAX_AT_ONCE, Block, OutcomeJudge, Outcomes, Setting

if TYPE_CHECKING:
    from relfast.engine.text_fast_path import ScannedBlock
    from relfast.engine.text_gold import KnownGold

JUDGED: Final = 4
"""A line's kind once its responses are judged, beside those that the kernel knows."""

MOST_AT_ONCE: Final = 4 * PIECE
"""Records of a block that are judged: their scores are held until all its rows are written. A block has some
hundreds, unless a line has samples without end: that is scored a piece at a time."""

MAX_GOLDS: Final = 1 << 16
"""Golds whose numbers are remembered."""


Piece = tuple[int, bytes, bytes]
"""Index of a line, and rows and samples that begin with it."""


class Between(NamedTuple):
    """Rows of consecutive lines of a block that the text kernel has scored, from a line on."""

    line: int
    rows: bytes
    tally: Tally


class _Judging:
    """Records of one task while they are judged, with their golds."""

    def __init__(self, judge: OutcomeJudge) -> None:
        self.judge = judge
        self.lines: list[tuple[int, int]] = []
        """Lines, and how many records each has."""
        self.records: list[int] = []
        self.golds: list[int] = []


class _Judged:
    """Records of one task that were judged, in order, all those of a line or none."""

    def __init__(self, task: Task, judging: _Judging, lots: Sequence[Outcomes]) -> None:
        self.task = task
        self.lines: list[int] = []
        self._ends = [0]
        certain = list(itertools.chain.from_iterable(lot.certain for lot in lots))
        kept: list[int] = []
        at = 0
        for line, size in judging.lines:
            if all(certain[at : at + size]):
                kept += range(at, at + size)
                self.lines.append(line)
                self._ends.append(len(kept))
            at += size
        self._records, self._outcomes = judging.records, Outcomes.joined(lots)
        if len(kept) < at:
            self._records = [judging.records[place] for place in kept]
            self._outcomes = self._outcomes.chosen(kept)

    def on(self, start: int, stop: int) -> tuple[list[int], Outcomes]:
        """Records that are on some of the lines, and their outcomes."""
        first, end = (self._ends[bisect_left(self.lines, line)] for line in (start, stop))
        if end - first == len(self._records):
            return self._records, self._outcomes
        return self._records[first:end], self._outcomes.chosen(range(first, end))


class JudgedBlock:
    """A block's lines that were judged."""

    def __init__(self, block: Block, scoring: Scoring, by_task: Sequence[_Judged], first_index: int) -> None:
        self._block, self._scoring, self._by_task = block, scoring, by_task
        self._first_index = first_index

    def scores(self, start: int, stop: int) -> list[Score]:
        """The scores of those of some lines that were judged, in order."""
        scores: list[Score] = []
        for mine in self._by_task:
            records, outcomes = mine.on(start, stop)
            places = zip(*self._places(records), outcomes.rows(), strict=True)
            scores += [
                self._scoring.score_at(mine.task, index, orjson.loads(id), sample, outcome)
                for index, id, sample, outcome in places
            ]
        scores.sort(key=attrgetter("index"))
        return scores

    def rows(self, start: int, stop: int, between: Sequence[Between]) -> tuple[bytes, Tally]:
        """Rows and tally of those of some lines that were judged, and of others between them."""
        tally, first_of = Tally(), {}
        pieces: list[Piece] = []
        try:
            for mine in self._by_task:
                records, outcomes = mine.on(start, stop)
                if records:
                    written = self._written(mine.task, records, outcomes, tally)
                    first_of[mine.task.name] = written[0][0]
                    pieces += written
        except (TypeError, ValueError, RecursionError):
            # numbers or texts that only Python's own writer can write
            return joined(self.scores(start, stop), self._first_index, between)
        beside = [(self._first_index + each.line, each.rows, bytes(each.tally.samples)) for each in between]
        for (index, _, _), each in zip(beside, between, strict=True):
            for name in each.tally.tasks:
                first_of[name] = min(first_of.get(name, index), index)
            tally.merge(each.tally)
        # in the order in which they come; no task has lines of both
        tally.tasks = {name: tally.tasks[name] for name in sorted(tally.tasks, key=first_of.__getitem__)}
        in_order = sorted([*beside, *pieces], key=itemgetter(0))
        tally.samples = bytearray(b"".join([samples for _, _, samples in in_order]))
        return b"".join([rows for _, rows, _ in in_order]), tally

    def _places(self, records: Sequence[int]) -> tuple[list[int], list[bytes], list[int]]:
        """Index, id as JSON and sample of records."""
        lines, starts, ends, places, samples = (
            [self._block.columns[record * RECORD_COLUMNS + column] for record in records]
            for column in (RECORD_LINE, RECORD_ID, RECORD_ID_END, RECORD_ID_PLACE, RECORD_SAMPLE)
        )
        views = self._block.views
        ids = [
            b"null" if place == NOWHERE else bytes(views[place != IN_DATA][start:end])
            for place, start, end in zip(places, starts, ends, strict=True)
        ]
        return [self._first_index + line for line in lines], ids, samples

    def _written(self, task: Task, records: Sequence[int], outcomes: Outcomes, tally: Tally) -> list[Piece]:
        """The rows of records of one task, which are counted."""
        indices, ids, samples = self._places(records)
        metrics, details = outcomes.metrics, outcomes.details
        metric = self._scoring.reward_metric(task)
        values = outcomes.correct if metric == "correct" else metrics.get(metric, [None] * len(records))
        rewards = [None if value is None else float(value) for value in values]
        columns = [
            _texts(["ok" if found else "no_answer" for found in outcomes.found]),
            _texts(outcomes.correct),
            _texts(rewards),
            *map(_texts, metrics.values()),
            *([orjson.dumps(value) for value in column] for column in details.values()),
        ]
        beginnings = zip(indices, ids, samples, strict=True)
        template = _template(task.name, [*metrics, *details])
        rows = [template % (*start, *values) for start, *values in zip(beginnings, *columns, strict=True)]
        tally.tasks[task.name] = counted = TaskTally()
        counted.add_columns(task.name, outcomes.found, rewards, metrics)
        number = TASK_NUMBERS[task.name]
        packed = [
            SAMPLE.pack(
                number + (FURTHER if sample else 0),
                # each line without an id is a prompt of its own
                hash_id(b"%d" % index if id == b"null" else id),
                hash_vote(vote),
                correct,
            )
            for index, id, sample, vote, correct in zip(
                indices, ids, samples, outcomes.votes, outcomes.correct, strict=True
            )
        ]
        return [*zip(indices, rows, packed, strict=True)]


def _template(task: str, names: Iterable[str]) -> bytes:
    """A row as `relfast.json_text.encode_row` writes it."""
    return (
        b'{"index":%d,"id":%b,"task":'
        + orjson.dumps(task)
        + b',"sample":%d,"status":%b,"correct":%b,"reward":%b,"metrics":{'
        + b",".join(orjson.dumps(name) + b":%b" for name in names)
        + b'},"error":null}\n'
    )


def _texts(values: Sequence[Any]) -> list[bytes]:
    """The JSON of each of some numbers, flags and codes."""
    texts = orjson.dumps(values)[1:-1].split(b",")
    # a label can have a comma
    return texts if len(texts) == len(values) else [orjson.dumps(value) for value in values]


class SlowLines(NamedTuple):
    """Lines ``start`` to ``stop`` of a block, ``numbers`` of which are slow; all others were judged, or have
    their rows already (``between``)."""

    start: int
    stop: int
    numbers: Sequence[int]
    judged: JudgedBlock | None = None
    between: Sequence[Between] = ()


class LineJudge:
    """The judges of tasks that have one, and the golds that they know; keeps both between blocks."""

    def __init__(self, scoring: Scoring, gold: KnownGold) -> None:
        self._scoring, self._gold = scoring, gold
        self._judges: dict[str, OutcomeJudge | None] = {}
        self._known: dict[int, tuple[str, int]] = {}

    def judge(self, block: ScannedBlock, numbers: range) -> JudgedBlock | None:
        """Judge those of some lines of a block whose fields were found; None where there is none that can be.

        The kinds of lines that were judged become `JUDGED`.
        """
        if FIELDS not in kinds_of(block.lines, numbers.start, numbers.stop):
            return None
        # there may be room for more lines than were found
        lines = memoryview(block.lines).cast("B").cast("q")[: (block.n_lines + 1) * LINE_COLUMNS]
        kinds = lines[LINE_KIND::LINE_COLUMNS].tolist()
        mine = [number for number in numbers if kinds[number] == FIELDS]
        first_of = lines[LINE_RECORD::LINE_COLUMNS].tolist()
        where = Block.of(block.data, block.scratch, block.records)
        self._make_room(len(mine))
        judging: dict[str, _Judging] = {}
        n_judged = 0
        for number in mine:
            at, end = first_of[number], first_of[number + 1]
            place = number * LINE_COLUMNS
            if lines[place + LINE_REST] == ID_OF_GOLD and lines[place + LINE_GOLD] == GOLD_UNKNOWN:
                continue
            digest = lines[place + LINE_DIGEST]
            known = self._known.get(digest)
            if known is None:
                record = self._gold.gold_of(block, number, range(at, end))
                known = self._known[digest] = ("", -1) if record is None else self._number(record)
            task, gold = known
            if gold < 0 or at == end:
                continue
            n_judged += end - at
            if n_judged > MOST_AT_ONCE:
                break
            some = judging.get(task)
            if some is None:
                judge = self._judges[task]
                assert judge is not None, "who has given its gold a number"
                some = judging[task] = _Judging(judge)
            some.lines.append((number, end - at))
            some.records += range(at, end)
            some.golds += [gold] * (end - at)
        by_task = []
        for name, some in judging.items():
            judged = _Judged(TASKS[name], some, self._outcomes(where, name, some))
            for number in judged.lines:
                block.lines[number * LINE_COLUMNS + LINE_KIND] = JUDGED
            if judged.lines:
                by_task.append(judged)
        return JudgedBlock(where, self._scoring, by_task, block.first_index) if by_task else None

    def segment(
        self, block: ScannedBlock, lines: SlowLines, verdicts: Mapping[Place, Verdict] | None
    ) -> Segment:
        """The segment of lines some of which are slow, which are scored together, the ordinary way."""
        taken = self._gold.take(block, lines.numbers)
        left = self._scoring.n_left
        scores: Iterable[Score] = (
            score for piece in pieces(taken.entries) for score in self._scoring.entries(piece, verdicts)
        )
        if lines.judged is not None:
            judged = lines.judged.scores(lines.start, lines.stop)
            scores = sorted([*judged, *scores], key=attrgetter("index"))
            rows, tally = joined(scores, block.first_index, lines.between)
        else:
            rows, tally = rows_of(scores)
        segment = Segment(lines.stop, rows, tally.rows, tally)
        segment.n_exact = taken.n_exact
        segment.n_fast = lines.stop - lines.start - taken.n_exact
        segment.n_left = min(taken.n_text, self._scoring.n_left - left) + taken.n_judged
        return segment

    def _make_room(self, n: int) -> None:
        if len(self._known) > MAX_GOLDS:
            self._known.clear()
        forgetful = {name for name, judge in self._judges.items() if judge and judge.make_room(n)}
        if forgetful:
            self._known = {key: known for key, known in self._known.items() if known[0] not in forgetful}

    def _number(self, record: Record) -> tuple[str, int]:
        """The task of a record and the number of its gold, -1 where nobody can judge it."""
        judge = self._judge_of(record.task)
        if judge is None:
            return "", -1
        self._scoring.guard.enter(None, self._scoring.job.timeout)
        try:
            return record.task, judge.gold(record)
        except Exception as error:
            # the ordinary way says what is wrong with it, if anything is
            self._scoring.detours.add(f"gold of {record.task}", error)
            return "", -1
        finally:
            self._scoring.guard.leave()

    def _outcomes(self, where: Block, name: str, judging: _Judging) -> list[Outcomes]:
        """The outcomes of some records, in lots."""
        guard = self._scoring.guard
        found: list[Outcomes] = []
        for at in range(0, len(judging.records), MAX_AT_ONCE):
            some = slice(at, at + MAX_AT_ONCE)
            # they take a fraction of the time of one; where they do not, each is given its own, one by one,
            # by whoever comes after the worker that this has ended
            guard.enter(None, self._scoring.job.timeout)
            try:
                found.append(judging.judge.judge(where, judging.records[some], judging.golds[some]))
            except Exception as error:
                # the ordinary way finds the record that it is, if it is one
                self._scoring.detours.add(f"a batch before the judge of {name}", error)
                return [Outcomes.of([None] * len(judging.records))]
            finally:
                guard.leave()
        return found

    def _judge_of(self, name: str) -> OutcomeJudge | None:
        if name not in self._judges:
            opener = TASKS[name].in_blocks
            self._judges[name] = None if opener is None else self._open(opener)
        return self._judges[name]

    def _open(self, opener: str) -> OutcomeJudge | None:
        scoring = self._scoring
        scoring.guard.enter(None, scoring.job.timeout and LOAD_SECONDS, limited=False)
        try:
            opened: OutcomeJudge | None = resolve(opener)(Setting(scoring.options, scoring.job.details))
        finally:
            scoring.guard.leave()
        return opened


def joined(scores: Sequence[Score], first_index: int, between: Sequence[Between] = ()) -> tuple[bytes, Tally]:
    """Rows and tally of scores, in the order of their lines, and of lines between them that have rows."""
    rows, tally, at = [], Tally(), 0
    for each in between:
        end = bisect_left(scores, first_index + each.line, at, key=attrgetter("index"))
        some, counted = rows_of(scores[at:end])
        rows += [some, each.rows]
        tally.merge(counted)
        tally.merge(each.tally)
        at = end
    some, counted = rows_of(scores[at:])
    tally.merge(counted)
    return b"".join([*rows, some]), tally
