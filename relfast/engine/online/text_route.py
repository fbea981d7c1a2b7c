"""One task's responses, read by the kernel of its ``strict`` extractor and scored where they are asked for.

The short way of a reward: no record and no outcome is made where the same answer has been held against the
same gold before. Answers that are a number or a word make a few rows in all for gold of a kind
(`TextKernel.gold_key`): after the first dozens of responses nothing is made, and who only reads gets the
one that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from relfast.engine.online.counts import tell
from relfast.engine.scoring import Scoring, failed
from relfast.engine.strict_reader import FEW, Claim, Found, StrictReader
from relfast.json_text import once_decoded
from relfast.records import SCORED, Judged, Record, Score
from relfast.tasks.base import Task, resolve

MOST_ROWS: Final = 4_096
"""Rows of a task that are kept, about: gold may hold any number."""

_Rows = dict[int, Score]
"""What the kernel's number of an answer comes to → its row."""


class TextRoute:
    """Thread-safe: what is kept is never changed.

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
        self._options, self._metric = scoring.options, scoring.reward_metric(task)
        self._gold_key: Callable[[object], Hashable] | None = None
        self._gold_with_taxa: Callable[[object, object], Hashable] | None = None
        self._judged: Callable[..., Judged]
        if kernel.gold_key is not None and not scoring.job.details:  # those repeat gold
            self._gold_key = resolve(kernel.gold_key)
            if kernel.gold_with_taxa is not None and kernel.judged is not None:
                self._gold_with_taxa, self._judged = resolve(kernel.gold_with_taxa), resolve(kernel.judged)
        self._rows: dict[Hashable, _Rows] = {}
        self._n_rows = 0
        self._claims: dict[tuple[Hashable, Claim], Score] = {}

    def kept(self, answer: object, response: str, question: object) -> Score:
        """The score of one response, of which nothing may be changed: it may be that of others."""
        try:
            try:
                found = self._reader.find(self._kernel, response)
            except Exception as error:
                tell(f"the kernel that reads {self._name}", error)
                found = None  # the task's extractor is asked
            key = None
            if type(found) is int:
                if self._gold_key is not None:
                    key = self._gold_key(answer)
                    row = self._rows.get(key, _NONE).get(found)
                    if row is not None:
                        return row
            elif type(found) is tuple and self._gold_with_taxa is not None:
                gold = self._gold_with_taxa(answer, question)
                if gold is not None:
                    row = self._claims.get((gold, found))
                    return self._claimed(gold, found) if row is None else row
            return self._scored(answer, response, question, found, key)
        except Exception as error:
            return failed(Record(0, None, self._name, answer, response, question), error)

    def kept_all(self, answers: list[Any], responses: list[str], questions: list[Any] | None) -> list[Score]:
        """`kept` of responses, in their order; gold may be JSON text."""
        if len(responses) <= FEW:
            # less than what is looked up for all of them together
            asked = [None] * len(responses) if questions is None else questions
            return [
                self.kept(once_decoded(answer) if type(answer) is str else answer, response, question)
                for answer, response, question in zip(answers, responses, asked, strict=True)
            ]
        try:
            all_found: Sequence[Found] = self._reader.find_all(self._kernel, responses)
        except Exception as error:
            # something that spoils them all: each is left to the task's extractor
            tell(f"the kernel that reads {self._name}", error)
            all_found = [None] * len(responses)
        # rollouts share gold, as a text or as an object, which lives as long as the list
        ids = answers if set(map(type, answers)) == {str} else [*map(id, answers)]
        golds: dict[Any, Any] = dict(zip(ids, answers, strict=True))
        for one, gold in golds.items():
            if type(gold) is str:
                golds[one] = once_decoded(gold)
        key_of = self._gold_key
        keys = dict.fromkeys(golds) if key_of is None else {one: key_of(gold) for one, gold in golds.items()}
        kept = {one: self._rows.get(key, _NONE) for one, key in keys.items()}
        rows: list[Any] = [
            kept[one].get(found) if type(found) is int else None
            for one, found in zip(ids, all_found, strict=True)
        ]
        with_taxa: dict[Any, Hashable] = {}
        for at in [at for at, row in enumerate(rows) if row is None]:
            answer, response, found = golds[ids[at]], responses[at], all_found[at]
            question = None if questions is None else questions[at]
            try:
                if type(found) is tuple and self._gold_with_taxa is not None:
                    about = ids[at], id(question)
                    gold = with_taxa.get(about)
                    if gold is None:
                        gold = with_taxa[about] = self._gold_with_taxa(answer, question)
                    if gold is not None:
                        row = self._claims.get((gold, found))
                        rows[at] = self._claimed(gold, found) if row is None else row
                        continue
                key = keys[ids[at]]
                if type(found) is int:  # another of these may have had it meanwhile
                    rows[at] = self._rows.get(key, _NONE).get(found)
                if rows[at] is None:
                    rows[at] = self._scored(answer, response, question, found, key)
            except Exception as error:
                rows[at] = failed(Record(0, None, self._name, answer, response, question), error)
        return rows

    def _claimed(self, gold: Hashable, found: Claim) -> Score:
        """The row of an answer with taxa, which is kept: rollouts of a prompt often give the same."""
        correct, metrics, vote, pred = self._judged(gold, *found, self._options)
        value = correct if self._metric == "correct" else metrics.get(self._metric)
        reward = None if value is None else float(value)
        row = Score(0, None, self._name, 0, "ok", correct, reward, metrics, None, vote, pred)
        if len(self._claims) >= MOST_ROWS:
            self._claims = {}
        self._claims[gold, found] = row
        return row

    def _scored(self, answer: object, response: str, question: object, found: Found, key: Hashable) -> Score:
        """The row of what has been found in a response, by its task; that of a number is kept."""
        said = self._reader.meaning(self._kernel, found)
        record = Record(0, None, self._name, answer, response, question)
        score = self._scoring.score_read(self._task, record, said)
        if key is not None and score.status in SCORED and self._n_rows < MOST_ROWS and type(found) is int:
            self._rows.setdefault(key, {})[found] = score
            self._n_rows += 1
        return score


_NONE: Final[_Rows] = {}


def own(row: Score, at: int = 0) -> Score:
    """A copy of a row that may be somebody else's too, for its caller to keep."""
    return Score(
        at,
        None,
        row.task,
        0,
        row.status,
        row.correct,
        row.reward,
        row.metrics.copy(),
        row.error,
        row.vote,
        row.pred,
    )
