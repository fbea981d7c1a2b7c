"""The functions that every benchmark's modules have.

A benchmark is a folder of this package. The scorer, the module a `Task` names has

``extract(record, options) -> Extracted``
    Total: any response gives an `Extracted`. No third-party engine, linear time.
``score(batch, options) -> list[Outcome]``
    Same length and order as the batch; a batch gives exactly what its records give one by one.

A task whose kernels hold texts against gold has a `KernelScorer` beside it.

and the generator module has ``generate(task, n, seed, *, tell, **parameters) -> Iterator[dict]``,
whose keywords are the fields of the task's ``parameters``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from relfast.deadlines import Deadlines
from relfast.records import Batch, Extracted, Options, Outcome, Record

if TYPE_CHECKING:
    import random

    from relfast.tasks.base import Task


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


class KernelScorer(ABC):
    """Kernels that score texts of one task, wherever they come from; what they leave is the scorer's. They
    neither hang nor crash. Safe to use from several threads.

    Parameters
    ----------
    shows
        Whether outcomes have details, and those of equal answers are one. Not so in files: few answers come
        again there, and to keep 10,000 of them costs a seventh of REL-C3's time.
    longest
        Texts whose answers have more characters are left.
    """

    @classmethod
    @abstractmethod
    def open(cls, task: Task, options: Any, *, shows: bool, longest: int) -> Self | None:
        """One without golds; None where options or missing machine code do not allow it."""

    @property
    @abstractmethod
    def is_full(self) -> bool:
        """Whether there may be no room for the golds of `MAX_TEXTS` texts more; it is time for a new one."""

    @abstractmethod
    def prepare(self, answer: object, question: object) -> int:
        """The number of a gold, asked with a question; -1 where only the scorer can say, and without room."""

    @abstractmethod
    def score(self, golds: Sequence[int], texts: Sequence[str]) -> list[Outcome | None]:
        """Outcomes of texts, at most `MAX_TEXTS`, each against the gold of its number; None for what is left
        to the scorer. An outcome may be that of many texts: nothing in it may be changed.

        Raises
        ------
        UnicodeEncodeError
            A text has a lone surrogate.
        """


MAX_TEXTS = 64
"""Texts that a `KernelScorer` is given at once."""


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
