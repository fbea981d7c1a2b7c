"""The data that flows: a `Record` comes in, its task scores it into an `Outcome`, a `Score` goes out.

This module knows no benchmark. Its classes are plain data, cheap to make by the million.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, Self, TypeVar, get_args

from relfast.parameters import Choice, Flag, Marks, parameter, parameters_of


class Plain:
    """The base of plain data classes: ``repr`` and ``==`` by the fields, as a dataclass has them; not
    hashable.

    `dataclasses` generates and compiles ``__init__``, ``__repr__`` and ``__eq__`` for each class, which takes
    a good part of a short run. With ``@dataclass(slots=True, repr=False, eq=False)`` a subclass compiles only
    the first, which alone is called often, and inherits the two others.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __repr__(self) -> str:
        fields = self.__dataclass_fields__
        shown = (f"{name}={getattr(self, name)!r}" for name, field in fields.items() if field.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        fields = self.__dataclass_fields__
        names = [name for name, field in fields.items() if field.compare]
        # compared as lists, as dataclasses compare tuples: identical objects (a NaN, say) count as equal
        return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]


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
    """Options that can change the score of any task. They are part of the signature and of the check on
    resume.

    A task with further options declares them in a subclass, which its functions take;
    `relfast.tasks.AllOptions` holds the options of all tasks.
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
        """A copy in which options that depend on the deadline (say, the time of a substructure search) are
        set for ``timeout`` seconds a record (0: no deadline)."""
        decided = {p.name: p.within(timeout) for p in parameters_of(type(self)) if p.within is not None}
        return replace(self, **decided)


@dataclass(slots=True, eq=False)
class SharedGold:
    """An object that records with equal gold, question and row share. Their task keeps in ``made`` what it
    prepared from them for the first record (such as a parsed maze), and in ``n_bytes`` how much memory that
    takes; it scores the next ones by ``made`` alone, and looks at their gold, question and row no more."""

    made: Any = None
    n_bytes: int = 0


@dataclass(slots=True, repr=False, eq=False)
class Record(Plain):
    """One response to score.

    ``index`` is the 0-based line number in the run, ``sample`` the place among the samples of one prompt.
    ``task`` is a canonical name of `relfast.tasks.TASKS`. ``answer`` is the gold answer. ``response`` is
    the value that the dump holds: a string, unless the dump is broken. ``row`` is the whole input row for
    tasks whose gold is spread over several fields (SeqBench, ReAlign), else None. ``shared`` is the same
    object in all records whose gold, question and row are known to be equal. ``prompt`` is that of `Score`.
    ``cut_off``: the tokens ran out before the response began.
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
    prompt: str | None = None
    cut_off: bool = False

    def unscored(self, status: Status, kind: str, message: str) -> Score:
        """The row of this record when it has no score: see `relfast.records.unscored`."""
        return Score.of(self, status, None, None, {}, _error(kind, message))


T = TypeVar("T")


@dataclass(slots=True, repr=False, eq=False)
class Extracted(Plain, Generic[T]):
    """The answer extracted from a response, before it is compared with gold.

    Attributes
    ----------
    value
        The answer, in a type that the task chooses.
    found
        Whether anything in the response could be read as an answer; if not, the row is ``no_answer``.
    reason
        Under ``strict``: the code of the rule that rejected the response, else None.
    error
        Why the published scorer fails on this response (``response is int, not text``), else None; with an
        error the row is ``invalid_record``.
    """

    value: T
    found: bool = True
    reason: str | None = None
    error: str | None = None


@dataclass(slots=True, repr=False, eq=False)
class Outcome(Plain):
    """The result of a task's scorer for one record.

    ``metrics`` holds the keys of the published scorer's result that are not texts, ``details`` those that
    are (``pred``, ``gold``, …). ``error`` is the published error message for gold or a response that cannot
    be used: such a record is not scored. ``vote`` (for maj@k) is equal for responses that give the same
    answer: a text, or a number from 2 to 2³²−1 in tasks whose answers a kernel reads. The engine sets
    ``row`` for an outcome that several responses share: their output row, without index, id and sample.
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

    ``pred`` is the extracted answer as text (`relfast.tasks.base.Task.say`), None if there is none. Neither
    ``pred`` nor ``vote`` is written to the output file. ``prompt`` is a digest of the question (or gold), in
    a file's rows whose id alone does not tell the prompt; None in others, which are written without it.
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
    prompt: str | None = None

    @classmethod
    def of(
        cls,
        record: Record,
        status: Status,
        correct: bool | None,
        reward: float | None,
        metrics: dict[str, Any],
        error: dict[str, str] | None = None,
        vote: str | int | None = None,
        pred: str | None = None,
    ) -> Score:
        """The row of a record. Every row that has a record is made here, where all that a row says about its
        record is read off it."""
        if record.cut_off and status in SCORED:
            metrics = {**metrics, CUT_OFF: True}
        return cls(
            record.index,
            record.id,
            record.task,
            record.sample,
            status,
            correct,
            reward,
            metrics,
            error,
            vote,
            pred,
            record.prompt,
        )

    def own(self, record: Record) -> Score:
        """A copy of this row, which several records of one task may share, as the row of this record."""
        return Score.of(
            record,
            self.status,
            self.correct,
            self.reward,
            self.metrics.copy(),
            self.error,
            self.vote,
            self.pred,
        )

    def to_row(self) -> dict[str, Any]:
        """The row as it stands in the output file, with its keys in the documented order, which the kernel
        that writes rows has too (`relfast_kernels.text.entries`, `relfast.engine.columns.text_rows`)."""
        return {
            "index": self.index,
            "id": self.id,
            **({} if self.prompt is None else {"prompt": self.prompt}),
            "task": self.task,
            "sample": self.sample,
            "status": self.status,
            "correct": self.correct,
            "reward": self.reward,
            "metrics": self.metrics,
            "error": self.error,
        }


CUT_OFF: Final = "cut_off"
"""A member of the ``metrics`` of rows whose response was cut off before it began: true, else not there."""


def unscored(
    index: int, id: Any, task: str | None, sample: int, status: Status, kind: str, message: str
) -> Score:
    """The row of an input that did not become a record; ``kind`` and ``message`` (made one line of 500
    characters at most) say why it has no score."""
    return Score(index, id, task, sample, status, None, None, {}, _error(kind, message))


def _error(kind: str, message: str) -> dict[str, str]:
    return {"type": kind, "message": " ".join(message.split())[:500]}


ENDINGS: Final[Mapping[str, str]] = {
    "cut_off": "length max_tokens max_output_tokens max_completion_tokens max_new_tokens max_length"
    " model_length model_context_window_exceeded context_length context_length_exceeded token_limit limit"
    " incomplete",
    "filtered": "content_filter content_filtered contentfilter filtered refusal refused safety recitation"
    " blocklist blocked prohibited_content spii image_safety image_prohibited_content model_armor sensitive"
    " moderation guardrail guardrail_intervened error_toxic toxic",
    "ended": "stop end_turn stop_sequence eos eos_token eos_token_id end_of_text complete completed finished"
    " finish normal",
}
"""What servers say about why a text ended, in lower case: the tokens ran out (``cut_off``), the model or a
filter refused (``filtered``), or the model was done (``ended``). Other words say nothing about the text."""

_ENDING_OF: Final = {word: ending for ending, words in ENDINGS.items() for word in words.split()}
_NAMESPACE: Final = re.compile(r"^(?:.*\.)?(?:finish_reason_|stop_reason_)?")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_POLICY: Final = re.compile(r"content[ _-]*(?:filter|management|policy)|usage polic", re.IGNORECASE)


@lru_cache(1 << 8)
def ending(reason: str) -> str | None:
    """Which of `ENDINGS` a finish reason means, whatever its spelling (``MAX_TOKENS``, ``maxTokens``,
    ``FinishReason.SAFETY``); also a sentence about a content policy. None for any other."""
    word = _HUMP.sub("_", reason[:200].strip()).lower().replace("-", "_").replace(" ", "_")
    found = _ENDING_OF.get(_NAMESPACE.sub("", word))
    return found or ("filtered" if _POLICY.search(reason[:2_000]) else None)


class ResponseFacts(NamedTuple):
    """Lengths of one response, and why it ended; a fact that the dump does not hold is None.

    Attributes
    ----------
    characters
        Characters of the response as it stands in the dump, including reasoning inside it.
    reasoning_characters
        Characters of the reasoning: of the dump's separate field, else of the text between known marks.
    tokens, reasoning_tokens
        As the server counted them: tokens of the whole completion, and how many of these are reasoning.
    finish_reason
        The word that the server gives (``stop``, ``length``, …).
    """

    characters: int | None = None
    reasoning_characters: int | None = None
    tokens: int | None = None
    reasoning_tokens: int | None = None
    finish_reason: str | None = None

    @property
    def truncated(self) -> bool | None:
        """Whether the response was cut off; None if unknown."""
        return None if self.finish_reason is None else ending(self.finish_reason) == "cut_off"


Batch = Sequence[tuple[Record, Extracted[Any]]]
"""What a task's scorer gets at once: records, each with the answer extracted from its response."""


TIMEOUT: Final = "Timeout"
WORKER_DIED: Final = "WorkerDied"
STOPPED: Final = "Stopped"
WORKER_KILLED: Final = "WorkerKilled"
"""Error types of rows whose record hung or crashed its worker. The first two mean that scoring the record was
the cause, the last two that the worker was stopped or killed from outside or the machine was overloaded."""

RESPONSES_FAULT: Final = frozenset({TIMEOUT, WORKER_DIED})
"""Error types of timeouts and crashes that the response itself caused."""


def fault_of(score: Score) -> Literal["response", "machinery"] | None:
    """What is at fault that a response has no score; None if it has one.

    ``machinery`` means everything but the response: gold, options, the machine, a user who stopped the run.
    """
    if score.status in SCORED:
        return None
    # the error type of an ``invalid_record`` may be any exception's name, such as "Timeout"
    kind = score.error["type"] if score.error and score.status != "invalid_record" else None
    return "response" if kind in RESPONSES_FAULT else "machinery"


Verdict = tuple[Literal["timeout", "crashed"], str, str]
"""What the row of a record that hung or crashed its worker says: status, error type, error message."""


def timed_out_verdict(timeout: float) -> Verdict:
    """The verdict on a record that took longer than ``timeout`` seconds."""
    return "timeout", TIMEOUT, f"scoring it took longer than {timeout:g} s and was stopped"
