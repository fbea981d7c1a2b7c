"""One task's responses, judged by kernels where they are asked for: the short way of a chemistry reward.

No record and no answer is made, and nothing is written down for a worker, where the task's `TextJudge` can
read gold and response; what it leaves takes the ordinary way (`relfast.engine.online.isolated_scoring`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from relfast.engine.online.counts import Counts
from relfast.engine.online.incoming import is_plain
from relfast.engine.scoring import Scoring
from relfast.json_text import once_decoded
from relfast.records import Score, Status
from relfast.results import ScoreBatch
from relfast.tasks.base import Task
from relfast.tasks.modules import MAX_TEXTS, JudgedText, TextJudge

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


MAX_CHARS: Final = 20_000
"""Longest response that is judged in the host: 1,000 molecules, some 5 ms."""


class JudgedRoute:
    """Thread-safe.

    Parameters
    ----------
    task
        One with a `TextJudge`.
    judge
        That, for the options of ``scoring``.
    threads
        How many may work for a call.
    counts
        Told of answers ``scored_before``.
    """

    def __init__(self, task: Task, scoring: Scoring, judge: TextJudge, threads: int, counts: Counts) -> None:
        self._task, self._scoring, self._judge, self._threads = task, scoring, judge, threads
        self._counts = counts
        self.maker = RowMaker(task.name, judge.metrics, scoring.reward_metric(task))

    def score(self, answer: object, response: str) -> Score | None:
        """The score of one response; None where it takes the ordinary way.

        Parameters
        ----------
        answer
            Gold as a value, not as the text that holds it.
        """
        judge = self._judge
        gold = judge.gold(answer)
        if gold < 0 and judge.is_full:
            judge = self._new_judge()
            gold = judge.gold(answer)
        if gold < 0 or len(response) > MAX_CHARS or not is_plain(answer):
            return None
        try:
            (text,), n_known = judge.judge((gold,), (response,))
        except UnicodeEncodeError:
            return None
        if n_known:
            self._counts.add("scored_before")
        return None if text is None else self.maker.row(0, text)

    def judge(self, answers: Sequence[object], responses: Sequence[str]) -> list[JudgedText | None]:
        """What is said of responses, in their order; None for those that take the ordinary way."""
        if len(responses) <= MAX_TEXTS:
            return self._judge_some(answers, responses)
        return [
            text
            for first in range(0, len(responses), MAX_TEXTS)
            for text in self._judge_some(
                answers[first : first + MAX_TEXTS], responses[first : first + MAX_TEXTS]
            )
        ]

    def _judge_some(self, answers: Sequence[object], responses: Sequence[str]) -> list[JudgedText | None]:
        judge = self._judge
        if judge.is_full:
            judge = self._new_judge()
        golds = self._golds(judge, answers)
        if min(golds, default=-1) >= 0 and max(map(len, responses)) <= MAX_CHARS:
            return self._judge_all(judge, golds, answers, responses)
        places = [
            at
            for at, (gold, text) in enumerate(zip(golds, responses, strict=True))
            if gold >= 0 and len(text) <= MAX_CHARS
        ]
        judged: list[JudgedText | None] = [None] * len(responses)
        if places:
            some = [answers[at] for at in places], [responses[at] for at in places]
            told = self._judge_all(judge, [golds[at] for at in places], *some)
            for place, one in zip(places, told, strict=True):
                judged[place] = one
        return judged

    def _golds(self, judge: TextJudge, answers: Sequence[object]) -> list[int]:
        """The numbers of golds, -1 for those that take the ordinary way."""
        golds: list[int] = []
        known: object = None
        gold = -1
        for answer in answers:
            if answer is not known:  # most often the gold of the rollout before it
                known = answer
                if type(answer) is str:
                    gold = judge.gold(once_decoded(answer))
                else:
                    gold = judge.gold(answer)
                    if gold >= 0 and not is_plain(answer):
                        gold = -1
            golds.append(gold)
        return golds

    def _judge_all(
        self, judge: TextJudge, golds: Sequence[int], answers: Sequence[object], responses: Sequence[str]
    ) -> list[JudgedText | None]:
        try:
            judged, n_known = judge.judge(golds, responses)
        except UnicodeEncodeError:
            if len(responses) == 1:
                return [None]
            return [self._judge_some([a], [r])[0] for a, r in zip(answers, responses, strict=True)]
        if n_known:
            self._counts.add_all(["scored_before"] * n_known)
        return judged

    def _new_judge(self) -> TextJudge:
        """An empty one from now on; who is at work with the old one goes on with it."""
        new = self._task.text_judge(self._scoring.options, self._threads)
        assert new is not None, "there was one before"
        self._judge = new
        return new
