"""Texts that kernels judge where they are asked for, a task at a time.

No record is made, and no outcome where the same answer has been held against the same gold before: its row is
kept, and who only reads gets that. What a `relfast.tasks.modules.TextJudge` cannot read takes the ordinary
way (`relfast.engine.scoring`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from relfast.json_text import is_plain, once_decoded
from relfast.records import Outcome, Record, Score
from relfast.tasks import TASKS
from relfast.tasks.base import Task
from relfast.tasks.modules import MAX_TEXTS, TextJudge
from relfast.tasks.options import AllOptions

MAX_CHARS: Final = 1_000_000
"""Longest response that is judged."""

MAX_MOLECULES: Final = 20_000
"""Most characters of molecules that a response may name to be judged in the host: 1,000 of them, some
5 ms."""


Failed = Callable[[str, Exception], None]


def own(row: Score, index: int = 0, id: Any = None, sample: int = 0) -> Score:
    """A copy of a row that may be somebody else's too, for its caller to keep."""
    return Score(
        index,
        id,
        row.task,
        sample,
        row.status,
        row.correct,
        row.reward,
        row.metrics.copy(),
        row.error,
        row.vote,
        row.pred,
    )


class JudgedTexts:
    """Texts of one task. Thread-safe.

    Parameters
    ----------
    open_judge
        Gives an empty judge. The first one is ``judge``.
    failed
        Told of a judge that fails, and why.
    """

    def __init__(
        self, task: Task, judge: TextJudge, open_judge: Callable[[], TextJudge | None], failed: Failed
    ) -> None:
        self._name, self._can_hang = task.name, task.can_hang
        self._judge, self._open, self._failed = judge, open_judge, failed

    def kept(self, answer: object, response: str, question: object) -> Score | None:
        """The row of one response, which may be that of others too: nothing in it may be changed. None where
        it takes the ordinary way.

        Parameters
        ----------
        answer
            Gold, or the text that holds it.
        """
        if type(answer) is str:
            answer = once_decoded(answer)
        judge = self._judge
        gold = judge.gold(answer, question)
        if gold < 0 and judge.is_full:
            judge = self._renew()
            gold = judge.gold(answer, question)
        if gold < 0 or len(response) > MAX_CHARS or (self._can_hang and not is_plain(answer)):
            return None
        try:
            return judge.one(gold, response)
        except UnicodeEncodeError:
            return None
        except Exception as error:
            self._failed(f"the kernel that reads {self._name}", error)
            return None

    def rows(self, records: Sequence[Record]) -> list[Score | None]:
        """The rows of records of the task, in order; None for those that take the ordinary way."""
        kept = self.kept_all(
            [record.answer for record in records],
            [record.response for record in records],
            [record.question for record in records],
        )
        return [
            None if row is None else own(row, record.index, record.id, record.sample)
            for row, record in zip(kept, records, strict=True)
        ]

    def kept_all(
        self, answers: Sequence[object], responses: Sequence[object], questions: Sequence[object] | None
    ) -> list[Score | None]:
        """`kept` of many responses, in order; what is no text takes the ordinary way."""
        rows: list[Score | None] = []
        for first in range(0, len(responses), MAX_TEXTS):
            some = slice(first, first + MAX_TEXTS)
            rows += self._kept_some(
                answers[some], responses[some], None if questions is None else questions[some]
            )
        return rows

    def _kept_some(
        self, answers: Sequence[object], responses: Sequence[object], questions: Sequence[object] | None
    ) -> list[Score | None]:
        judge = self._renew() if self._judge.is_full else self._judge
        golds: list[int] = []
        texts: list[str] = []
        places: list[int] = []
        known: object = None
        about: object = None
        gold = -1
        for at, (answer, response) in enumerate(zip(answers, responses, strict=True)):
            question = None if questions is None else questions[at]
            if at == 0 or answer is not known or question is not about:
                known, about = answer, question  # most often those of the rollout before it
                given = once_decoded(answer) if type(answer) is str else answer
                gold = judge.gold(given, question)
                if gold >= 0 and self._can_hang and not is_plain(given):
                    gold = -1
            if gold >= 0 and type(response) is str and len(response) <= MAX_CHARS:
                golds.append(gold)
                texts.append(response)
                places.append(at)
        found = self._kept_texts(judge, golds, texts) if texts else []
        if len(found) == len(responses):
            return found
        rows: list[Score | None] = [None] * len(responses)
        for at, row in zip(places, found, strict=True):
            rows[at] = row
        return rows

    def _kept_texts(self, judge: TextJudge, golds: Sequence[int], texts: Sequence[str]) -> list[Score | None]:
        try:
            return judge.many(golds, texts)
        except UnicodeEncodeError:
            if len(texts) == 1:
                return [None]
            return [self._kept_texts(judge, [g], [t])[0] for g, t in zip(golds, texts, strict=True)]
        except Exception as error:
            self._failed(f"the kernel that reads {self._name}", error)
            return [None] * len(texts)

    def _renew(self) -> TextJudge:
        """Begin with an empty judge; who is at work with the old one goes on with it."""
        new = self._open()
        assert new is not None, "there was one before"
        self._judge = new
        return new


class Judges:
    """The judges of a job, opened at first use where their kernels are there, or some seconds after they have
    come (`relfast_kernels.compiled.native.find`). Thread-safe.

    Parameters
    ----------
    row_of
        Makes the row of a task's outcome, without a place.
    known
        Called for each text whose answer was judged before.
    longest
        Most characters of molecules that a response may name to be judged.
    failed
        Told of what fails, and why; it is left to the ordinary way.
    shows
        Whether rows have what was read.
    """

    def __init__(
        self,
        options: AllOptions,
        row_of: Callable[[Task, Outcome], Score],
        *,
        known: Callable[[], object] = lambda: None,
        longest: int = MAX_MOLECULES,
        failed: Failed | None = None,
        shows: bool = True,
    ) -> None:
        self._options, self._row_of, self._known = options, row_of, known
        self._longest, self._failed, self._shows = longest, failed or tell, shows
        self.found: dict[str, JudgedTexts] = {}

    def of(self, name: str) -> JudgedTexts | None:
        """That of a task; None where its texts take the ordinary way."""
        found = self.found.get(name)
        task = TASKS.get(name)
        if found is not None or task is None or task.of_texts is None:
            return found
        row_of = partial(self._row_of, task)
        open_judge = partial(task.text_judge, self._options, row_of, self._known, self._longest, self._shows)
        judge = open_judge()
        if judge is None:
            return None
        # of several threads that come here at once the first one's counts
        return self.found.setdefault(name, JudgedTexts(task, judge, open_judge, self._failed))


_told_of: Final[set[str]] = set()


def tell(what: str, error: Exception) -> None:
    """Log that ``what`` (one of a few texts) failed and the ordinary way was taken; once a process.

    No warning, which may be turned into an error: what is scored does not suffer.
    """
    if what in _told_of:
        return
    _told_of.add(what)
    import logging  # loads for as long as a thousand lines take, and is hardly ever needed

    logging.getLogger("relfast").warning(
        "relfast: %s failed (%s: %.200s); such responses are scored the ordinary way, to the same scores but"
        " slower. Please report it. (Said once.)",
        what,
        type(error).__name__,
        error,
    )
