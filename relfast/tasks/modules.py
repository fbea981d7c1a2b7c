"""The functions that every benchmark's modules have.

A benchmark is a folder of this package. The scorer, the module a `Task` names has

``extract(record, options) -> Extracted``
    Total: any response gives an `Extracted`. No third-party engine, linear time.
``score(batch, options) -> list[Outcome]``
    Same length and order as the batch; a batch gives exactly what its records give one by one.

A scorer may have a fast path, a function that its `Task` names,
``(batch, options) -> list[Outcome | None]``
    What can be judged quickly and can neither hang nor crash: the same outcomes as ``score`` would give,
    None for the others.

A scorer that embeds has
``score_within(batch, options, deadlines) -> list[Outcome | None]``
    The same as ``score`` with a `Deadlines` for the batch, which it charges for what it does; None for a
    record whose time is up. A batch that embeds takes long without hanging, so no timer can be set for it.

A task whose lines' fields a kernel finds may have its responses judged by the block, without decoding them:
`relfast.tasks.block_rows`. One whose responses come as texts may have a `TextJudge`.

and the generator module has ``generate(task, n, seed, *, tell, **parameters) -> Iterator[dict]``,
whose keywords are the fields of the task's ``parameters``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from relfast.deadlines import Deadlines
from relfast.records import Batch, Extracted, Options, Outcome, Record


class TaskScorer(Protocol):
    """The module that scores a task."""

    def extract(self, record: Record, options: Options) -> Extracted[Any]:
        """The answer of a response, whatever the response is."""

    def score(self, batch: Batch, options: Options) -> list[Outcome]:
        """An outcome for each record with its extracted answer, in order."""


class EmbeddingTaskScorer(TaskScorer, Protocol):
    """The same of a task that embeds."""

    def score_within(self, batch: Batch, options: Options, deadlines: Deadlines) -> list[Outcome | None]:
        """``score`` that charges ``deadlines``; None for a record whose time is up."""


FastPath = Callable[[Batch, Options], list[Outcome | None]]


JudgedText = tuple[Any, ...]
"""What a text is worth: whether anything was found in it, whether that is right, its vote, the answer as
`relfast.tasks.base.Task.say` has it, and the values of the judge's ``metrics``."""


def judged_text(outcome: Outcome, said: str | None) -> JudgedText:
    """An outcome as `TextJudge` gives it."""
    return outcome.found, outcome.correct, outcome.vote, said, *outcome.metrics.values()


class TextJudge(Protocol):
    """Scores texts of one task where they are asked for. Safe to use from several threads."""

    metrics: tuple[str, ...]
    """Those that all of its rows have, in order."""

    @property
    def is_full(self) -> bool:
        """Whether there may be no room for the golds of `MAX_TEXTS` texts more; it is time for a new one."""

    def gold(self, answer: object) -> int:
        """The number of a gold; -1 where only the scorer can judge."""

    def judge(self, golds: Sequence[int], texts: Sequence[str]) -> tuple[list[JudgedText | None], int]:
        """What each of some texts, at most `MAX_TEXTS`, is worth against its gold, None where that is left to
        the scorer; and how many had answers that were judged before. It neither hangs nor crashes; of one
        text it keeps the interpreter's lock.

        Raises
        ------
        UnicodeEncodeError
            A text has a lone surrogate.
        """


MAX_TEXTS = 64
"""Texts that a `TextJudge` is given at once."""


class Generator(Protocol):
    """The module that generates a task's records. ``tell`` hears in words of what takes long."""

    def generate(
        self, task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        """``n`` records of a task, the same for the same seed and parameters.

        Raises
        ------
        UsageError
            A parameter cannot be used.
        """


BlindStrategy = Callable[[Mapping[str, Any], random.Random], str]
"""A response made from a record without its gold (``id``, ``task``, ``question``) and chance."""
