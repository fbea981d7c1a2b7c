"""One task's responses, read by the kernel of its ``strict`` extractor and scored where they are asked for.

The short way of a reward: no record and no outcome is made where the same answer has been held against the
same gold before. Answers that are a number or a word (`TextKernel.row_key`) make a few rows in all: after the
first dozens of responses they are only copied.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from relfast.engine.scoring import Scoring, failed
from relfast.engine.strict_reader import StrictReader
from relfast.records import SCORED, Extracted, Record, Score
from relfast.tasks.base import Task, resolve

MOST_ROWS: Final = 4_096
"""Rows of a task that are kept: gold may hold any number."""

Row = tuple[int, object, str, object]
"""A response in a batch: its place, gold, the text and the question."""

_Key = tuple[Hashable, bool, str | None]


class TextRoute:
    """Thread-safe: what is kept is never changed, only copied.

    Parameters
    ----------
    task
        One that the reader knows.
    """

    def __init__(self, task: Task, scoring: Scoring, reader: StrictReader) -> None:
        kernel = task.text_kernel
        assert kernel is not None
        self._task, self._name, self._scoring, self._reader = task, task.name, scoring, reader
        self._kernel = reader.kernel_of(task)
        self._row_key: Callable[[object, Extracted[Any]], Hashable] | None = None
        if kernel.row_key is not None and not scoring.job.details:  # those repeat gold
            self._row_key = resolve(kernel.row_key)
        self._rows: dict[_Key, Score] = {}

    def score(self, answer: object, response: str, question: object) -> Score:
        """The score of one response."""
        try:
            said = self._reader.read_text(self._kernel, response)
            return self._judged(0, answer, response, question, said)
        except Exception as error:
            return failed(Record(0, None, self._name, answer, response, question), error)

    def score_all(self, rows: Sequence[Row]) -> list[Score]:
        """Scores of rows, in their order."""
        try:
            all_said = self._reader.read_all(self._task, [response for _, _, response, _ in rows])
        except Exception:
            # something that spoils them all: each is read anew, by itself
            all_said = [None] * len(rows)
        scores: list[Score] = []
        judged = self._judged
        for (at, answer, response, question), said in zip(rows, all_said, strict=True):
            try:
                scores.append(judged(at, answer, response, question, said))
            except Exception as error:
                scores.append(failed(Record(at, None, self._name, answer, response, question), error))
        return scores

    def _judged(
        self, at: int, answer: object, response: str, question: object, said: Extracted[Any] | None
    ) -> Score:
        key: _Key | None = None
        if said is not None and self._row_key is not None:
            decides = self._row_key(answer, said)
            if decides is not None:
                key = decides, said.found, said.reason
                row = self._rows.get(key)
                if row is not None:
                    return _copy(row, at)
        record = Record(at, None, self._name, answer, response, question)
        score = self._scoring.score_read(self._task, record, said)
        if key is not None and score.status in SCORED and len(self._rows) < MOST_ROWS:
            self._rows[key] = _copy(score, 0)  # the caller may change what it gets
        return score


def _copy(row: Score, at: int) -> Score:
    return Score(
        at,
        None,
        row.task,
        0,
        row.status,
        row.correct,
        row.reward,
        row.metrics.copy(),
        None,
        row.vote,
        row.pred,
    )
