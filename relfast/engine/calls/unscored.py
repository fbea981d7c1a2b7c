"""What a response without a score is worth (``on_error``), and what a caller is told once: why there is none,
which question ``strict`` needs and does not get, how many responses have no answer in a documented form.

The reward of a response without a score depends on what is at fault. A response that exceeds its deadline
or crashes its workers has failed by itself: under ``strict`` it gets the lowest reward of its task. If it
were left out of training instead, a model would learn to hang where it does not know the answer. Failures
of the machinery or the data (broken gold, no workers, an interrupted call) say nothing about the response:
the reward is what ``on_error`` says.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, Final, cast

from relfast.engine.job import OnError, Unscored
from relfast.errors import UnscoredError, UsageError
from relfast.parameters import number_of
from relfast.records import Policy, Score, fault_of
from relfast.tasks import TASKS, find_task

_KINDS: Final = ("response", "machinery")


def checked_on_error(on_error: object) -> OnError:
    """``on_error``, checked and with numbers as floats. Raises `UsageError` for any other value."""
    if isinstance(on_error, Mapping):
        unknown = sorted(map(str, on_error.keys() - set(_KINDS)))
        if unknown:
            raise UsageError(f"on_error has no kind {unknown[0]!r}; kinds: response, machinery")
        kinds = {kind: _checked(on_error[kind]) for kind in _KINDS if kind in on_error}
        return cast(OnError, kinds)
    return _checked(on_error)


def _checked(value: object) -> Unscored:
    if value is None or value == "raise":
        return cast(Unscored, value)
    number = number_of(value)
    if number is None:
        raise UsageError(
            f"on_error must be None, a number, 'raise', or a mapping of these by kind, not {value!r:.60}"
        )
    return number


def value_of(score: Score, on_error: OnError, policy: Policy) -> float | None:
    """The reward of a score, or the value that ``on_error`` gives if it has none.

    Raises
    ------
    UnscoredError
        The score has no reward, and ``on_error`` is ``"raise"`` for this kind of failure.
    """
    if score.reward is not None:
        return score.reward
    kinds = worths(on_error, policy)
    worth = kinds[fault_of(score) or "machinery"]
    if worth == LOWEST:
        task = find_task(score.task)
        worth = kinds["machinery"] if task is None else task.lowest_reward
    if isinstance(worth, str):
        raise UnscoredError(score.task, score.status, score.error["message"] if score.error else "no reward")
    return worth


LOWEST: Final = "lowest"
"""Placeholder for the lowest reward of the task."""


def worths(on_error: OnError, policy: Policy) -> dict[str, float | str | None]:
    """The reward of a response without a score, for each kind of failure (``response``, ``machinery``)."""
    kinds: dict[str, Any] = {"machinery": None}
    kinds |= on_error if isinstance(on_error, Mapping) else {"machinery": on_error}
    return {"response": LOWEST if policy == "strict" else kinds["machinery"], **kinds}


_log: Final = logging.getLogger("relfast")

_OURS: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep


class Needs:
    """Warns, once for each task, if a question is missing that ``strict`` looks at. Thread-safe, except that
    two threads may give the same warning at the same time.

    Parameters
    ----------
    policy
        The policy of scoring; only ``strict`` needs questions.
    where
        Words for the warning that say where the caller should pass the question.
    """

    def __init__(self, policy: Policy, where: str) -> None:
        self._strict, self._where = policy == "strict", where
        self._settled: set[str] = set()

    def look(self, task: str | None, answer: Any, question: object) -> None:
        """Warn if a record's score depends on a question that was not passed."""
        if task in self._settled or not self._strict or (isinstance(question, str) and question):
            return
        if task is None or task not in TASKS:
            return
        needs = TASKS[task].strict_needs
        if isinstance(answer, Mapping) and any(answer.get(key) is not None for key in needs):
            return
        self._settled.add(task)
        if needs:
            warnings.warn(
                f"relfast: {task} came without its question, which strict looks at: without it the same"
                f" response can be worth less. Pass it {self._where}. (Said once for {task}.)",
                stacklevel=level_of_caller(),
            )


class Formless:
    """Among the first scored responses, counts those without a final answer in a documented form, and logs
    the number once.

    A reward of 0 looks the same for a wrong answer and for one that was not found. If the prompt asks for no
    form, the model would be trained on the second. Calls with a single response are counted together.

    Parameters
    ----------
    policy
        The policy of scoring; only ``strict`` accepts documented forms alone.
    """

    FIRST: Final = 64
    """Number of responses after which it logs; the batch that reaches the number is counted as a whole."""

    def __init__(self, policy: Policy) -> None:
        self._lock = threading.Lock()
        self._seen = 0
        self._of_task: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self.is_settled = policy != "strict"

    def count(self, scores: Sequence[Score]) -> None:
        """Count the scores of a call; the call that reaches `FIRST` logs."""
        with self._lock:
            if self.is_settled:
                return
            for score in scores:
                self._seen += score.correct is not None
                if score.status == "no_answer" and score.task is not None:
                    self._of_task[score.task] += 1
                    self._reasons[str(score.metrics.get("reason") or "no_answer")] += 1
            self.is_settled = self._seen >= self.FIRST
        if self.is_settled and self._of_task:
            _log.warning("relfast: %s", self.sentence)

    @property
    def sentence(self) -> str:
        """The log message: how many responses, why, which forms are accepted, where these are documented."""
        why = ", ".join(f"{reason} {n}" for reason, n in self._reasons.most_common())
        tasks = "; ".join(f"{name}: {TASKS[name].forms}" for name in self._of_task)
        return (
            f"{self._of_task.total()} of {self._seen} responses had no final answer in a documented form"
            f" ({why}): docs/strict.md. Looked for: {tasks}"
        )


def log_unscored(score: Score, gold: object, at: int = 0) -> None:
    """Log why response ``at`` of a call has no score, once for each kind of cause and task in a process."""
    error = score.error or {"type": score.status, "message": "no reward"}
    kind = error["type"], score.task
    if kind in _told or len(_told) >= MAX_KINDS:
        return
    _told.add(kind)
    known = f"; tasks: {', '.join(TASKS)}" if error["type"] == "UnknownTask" else ""
    _log.warning(
        "relfast: %s: response %d of a call has no score (%s): %.200s%s. Its gold is %.200r. (Said once.)",
        score.task or "no task",
        at,
        score.status,
        error["message"],
        known,
        gold,
    )


MAX_KINDS: Final = 100
"""Most kinds of causes that a process logs; a run has few."""

_told: Final[set[tuple[Any, ...]]] = set()


def level_of_caller() -> int:
    """The ``stacklevel`` with which the calling function's warning names the user's code, not relfast's."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    return level
