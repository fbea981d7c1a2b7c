"""What a `relfast.tasks.modules.TextJudge` said of texts, as rows and as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from relfast.records import Score, Status
from relfast.results import ScoreBatch
from relfast.tasks.modules import JudgedText

_FOUND, _CORRECT, _VOTE, _SAID, _METRICS = range(5)
_STATUS: Final[dict[bool, Status]] = {True: "ok", False: "no_answer"}


class RowMaker:
    """Makes rows of one task.

    Parameters
    ----------
    task
        Its name.
    metrics
        The names of the values that texts have.
    reward
        The metric that is the reward, or ``correct``.
    """

    def __init__(self, task: str, metrics: tuple[str, ...], reward: str) -> None:
        self._task, self._metrics = task, metrics
        self._reward_at = _CORRECT
        if reward != "correct":
            self._reward_at = _METRICS + metrics.index(reward) if reward in metrics else _SAID
        self._has_reward = self._reward_at != _SAID

    def row(self, at: int, text: JudgedText) -> Score:
        """The row of a text, with a number."""
        found, correct, vote, said, *values = text
        return Score(
            at,
            None,
            self._task,
            0,
            _STATUS[found],
            correct,
            float(text[self._reward_at]) if self._has_reward else None,
            dict(zip(self._metrics, values, strict=True)),
            None,
            vote,
            said,
        )

    def batch(self, texts: Sequence[JudgedText | None]) -> ScoreBatch | None:
        """The rows of texts by columns, numbered from 0 on; None without a reward, or where one was left."""
        if not self._has_reward or not texts or not all(texts):
            return None
        judged = cast("Sequence[JudgedText]", texts)
        columns = [*zip(*judged, strict=True)]
        return ScoreBatch.of_columns(
            columns[_CORRECT],
            columns[self._reward_at],
            [_STATUS[found] for found in columns[_FOUND]],
            dict(zip(self._metrics, columns[_METRICS:], strict=True)),
            JudgedRows(self, judged),
        )


class JudgedRows:
    """The rows of texts, made as they are asked for."""

    def __init__(self, maker: RowMaker, texts: Sequence[JudgedText]) -> None:
        self._maker, self._texts = maker, texts

    def __iter__(self) -> Iterator[Score]:
        row = self._maker.row
        return (row(at, text) for at, text in enumerate(self._texts))
