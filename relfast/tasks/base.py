"""`Task`: everything that the rest of relfast knows about a benchmark. Its parts (`Prompt`, `Metric`, `Gold`,
`TextKernel`, `Breakdown`) and helpers for checks of records come first.

Engine, statistics, validation and signature read a `Task` and never name a benchmark themselves. A `Task`
refers to code by dotted names, imported at first use, which implements the interfaces below.

A benchmark is a folder of this package. Its scorer, the module that `Task.module` names, has two functions:

``extract(response, options) -> Extracted``
    Reads the answer from a response, whatever it is; never raises. Linear time, no third-party engine.
``score(batch, options) -> list[Outcome]``
    Same length and order as the batch; scoring a batch gives the same outcomes as scoring record by record.

A task whose kernels can compare responses with gold has a `KernelScorer` as well.

Its generator, the module that `Task.generator` names, has ``generate(task, n, seed, *, tell, **parameters) ->
Iterator[dict]``; the keywords are the fields of `Task.parameters`.
"""

from __future__ import annotations

import importlib
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self, TypeGuard, cast

from relfast.errors import UsageError
from relfast.records import Batch, Extracted, Options, Outcome, Policy, Record

if TYPE_CHECKING:
    import random

    from relfast.support.deadlines import Deadlines

    # commands that only score never need these; the table of tasks must not import them
    from relfast.tasks.display import Display
    from relfast.tasks.seqbench.walk import Walk


PLACEHOLDER: Final = "{question}"
"""The placeholder for a record's question in a prompt's text."""


def resolve(name: str) -> Callable[..., Any]:
    """Import the function (or other object) named by ``module:function``."""
    module, _, function = name.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(module), function))


@dataclass(frozen=True, slots=True)
class Prompt:
    """One wording of a task's questions.

    Attributes
    ----------
    name, version
        Recorded with a run's outputs; the version is bumped whenever the wording changes.
    build
        The function ("module:function") that makes the prompt, ``(question, row) -> str``. None: the question
        itself is the prompt.
    text
        A template that contains `PLACEHOLDER`; used instead of ``build`` if a prompt only adds fixed words.
    """

    name: str
    version: int
    build: str | None = None
    text: str | None = None

    def words(self, question: str, row: Mapping[str, Any]) -> str:
        """The prompt sent to a model for a question; ``row`` is the question's row."""
        if self.text is not None:
            # replaced, not formatted: braces of LaTeX and JSON stand as they are
            return self.text.replace(PLACEHOLDER, question)
        if self.build is None:
            return question
        return str(resolve(self.build)(question, row))

    @property
    def shown(self) -> str:
        """Name and version, ``seqbench-few-shot 1``; for a user's own prompt, its name and digest."""
        if self.text is None or self.version:
            return f"{self.name} {self.version}"
        import hashlib

        return f"{self.name} sha256:{hashlib.sha256(self.text.encode()).hexdigest()[:16]}"

    @classmethod
    def own(cls, name: str, text: str) -> Prompt:
        """A prompt from a user's own template text.

        Raises
        ------
        UsageError
            The text does not contain `PLACEHOLDER`.
        """
        if PLACEHOLDER not in text:
            raise UsageError(f"{name}: a prompt needs {PLACEHOLDER} in the place of the record's question")
        return cls(name, 0, text=text)

    @classmethod
    def boxed(cls, version: int, sentence: str) -> Prompt:
        """The question followed by a sentence that asks for an answer form that ``strict`` reads."""
        return cls(BOXED, version, text=f"{PLACEHOLDER}\n\n{sentence}")

    @property
    def sentence(self) -> str | None:
        """The sentence that `boxed` adds to a question; None for other prompts."""
        return self.text.removeprefix(f"{PLACEHOLDER}\n\n") if self.name == BOXED and self.text else None


BOXED: Final = "boxed"
"""The name of every task's prompt that asks for a marked form: ``--prompt boxed``."""

AS_IT_STANDS: Final = Prompt("question", 1)
"""The question alone. The questions of REL's records are complete prompts, the published ones."""


class Metric(NamedTuple):
    """One key of ``metrics`` in a row.

    Attributes
    ----------
    name
        The key.
    kind
        ``number`` and ``flag`` (true or false) are averaged; the values of a ``label`` are counted.
    higher_is_better
        None if neither higher nor lower is better.
    undefined
        The value that means "undefined" and is left out of averages.
    optional
        Only some rows have the metric; it cannot be a reward.
    unsettled
        A row in which this flag is true was decided by a time limit: scoring it again may give another row.
    strict_only
        Rows have the metric only under ``strict``, where it can be a reward.
    labels
        A label's values in the order of figures; without this, the most frequent come first.
    beside, lacks
        A number or flag that every scored row has, and a note on those that have null here: what it means and
        what to do.
    """

    name: str
    kind: Literal["number", "flag", "label"] = "number"
    higher_is_better: bool | None = True
    undefined: float | None = None
    optional: bool = False
    unsettled: bool = False
    strict_only: bool = False
    labels: tuple[str, ...] = ()
    beside: str = ""
    lacks: str = ""


REASON: Final = Metric("reason", "label", None, optional=True)
"""The metric that every task has under ``strict``: the code that says why a response was rejected."""


class Problem(NamedTuple):
    """An error in a field of a record; ``field`` is a dotted path, "" for the record as a whole."""

    field: str
    message: str


class Gold(NamedTuple):
    """The form of a task's gold answers.

    Attributes
    ----------
    keys
        Sets of keys. If a record names no task, an ``answer`` with all keys of one set is taken to be this
        task's. Larger sets are tried before smaller ones.
    precedence
        Order in which tasks are tried if an answer has the keys of several: 0 before 1; tasks of equal
        precedence in the order of the table of tasks.
    exact
        Fields whose integers (or lists of integers) are compared and so must be decoded from JSON with all
        their digits.
    domain, check, check_metadata
        For tasks with a documented record format: the ``domain`` of its records, and functions
        ("module:function") that check a record's ``answer`` and its ``metadata``:
        ``(object) -> Iterator[Problem]``. `relfast.validate` calls them.
    """

    keys: tuple[tuple[str, ...], ...]
    precedence: int = 1
    exact: tuple[str, ...] = ()
    domain: str | None = None
    check: str | None = None
    check_metadata: str | None = None


class TextKernel(NamedTuple):
    """Settings of a task whose responses the kernels of `relfast_kernels.text` score completely.

    Attributes
    ----------
    number
        The task's number in the kernel's result keys and samples.
    metrics
        The function ("module:function") that makes a row's metrics from the kernel's counts:
        ``(gold_is_yes, n_common, n_predicted, n_gold) -> dict``. None: rows have no metrics.
    details
        The function that makes the texts of ``--details`` from the kernel's codes: ``(predicted, gold) ->
        dict``. Lists in the dict are empty: the kernel itself writes them.
    least
        Name of the option that is the smallest score of a right answer under ``strict``: ``b1_min_f1``.
    """

    number: int
    details: str
    metrics: str | None = None
    least: str | None = None


class Breakdown(NamedTuple):
    """A task's rows grouped by the values of some metrics; the task's own aggregates come from these cells.

    A run keeps the cells, whose counts and sums add up over workers and shards.

    Attributes
    ----------
    name
        Key of the aggregates in a summary.
    by
        Metrics whose values name a cell: ``"20/1/0.4"``; null is written as nothing between the slashes.
    sums
        Metrics that are summed in each cell, beside the number of its rows.
    aggregate
        The function ("module:function") that makes JSON-able aggregates from the cells, a mapping of
        cell name → [rows, *sums].
    tables
        The function ("module:function") that makes `ShownTable` objects from the same cells.
    """

    name: str
    by: tuple[str, ...]
    sums: tuple[str, ...]
    aggregate: str
    tables: str | None = None


class ShownTable(NamedTuple):
    """A table of texts with a title; the first column is left-aligned, the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def agreement(common: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """Precision, recall and F1 of a set of predictions, from counts; 0 where undefined."""
    precision = common / n_pred if n_pred else 0.0
    recall = common / n_gold if n_gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def is_int(value: Any) -> TypeGuard[int]:
    """Whether a JSON value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def kind_of(value: Any) -> str:
    """The JSON type of a value, in words: "a list"."""
    return _KINDS.get(type(value), type(value).__name__)


def shown(value: Any) -> str:
    """A value as error messages show it: as JSON, cut to 60 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # keys that are not text, integers of thousands of digits, endless nesting
        return kind_of(value)
    # a lone surrogate cannot be printed: "?" instead
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= 60 else text[:57] + "..."


def check_label(answer: Mapping[str, Any], allowed: tuple[str, str]) -> Iterator[Problem]:
    """Check that the ``label`` of gold is one of the two ``allowed`` words; yield what is wrong."""
    if "label" not in answer:
        yield Problem("answer.label", "missing")
    elif answer["label"] not in allowed:
        words = " or ".join(f'"{label}"' for label in allowed)
        yield Problem("answer.label", f"must be {words}, not {shown(answer['label'])}")


MAX_SAID: Final = 1_000
"""Maximum characters of `Task.say`: scores are cached by the thousand, and a model may list endlessly."""


class TaskScorer(Protocol):
    """The module that scores a task."""

    def extract(self, response: Any, options: Any) -> Extracted[Any]:
        """The answer that a response gives; never raises, whatever it is."""

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
        ``golds`` (numbers from `prepare`); None for a text that the `TaskScorer` must score, without a
        reason. Several texts may share an outcome, so callers must not change it.

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


@dataclass(frozen=True, eq=False)
class Task:
    """One task: its name, its properties, and the dotted names of its code.

    Attributes
    ----------
    name
        Canonical name, as written in rows: ``REL-A1``.
    summary
        The question that the task asks, in one line.
    metric_objects
        The metrics in a row's ``metrics``, in order. `REASON`, which every task has, is not listed.
    reward_metric, strict_reward_metric
        The metric that becomes ``reward``; ``correct`` means the row's field of that name.
    lowest_reward
        Under ``strict``, the reward of a response that makes its scoring hang or crash.
    strict_needs
        Extra inputs of the ``strict`` rules beside gold and response: ``question``, or keys of gold. One of
        them is enough. If a record has none, the rules assume the worst about its response.
    revision
        Bumped whenever a score can change; part of the signature, and checked on resume.
    module, generator
        Dotted names of the scorer and the generator; imported at first use, so that the table costs nothing.
    gold
        The keys and the form of the task's gold answers.
    options
        The dataclass that declares the task's options; a base of `relfast.tasks.AllOptions`.
    generated_with
        The dataclass ("module:class") that declares the generator's parameters (`relfast.parameters`). Its
        optional ``about`` is the help of ``relfast generate``; its optional ``parallel`` says that the
        generator takes a number of ``workers``.
    can_hang
        Scoring a record can hang or crash (RDKit): each record is scored alone, under a guard. Records of
        other tasks are scored in batches.
    embeds
        Scoring runs an embedding model, in steps that share the work of several records.
    text_kernel
        The task's entry in the kernel that scores lines of JSON; None if that kernel does not know the task.
    kernels
        The task's `KernelScorer` ("module:class"), if it has one.
    loads
        Modules that scoring imports lazily, by dotted name, and functions ("module:function") that load
        machine code without which the task cannot be scored.
    plain_seconds, making_seconds
        What scoring, or generating, a record takes longer where a unit of kernels is missing: (unit, CPU
        seconds) pairs, measured. By them a command decides whether to compile it first.
    packages
        Distributions whose versions can change a score; part of the signature.
    breakdown
        The table of counts from which the task's own aggregates in a summary are computed.
    blind
        A mapping ("module:NAME") of name → `BlindStrategy`: constant or leaked responses that may earn reward
        without solving anything (`relfast.audit`).
    forms
        The answer forms that ``strict`` reads, in words: "a box, a tag, a label or a line with 1 to 8".
    prompts
        The prompts that can wrap the task's questions; the first is the default.
    mock
        The function ("module:function") that stands in for a model: ``(row, luck) -> str``, right or wrong by
        chance. It sees gold.
    shown
        The `Display` ("module:NAME"): what a report shows for this task beside what all tasks have.
    row_fields
        Members of the input row that scoring reads (`relfast.records.Record.row`).
    steps
        For tasks that can be played step by step: the class ("module:class") that makes an environment of a
        record, ``(answer, question) -> Walk``.
    """

    name: str
    summary: str
    metric_objects: tuple[Metric, ...]
    reward_metric: str
    revision: int
    module: str
    gold: Gold
    can_hang: bool = False
    embeds: bool = False
    text_kernel: TextKernel | None = None
    kernels: str | None = None
    loads: tuple[str, ...] = ()
    plain_seconds: tuple[tuple[str, float], ...] = (("text", 0.0005),)
    making_seconds: tuple[tuple[str, float], ...] = ()
    packages: tuple[str, ...] = ()
    strict_reward_metric: str | None = None
    generator: str | None = None
    options: type[Options] = Options
    generated_with: str | None = None
    breakdown: Breakdown | None = None
    blind: str | None = None
    forms: str = "a box, a tag, a label or a line that is the answer"
    prompts: tuple[Prompt, ...] = (AS_IT_STANDS,)
    mock: str | None = None
    shown: str | None = None
    lowest_reward: float = 0.0
    strict_needs: tuple[str, ...] = ()
    row_fields: tuple[str, ...] = ()
    steps: str | None = None

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The keys of ``metrics`` that every row of this task has, in order."""
        return tuple(
            metric.name for metric in self.metric_objects if not (metric.optional or metric.strict_only)
        )

    @cached_property
    def metric_by_name(self) -> Mapping[str, Metric]:
        """All metrics that a row can have, `REASON` included, by name."""
        return {metric.name: metric for metric in (*self.metric_objects, REASON)}

    @cached_property
    def parameters(self) -> type | None:
        """The dataclass of the generator's parameters, named by ``generated_with``."""
        return None if self.generated_with is None else cast("type", resolve(self.generated_with))

    @cached_property
    def display(self) -> Display | None:
        """The task's `Display`, named by ``shown``."""
        return None if self.shown is None else cast("Display", resolve(self.shown))

    @cached_property
    def scorer(self) -> TaskScorer:
        """The module that scores the task, imported at first access."""
        return cast("TaskScorer", importlib.import_module(self.module))

    def score(self, records: Sequence[Record], options: Any) -> list[Outcome]:
        """The outcomes of records of this task, in order. Raises whatever the task's scorer raises."""
        batch = [(record, self.scorer.extract(record.response, options)) for record in records]
        return self.scorer.score(batch, options)

    def open_kernels(
        self, options: Options, *, shows: bool = True, longest: int = sys.maxsize
    ) -> KernelScorer | None:
        """The task's `KernelScorer`, still without golds. None if the task has none, the options rule it out,
        or machine code is missing."""
        if self.kernels is None:
            return None
        kernels = cast("type[KernelScorer]", resolve(self.kernels))
        return kernels.open(self, options, shows=shows, longest=longest)

    def say(self, outcome: Outcome) -> str | None:
        """The answer that scoring read, as text of at most `MAX_SAID` characters; None if it read none."""
        if not outcome.found or not outcome.details:
            return None  # no answer was read, or the outcome is a template shared by many answers
        # a scorer whose details have no text ``pred`` defines ``said``, which writes the answer as text
        write = getattr(self.scorer, "said", None)
        said = outcome.details.get("pred") if write is None else write(outcome.details)
        return said[:MAX_SAID] if isinstance(said, str) else None

    def walk(self, answer: object, question: object) -> Walk | None:
        """The record as an environment of several steps; None for a task with one response per record.

        Raises
        ------
        InputError
            The record cannot be made into an environment.
        """
        return None if self.steps is None else cast("Walk", resolve(self.steps)(answer, question))

    def problems(self, answer: Any, metadata: Any) -> Iterator[Problem]:
        """What is wrong with a record's gold and metadata; values that are not objects are not checked."""
        for check, value in ((self.gold.check, answer), (self.gold.check_metadata, metadata)):
            if check is not None and isinstance(value, Mapping):
                yield from resolve(check)(value)

    def import_modules(self) -> None:
        """Import every module that scoring imports; compile nothing."""
        for name in (self.module, *self.loads):
            importlib.import_module(name.partition(":")[0])

    def load(self) -> None:
        """Load the scorer and its machine code now, so that the first record does not pay for it."""
        self.import_modules()
        for name in self.loads:
            if ":" in name:
                resolve(name)()

    @cached_property
    def generator_module(self) -> Generator:
        """The module that generates records of the task.

        Raises
        ------
        UsageError
            The task has no generator.
        """
        if self.generator is None:
            raise UsageError(
                f"{self.name} has no published generator; its records can be scored, not generated"
            )
        return cast("Generator", importlib.import_module(self.generator))

    def blind_strategies(self) -> Mapping[str, BlindStrategy]:
        """Strategies that answer without solving the question, by name."""
        if self.blind is None:
            return {}
        return cast("Mapping[str, BlindStrategy]", resolve(self.blind))

    def default_reward(self, policy: Policy) -> str:
        """The metric that is the reward under ``policy`` unless the run chooses another (``--reward``)."""
        if policy == "strict" and self.strict_reward_metric is not None:
            return self.strict_reward_metric
        return self.reward_metric

    @property
    def reward_metrics(self) -> tuple[str, ...]:
        """The metric names that ``--reward`` accepts for this task."""
        numeric = (m.name for m in self.metric_objects if m.kind != "label" and not m.optional)
        return ("correct", *numeric)
