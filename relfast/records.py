"""The data that flows: a `Record` comes in, a task makes an `Outcome` of it, a `Score` goes out.

Nothing here knows a benchmark; everything here is plain data and cheap to make by the million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, NamedTuple, Self, TypeVar, get_args

from relfast.parameters import Choice, Flag, Marks, parameter, parameters_of
from relfast.plain import Plain

Place = tuple[int, int]
"""A record's place in the run: line index and sample."""

Policy = Literal["reference", "strict"]
Status = Literal["ok", "no_answer", "invalid_record", "timeout", "crashed"]

POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
STATUSES: Final[tuple[Status, ...]] = ("ok", "no_answer", "invalid_record", "timeout", "crashed")
SCORED: Final = frozenset({"ok", "no_answer"})
"""The statuses whose rows carry a score; every other row has ``correct`` and ``reward`` null."""


@dataclass(frozen=True)
class Options:
    """What decides a score in every task. Part of the signature and of the check on resume.

    A task with options of its own declares them in a subclass (``options.py`` of its folder), which is what
    its functions take; `relfast.tasks.options.AllOptions` holds those of all tasks.
    """

    policy: Policy = parameter(
        "reference",
        Choice(POLICIES),
        "Published scores, bug for bug; or their holes closed.",
        shown=False,
    )
    strip_reasoning: bool = parameter(
        False,
        Flag(),
        "Drop <think>…</think> before extraction.",
        shown=False,
    )

    reasoning: tuple[tuple[str, str], ...] = parameter(
        (),
        Marks(),
        "Marks of reasoning beside the known ones, such as '<cot>…</cot>'; of strict and --strip-reasoning.",
        repeat=True,
        shown=False,
    )

    @property
    def strict(self) -> bool:
        """Whether the policy is ``strict``."""
        return self.policy == "strict"

    def within(self, timeout: float) -> Self:
        """A copy for records with a deadline of ``timeout`` seconds (0: none)."""
        decided = {p.name: p.within(timeout) for p in parameters_of(type(self)) if p.within is not None}
        return replace(self, **decided)


@dataclass(slots=True, eq=False)
class SharedGold:
    """What records of equal gold, question and row have in common; ``made`` is what their task has made of
    that, for the next one."""

    made: Any = None


@dataclass(slots=True, repr=False, eq=False)
class Record(Plain):
    """One response to score.

    ``index`` is the 0-based line number in the run, ``sample`` the place among the samples of one prompt.
    ``task`` is a canonical name of `relfast.tasks.TASKS`. ``answer`` is the record's gold, ``response``
    whatever stood in the dump (text if all is well), ``row`` the whole input row for tasks whose gold
    is spread over it (SeqBench, ReAlign), or None. ``shared`` is one object for records whose gold, question
    and row are known to be equal.
    """

    index: int
    id: Any
    task: str
    answer: Any
    response: Any
    question: Any = None
    sample: int = 0
    row: Mapping[str, Any] | None = None
    shared: SharedGold | None = field(default=None, compare=False, repr=False)

    def unscored(self, status: Status, kind: str, message: str) -> Score:
        """Its row without a score."""
        return unscored(self.index, self.id, self.task, self.sample, status, kind, message)


T = TypeVar("T")


@dataclass(slots=True, repr=False, eq=False)
class Extracted(Plain, Generic[T]):
    """What a response says, before it is held against gold.

    Attributes
    ----------
    value
        The answer in the task's own form.
    found
        Whether anything in the response could be read as an answer; without it the row is ``no_answer``.
    reason
        Under ``strict``, the code of why a response was turned down, else None.
    error
        The response has a type that the published scorer fails on; the row is ``invalid_record``.
    """

    value: T
    found: bool = True
    reason: str | None = None
    error: str | None = None


@dataclass(slots=True, repr=False, eq=False)
class Outcome(Plain):
    """What a task says of one record.

    ``metrics`` are the published scorer's keys without the texts, ``details`` its texts (``pred``,
    ``gold``, …). ``error`` is the published error message of unusable gold or response: such a record
    is not scored. ``vote`` (maj@k) is equal for responses that give the same answer: a text, or a number
    from 2 to 2³²−1 in tasks whose answers a kernel reads. ``row`` is the engine's: the row of an outcome
    that several responses have, without a place.
    """

    correct: bool
    metrics: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    found: bool = True
    error: str | None = None
    error_type: str = "InvalidGold"
    vote: str | int | None = None
    row: Score | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, repr=False, eq=False)
class Score(Plain):
    """One row of the output. ``correct`` and ``reward`` are None unless ``status`` is ok or no_answer.

    ``pred`` is the answer as it was read, as text (`relfast.tasks.base.Task.say`); None without an answer.
    It is no part of the row.
    """

    index: int
    id: Any
    task: str | None
    sample: int
    status: Status
    correct: bool | None
    reward: float | None
    metrics: dict[str, Any]
    error: dict[str, str] | None = None
    vote: str | int | None = None
    pred: str | None = None

    def to_row(self) -> dict[str, Any]:
        """The row of the output file, keys in the contract's order."""
        return {
            "index": self.index,
            "id": self.id,
            "task": self.task,
            "sample": self.sample,
            "status": self.status,
            "correct": self.correct,
            "reward": self.reward,
            "metrics": self.metrics,
            "error": self.error,
        }


def unscored(
    record_index: int, record_id: Any, task: str | None, sample: int, status: Status, kind: str, message: str
) -> Score:
    """A row without a score: what went wrong, in one line."""
    message = " ".join(message.split())[:500]
    return Score(
        record_index, record_id, task, sample, status, None, None, {}, {"type": kind, "message": message}
    )


TRUNCATED: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "max_length", "MAX_TOKENS"}
)
"""Reasons of servers for having stopped before the model did."""


class ResponseFacts(NamedTuple):
    """Facts of one response; None where the dump does not say.

    Attributes
    ----------
    characters
        Of the response as it stands in the dump, reasoning that is part of it included.
    reasoning_characters
        Of the reasoning: what the dump keeps apart, else what the text has between the known marks.
    tokens, reasoning_tokens
        As the server counted them: tokens of the whole completion, and those of them that are reasoning.
    finish_reason
        The server's own word.
    """

    characters: int | None = None
    reasoning_characters: int | None = None
    tokens: int | None = None
    reasoning_tokens: int | None = None
    finish_reason: str | None = None

    @property
    def truncated(self) -> bool | None:
        """Whether it was cut off; None if unknown."""
        return None if self.finish_reason is None else self.finish_reason in TRUNCATED


Batch = Sequence[tuple[Record, Extracted[Any]]]
"""What a task scores at once: records with what was extracted from their responses."""
