"""What the rules of ``strict`` look at beside gold and response; a call that lacks it is told of, once."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from types import FrameType
from typing import Any, Final

from relfast.records import Policy
from relfast.tasks import TASKS

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


def level_of_caller() -> int:
    """``stacklevel`` for the function that called this, so that the warning names code that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    return level
