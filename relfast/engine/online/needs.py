"""What a trainer is told of once: questions that ``strict`` needs, responses whose form it does not know."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, Final

from relfast.records import Policy, Score
from relfast.tasks import TASKS

_log: Final = logging.getLogger("relfast")

_OURS: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep


class Needs:
    """Warns once a task. Thread-safe, but for a warning that two threads may give at the same time.

    Parameters
    ----------
    policy
        What is scored under; only ``strict`` has needs.
    where
        Where the caller should put a question, in words.
    """

    def __init__(self, policy: Policy, where: str) -> None:
        self._strict, self._where = policy == "strict", where
        self._settled: set[str] = set()

    def look(self, task: str | None, answer: Any, question: object) -> None:
        """Warn if a record's score depends on a question that is not here."""
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
    """Counts the first responses that had no final answer in a documented form, and logs how many, once.

    A reward of 0 looks the same for a wrong answer and for one that was not found; a prompt that asks for no
    form would train on the second. Calls of one sample count together.

    Parameters
    ----------
    policy
        What is scored under; only ``strict`` reads documented forms alone.
    """

    FIRST: Final = 64
    """As many responses as are looked at, and the rest of the batch with the last of them."""

    def __init__(self, policy: Policy) -> None:
        self._lock = threading.Lock()
        self._seen = 0
        self._of_task: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self.is_settled = policy != "strict"

    def count(self, scores: Sequence[Score]) -> None:
        """Look at the scores of a call; the one that completes `FIRST` logs."""
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
        """How many, why, what was looked for, and where that is written down."""
        why = ", ".join(f"{reason} {n}" for reason, n in self._reasons.most_common())
        tasks = "; ".join(f"{name}: {TASKS[name].forms}" for name in self._of_task)
        return (
            f"{self._of_task.total()} of {self._seen} responses had no final answer in a documented form"
            f" ({why}): docs/strict.md. Looked for: {tasks}"
        )


def level_of_caller() -> int:
    """``stacklevel`` for the function that called this, so that the warning names code that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    return level
