"""Kernels score responses right in the calling thread, without a worker, and give rows.

No `Record` is made. Responses with the same outcome share one row object, for callers that only read rows.
Responses that a `relfast.tasks.base.KernelScorer` leaves undecided are scored the ordinary way
(`relfast.engine.columns.scoring`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from relfast.json_text import is_plain, once_decoded
from relfast.records import Outcome, Record, Score
from relfast.tasks import TASKS, AllOptions
from relfast.tasks.base import MAX_TEXTS, KernelScorer, Task

MAX_CHARS: Final = 1_000_000
"""Longest response that kernels score."""

MAX_MOLECULES: Final = 20_000
"""Most characters that the molecules in a response may have together, if kernels are to score it in the
caller's process: some 1,000 molecules, which take about 5 ms."""


Failed = Callable[[str, Exception], None]
"""Called with a description of the kernel work that failed, and its exception."""


class KernelScoring:
    """Scores responses with the kernels of a job's tasks. Thread-safe.

    Parameters
    ----------
    row_of
        Makes the row of a task's outcome (`relfast.engine.columns.scoring.Scoring.row_of`).
    known
        Called whenever an outcome's row exists already, for tasks that can hang: counts reused scores.
    shows, longest
        See `relfast.tasks.base.KernelScorer`.
    failed
        Called when a kernel raises; the responses are then scored the ordinary way.
    """

    def __init__(
        self,
        options: AllOptions,
        row_of: Callable[..., Score],
        *,
        known: Callable[[], object] = lambda: None,
        shows: bool = True,
        longest: int = MAX_CHARS,
        failed: Failed,
    ) -> None:
        self._options, self._row_of, self._known = options, row_of, known
        self._shows, self._longest, self._failed = shows, longest, failed
        self._scorers: dict[str, KernelScorer] = {}

    def of(self, name: str) -> KernelScorer | None:
        """The kernel scorer of a task; None if its texts must be scored the ordinary way. It is opened at
        first use, or some seconds after its kernels are compiled (`relfast_kernels.compiled.native.find`)."""
        return self._scorers.get(name) or self._begin(name)

    def _begin(self, name: str) -> KernelScorer | None:
        """Open a kernel scorer without golds, in place of the task's present one; threads that are using the
        present one keep it until they are done."""
        task = TASKS.get(name)
        if task is None:
            return None
        scorer = task.open_kernels(self._options, shows=self._shows, longest=self._longest)
        if scorer is not None:
            self._scorers[name] = scorer
        return scorer

    def kept(self, name: str, answer: object, response: str, question: object) -> Score | None:
        """The row of one response to a task, possibly shared with other responses: it must not be changed.
        None if the response must be scored the ordinary way.

        Parameters
        ----------
        answer
            Gold, or its JSON text.
        """
        scorer = self.of(name)
        if scorer is None:
            return None
        if type(answer) is str:
            answer = once_decoded(answer)
        gold = scorer.prepare(answer, question)
        if gold < 0 and scorer.is_full and (scorer := self._begin(name)) is not None:
            gold = scorer.prepare(answer, question)
        task = TASKS[name]
        if gold < 0 or len(response) > MAX_CHARS or (task.can_hang and not is_plain(answer)):
            return None
        outcome = self._outcomes(name, scorer, (gold,), (response,))[0]
        return None if outcome is None else self._row(task, outcome)

    def rows(self, name: str, records: Sequence[Record]) -> list[Score | None]:
        """The rows of records of a task, in order; None for those to be scored the ordinary way."""
        outcomes = self._all_outcomes(
            name,
            [record.answer for record in records],
            [record.response for record in records],
            [record.question for record in records],
        )
        row_of = self._own_row if self._shows else self._row_of
        task = TASKS[name]
        return [
            None if outcome is None else row_of(task, outcome, record)
            for outcome, record in zip(outcomes, records, strict=True)
        ]

    def _own_row(self, task: Task, outcome: Outcome, record: Record) -> Score:
        return self._row(task, outcome).own(record)

    def kept_all(
        self,
        name: str,
        answers: Sequence[object],
        responses: Sequence[object],
        questions: Sequence[object] | None,
    ) -> list[Score | None]:
        """`kept` for many responses, in order; None also for responses that are no text."""
        task = TASKS[name]
        outcomes = self._all_outcomes(name, answers, responses, questions)
        return [None if outcome is None else self._row(task, outcome) for outcome in outcomes]

    def _all_outcomes(
        self,
        name: str,
        answers: Sequence[object],
        responses: Sequence[object],
        questions: Sequence[object] | None,
    ) -> list[Outcome | None]:
        """The outcomes of responses to a task, in pieces of `MAX_TEXTS`; None for those the kernels leave."""
        outcomes: list[Outcome | None] = [None] * len(responses)
        can_hang = TASKS[name].can_hang
        for first in range(0, len(responses), MAX_TEXTS):
            scorer = self.of(name)
            if scorer is not None and scorer.is_full:
                scorer = self._begin(name)
            if scorer is None:
                break
            golds: list[int] = []
            texts: list[str] = []
            places: list[int] = []
            last_answer: object = None
            last_question: object = None
            gold = -1
            for at in range(first, min(first + MAX_TEXTS, len(responses))):
                answer, response = answers[at], responses[at]
                question = None if questions is None else questions[at]
                if at == first or answer is not last_answer or question is not last_question:
                    # rollouts of one prompt mostly follow each other
                    last_answer, last_question = answer, question
                    given = once_decoded(answer) if type(answer) is str else answer
                    gold = scorer.prepare(given, question)
                    if gold >= 0 and can_hang and not is_plain(given):
                        gold = -1
                if gold >= 0 and type(response) is str and len(response) <= MAX_CHARS:
                    golds.append(gold)
                    texts.append(response)
                    places.append(at)
            found = self._outcomes(name, scorer, golds, texts) if texts else ()
            for at, outcome in zip(places, found, strict=True):
                outcomes[at] = outcome
        return outcomes

    def _outcomes(
        self, name: str, scorer: KernelScorer, golds: Sequence[int], texts: Sequence[str]
    ) -> list[Outcome | None]:
        try:
            return scorer.score(golds, texts)
        except UnicodeEncodeError:
            if len(texts) == 1:
                return [None]
            return [self._outcomes(name, scorer, [g], [t])[0] for g, t in zip(golds, texts, strict=True)]
        except Exception as error:
            self._failed(f"the kernel that reads {name}", error)
            return [None] * len(texts)

    def _row(self, task: Task, outcome: Outcome) -> Score:
        row = outcome.row
        if row is None:
            row = outcome.row = self._row_of(task, outcome)
        elif task.can_hang:
            self._known()
        return row


_told_of: Final[set[str]] = set()


def tell(what: str, error: Exception) -> None:
    """Log that ``what`` (one of a few texts) failed and the ordinary way was taken; once a process.

    This is logged rather than warned, since warnings can be turned into errors, and no score suffers.
    """
    if what in _told_of:
        return
    _told_of.add(what)
    import logging  # its import takes as long as scoring a thousand lines, and is hardly ever needed

    logging.getLogger("relfast").warning(
        "relfast: %s failed (%s: %.200s); such responses are scored the ordinary way, to the same scores but"
        " slower. Please report it. (Said once.)",
        what,
        type(error).__name__,
        error,
    )
