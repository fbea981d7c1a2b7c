"""The functions that every benchmark's modules have.

A benchmark is a folder of this package. The scorer, the module a `Task` names has

``extract(record, options) -> Extracted``
    Total: any response gives an `Extracted`. No third-party engine, linear time.
``score(batch, options) -> list[Outcome]``
    Same length and order as the batch; a batch gives exactly what its records give one by one.

A task whose kernels hold texts against gold has a `TextJudge` beside it.

and the generator module has ``generate(task, n, seed, *, tell, **parameters) -> Iterator[dict]``,
whose keywords are the fields of the task's ``parameters``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from relfast.deadlines import Deadlines
from relfast.records import Batch, Extracted, Options, Outcome, Record, Score

if TYPE_CHECKING:
    import random


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


class TextJudge(Protocol):
    """Scores texts of one task where they are asked for. It neither hangs nor crashes, and is safe to use
    from several threads. Rows that it gives may be those of many texts, and have no place.

    `Task.text_judge` opens one, with a function that makes the row of an outcome, and one that is called for
    each text whose answer was judged before."""

    @property
    def is_full(self) -> bool:
        """Whether there may be no room for the golds of `MAX_TEXTS` texts more; it is time for a new one."""

    def gold(self, answer: object, question: object) -> int:
        """The number of a gold, asked with a question; -1 where only the scorer can judge."""

    def one(self, gold: int, text: str) -> Score | None:
        """The row of a text against a gold, None where that is left to the scorer. The interpreter's lock is
        kept.

        Raises
        ------
        UnicodeEncodeError
            The text has a lone surrogate.
        """

    def many(self, golds: Sequence[int], texts: Sequence[str]) -> list[Score | None]:
        """The same of texts, at most `MAX_TEXTS`; raises what `one` raises."""


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


BlindStrategy = Callable[[Mapping[str, Any], "random.Random"], str]
"""A response made from a record without its gold (``id``, ``task``, ``question``) and chance."""
