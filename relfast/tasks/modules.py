"""The interfaces that the modules of a benchmark implement.

A benchmark is a folder of this package. Its scorer, the module that `Task.module` names, has two functions:

``extract(record, options) -> Extracted``
    Reads the answer from a response, whatever it is; never raises. Linear time, no third-party engine.
``score(batch, options) -> list[Outcome]``
    Same length and order as the batch; scoring a batch gives the same outcomes as scoring record by record.

A task whose kernels can compare responses with gold has a `KernelScorer` as well.

Its generator, the module that `Task.generator` names, has ``generate(task, n, seed, *, tell, **parameters) ->
Iterator[dict]``; the keywords are the fields of `Task.parameters`.
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
        """The answer that a record's response gives; never raises, whatever the response is."""

    def score(self, batch: Batch, options: Options) -> list[Outcome]:
        """One outcome for each pair of record and extracted answer, in order."""


class EmbeddingTaskScorer(TaskScorer, Protocol):
    """The module that scores a task with ``embeds``."""

    def score_within(self, batch: Batch, options: Options, deadlines: Deadlines) -> list[Outcome | None]:
        """Like ``score``, but charges the time to ``deadlines``; None for a record whose time is up."""


class KernelScorer(ABC):
    """Scores texts of one task with kernels, whether they come from a file or a call. A text for which the
    kernels return None goes to the task's `TaskScorer`. Kernels neither hang nor crash. Thread-safe.

    Parameters
    ----------
    shows
        Outcomes have details, and equal answers share one cached outcome. False for files: they seldom repeat
        an answer, and caching 10,000 answers costs a seventh of REL-C3's time.
    longest
        Maximum characters of an answer; longer ones are left to the `TaskScorer`.
    """

    @classmethod
    @abstractmethod
    def open(cls, task: Task, options: Any, *, shows: bool, longest: int) -> Self | None:
        """A new scorer without golds; None if the options rule it out or machine code is missing."""

    @property
    @abstractmethod
    def is_full(self) -> bool:
        """Whether there may be no room for the golds of another `MAX_TEXTS` texts: open a new scorer then."""

    @abstractmethod
    def prepare(self, answer: object, question: object) -> int:
        """Store a gold with its question and return its number for `score`; -1 if the kernels cannot use this
        gold or have no room."""

    @abstractmethod
    def score(self, golds: Sequence[int], texts: Sequence[str]) -> list[Outcome | None]:
        """The outcomes of at most `MAX_TEXTS` texts, each compared with the gold of the same place in
        ``golds`` (numbers from `prepare`); None for a text that the `TaskScorer` must score. Several texts
        may share an outcome, so callers must not change it.

        Raises
        ------
        UnicodeEncodeError
            A text has a lone surrogate.
        """


MAX_TEXTS = 64
"""Maximum texts in one call of `KernelScorer.score`."""


class Generator(Protocol):
    """The module that generates a task's records. It calls ``tell`` with a message when a step takes long."""

    def generate(
        self, task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        """``n`` records of a task; equal seeds and parameters give equal records.

        Raises
        ------
        UsageError
            A parameter has a value that cannot be used.
        """


BlindStrategy = Callable[[Mapping[str, Any], "random.Random"], str]
"""Makes a response from random numbers and a record without gold (``id``, ``task``, ``question``)."""
