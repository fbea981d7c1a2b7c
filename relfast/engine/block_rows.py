"""Scores of lines whose responses their tasks' kernels judge by the block (`relfast.tasks.block_rows`).

The text kernel has found the fields of such lines. Gold is decoded once, as for all of them (`text_gold`);
responses stay where they are. A line of which a response is left takes the ordinary way. Rows of both stand
in the order of the lines, and are counted as if all had gone the same way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from relfast_kernels.layouts import (
    FIELDS,
    GOLD_UNKNOWN,
    ID_OF_GOLD,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_GOLD,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    RECORD_COLUMNS,
    RECORD_LINE,
    RECORD_SAMPLE,
)

from relfast.engine.pool.failures import Verdict
from relfast.engine.scoring import LOAD_SECONDS, Scoring
from relfast.engine.segments import PIECE, Segment, pieces, rows_of
from relfast.engine.text_gold import id_of, kinds_of
from relfast.records import Outcome, Place, Record, Score
from relfast.stats.tally import Tally
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.block_rows import MAX_AT_ONCE, Block, OutcomeJudge

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


class SlowLines(NamedTuple):
    """Lines ``start`` to ``stop`` of a block, ``numbers`` of which are slow; all others have scores already
    (``judged``), or rows (``between``)."""

    start: int
    stop: int
    numbers: Sequence[int]
    judged: Sequence[Score] = ()
    between: Sequence[Between] = ()


class LineJudge:
    """The judges of tasks that have one, and the golds that they know; keeps both between blocks."""

    def __init__(self, scoring: Scoring, gold: KnownGold) -> None:
        self._scoring, self._gold = scoring, gold
        self._judges: dict[str, OutcomeJudge | None] = {}
        self._known: dict[int, tuple[str, int]] = {}

    def judge(self, block: ScannedBlock, numbers: range) -> list[Score]:
        """The scores, in order, of those of some lines of a block that can be judged.

        The kinds of these lines become `JUDGED`.
        """
        if FIELDS not in kinds_of(block.lines, numbers.start, numbers.stop):
            return []
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
        scores: list[Score] = []
        for name, some in judging.items():
            outcomes = self._outcomes(where, name, some)
            at = 0
            for number, size in some.lines:
                judged = [outcome for outcome in outcomes[at : at + size] if outcome is not None]
                if len(judged) == size:
                    block.lines[number * LINE_COLUMNS + LINE_KIND] = JUDGED
                    scores += self._scores(block, where, TASKS[name], some.records[at : at + size], judged)
                at += size
        scores.sort(key=attrgetter("index"))
        return scores

    def _scores(
        self,
        block: ScannedBlock,
        where: Block,
        task: Task,
        records: Sequence[int],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """The scores of the records of a line."""
        columns, first = where.columns, records[0] * RECORD_COLUMNS
        id = id_of(where.views, block.records, records[0])
        index = block.first_index + columns[first + RECORD_LINE]
        for record, outcome in zip(records, outcomes, strict=True):
            sample = columns[record * RECORD_COLUMNS + RECORD_SAMPLE]
            yield self._scoring.score_at(task, index, id, sample, outcome)

    def segment(
        self, block: ScannedBlock, lines: SlowLines, verdicts: Mapping[Place, Verdict] | None
    ) -> Segment:
        """The segment of lines some of which are slow, which are scored together, the ordinary way."""
        taken = self._gold.take(block, lines.numbers)
        left = self._scoring.n_left
        scores: Iterable[Score] = (
            score for piece in pieces(taken.entries) for score in self._scoring.entries(piece, verdicts)
        )
        if lines.judged or lines.between:
            scores = sorted([*lines.judged, *scores], key=attrgetter("index"))
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

    def _outcomes(self, where: Block, name: str, judging: _Judging) -> list[Outcome | None]:
        """The outcomes of some records; None for those that are left."""
        guard = self._scoring.guard
        found: list[Outcome | None] = []
        for at in range(0, len(judging.records), MAX_AT_ONCE):
            some = slice(at, at + MAX_AT_ONCE)
            # they take a fraction of the time of one; where they do not, each is given its own, one by one,
            # by whoever comes after the worker that this has ended
            guard.enter(None, self._scoring.job.timeout)
            try:
                found += judging.judge.judge(where, judging.records[some], judging.golds[some])
            except Exception as error:
                # the ordinary way finds the record that it is, if it is one
                self._scoring.detours.add(f"a batch before the judge of {name}", error)
                return [None] * len(judging.records)
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
            opened: OutcomeJudge | None = resolve(opener)(scoring.options, scoring.job.details)
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
