"""What a task is: all that is known of a benchmark outside its own folder.

Engine, statistics, validation and signature ask a `Task` and name no benchmark themselves. What it points to
is a dotted name, loaded at first use; `relfast.tasks.modules` says which functions are there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from relfast.errors import UsageError
from relfast.records import Options, Outcome, Policy
from relfast.tasks.prompting import AS_IT_STANDS, Prompt

if TYPE_CHECKING:
    # what a command that scores never asks for is not loaded with the table
    from relfast.tasks.display import Display
    from relfast.tasks.modules import (
        BlindStrategy,
        BulkGenerator,
        FastPath,
        Generator,
        TaskScorer,
        TextJudge,
    )
    from relfast.tasks.stepping import Walk


class Metric(NamedTuple):
    """One key of ``metrics`` in a row.

    Attributes
    ----------
    name
        The key.
    kind
        ``number`` and ``flag`` (true or false) are averaged; of a ``label`` its values are counted.
    higher_is_better
        None where neither is.
    undefined
        A value that says that there is nothing to average.
    optional
        Only some rows have it; such a metric is no reward.
    unsettled
        Where it is true, a clock decided the row: scoring it again may give another one.
    strict_only
        Rows have it under ``strict`` only; it can be a reward there.
    labels
        A label's values in the order in which figures show them; without it the frequent ones come first.
    """

    name: str
    kind: Literal["number", "flag", "label"] = "number"
    higher_is_better: bool | None = True
    undefined: float | None = None
    optional: bool = False
    unsettled: bool = False
    strict_only: bool = False
    labels: tuple[str, ...] = ()


REASON: Final = Metric("reason", "label", None, optional=True)
"""Every task's under ``strict``: the code of why a response was turned down."""


class Problem(NamedTuple):
    """What is wrong with a field (dotted path, "" for the record as a whole)."""

    field: str
    message: str


class Gold(NamedTuple):
    """What a task's gold looks like.

    Attributes
    ----------
    keys
        Sets of keys; an ``answer`` that has all of one set is taken for this task's where a record does not
        say. Larger sets are tried before smaller ones.
    precedence
        Whose keys are looked for first where an answer has those of several tasks: 0 comes before 1, and of
        equals the one that comes first in the table of tasks.
    exact
        Fields whose integers are compared, and so must come out of JSON with all their digits: numbers, or
        lists of them.
    domain, check, check_metadata
        For tasks with a documented record format: the ``domain`` of its records, and functions
        ("module:function") that find what is wrong with a record's ``answer`` and its ``metadata``:
        ``(object) -> Iterator[Problem]``. `relfast.validate` asks them.
    """

    keys: tuple[tuple[str, ...], ...]
    precedence: int = 1
    exact: tuple[str, ...] = ()
    domain: str | None = None
    check: str | None = None
    check_metadata: str | None = None


class TextKernel(NamedTuple):
    """A task whose lines `relfast_kernels.text` reads by itself.

    Attributes
    ----------
    number
        The task's number in the kernel's keys and samples.
    metrics
        The function ("module:function") that gives a row's metrics from what the kernel counted:
        ``(gold_is_yes, n_common, n_predicted, n_gold) -> dict``. None: a row has no metrics.
    details
        The same for the texts of ``--details``: ``(predicted, gold) -> dict`` of the numbers that the kernel
        gives them. The lists in it are empty: the kernel fills them in.
    number_of
        The function that numbers what the task's extractor says as details do, and gives its vote:
        ``(value) -> (predicted, vote)``. The kernel leaves responses to the extractors of tasks that have it.
    tables
        The module that has ``says(text) -> int`` and ``form_of(text) -> str | None`` for the kernel of the
        ``strict`` extractor; one at most.
    strict_gold
        The function that writes gold of a joined record as ``strict`` compares it: ``(answer, question) ->
        answer``, the same object where it is compared as it is written.
    value_of
        The function that says what the task's ``strict`` extractor would of a single response that the kernel
        has read: ``(number, taxa) -> value``, numbered as in details, or None where nothing was found.
        Rewards of tasks that have it ask the kernel first.
    gold_key
        The function that names what of gold decides a row under ``strict``, beside an answer that is a number
        or a word: ``(answer) -> hashable | None``, equal for gold against which equal answers have equal
        rows, and None for gold that is not as it should be. Rewards of tasks that have it are scored once for
        each such answer and each of what it names.
    gold_with_taxa
        The function that names what of gold decides a row of an answer with taxa: ``(answer, question) ->
        hashable | None``, None for gold that is not as it should be.
    judged
        The function that holds answers with taxa, as ``value_of`` gets them, against what that names, under
        ``strict``: ``(gold, number, taxa, options) -> Judged``.
    least
        The option that is the smallest measure of a right answer under ``strict``.
    """

    number: int
    details: str
    metrics: str | None = None
    number_of: str | None = None
    tables: str | None = None
    strict_gold: str | None = None
    value_of: str | None = None
    gold_key: str | None = None
    gold_with_taxa: str | None = None
    judged: str | None = None
    least: str | None = None


class Breakdown(NamedTuple):
    """A table of a task's rows by the values of some metrics, for its own aggregates.

    A run keeps the table's cells, which add up over workers and shards.

    Attributes
    ----------
    name
        Key of the aggregates in a summary.
    by
        Numbers whose values name a cell: ``"20/1/0.4"``, nothing between the slashes for null.
    sums
        Metrics that are summed up in each cell, beside its number of rows.
    aggregate
        The function ("module:function") that makes JSON-able aggregates of the cells, which it gets as
        name → [rows, *sums].
    tables
        The function ("module:function") that makes `relfast.tasks.breakdown.ShownTable` of them.
    """

    name: str
    by: tuple[str, ...]
    sums: tuple[str, ...]
    aggregate: str
    tables: str | None = None


def resolve(name: str) -> Callable[..., Any]:
    """The function that ``module:function`` names."""
    module, _, function = name.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(module), function))


MAX_SAID: Final = 1_000
"""Longest answer as text. Scores are remembered by the thousand, and a model may list without end."""


@dataclass(frozen=True, eq=False)
class Task:
    """One task: its names, its facts, and where its code is.

    Attributes
    ----------
    name
        Canonical name, as it stands in rows.
    summary
        What is asked, in one line.
    metric_objects
        What stands in ``metrics`` of a row, in order; `REASON`, which every task has, is not listed.
    reward_metric, strict_reward_metric
        The metric that becomes ``reward`` (``correct`` is the row's own field).
    lowest_reward
        What a response is worth under ``strict`` that hangs or crashes its scoring.
    strict_needs
        What the rules of ``strict`` look at beside gold and response; any of these does: ``question``, or
        keys of gold. Without it they read a response as if it had done its worst.
    revision
        Bumped whenever a score can change; part of the signature and of resume.
    module, generator
        Dotted names of the scorer and the generator; loaded at first use, so that the table costs nothing.
    gold
        What its gold looks like.
    options
        The dataclass that declares its options; `relfast.tasks.options.AllOptions` has it among its bases.
    generated_with
        The dataclass ("module:class") that declares what its records are generated with
        (`relfast.parameters`). Its ``about`` is the help of ``relfast generate``, its ``unit`` what is
        counted; both can be left out.
    bulk
        Dotted name of a module whose ``write_rows`` writes a file of generated records on several cores, each
        in all of some variants, for tasks with parameters that can be given repeatedly.
    can_hang
        Scoring a record can hang or crash (RDKit): each is scored on its own, under a guard. Other tasks'
        records are scored in batches.
    embeds
        Scoring runs an embedding model, in steps that share the work of several records.
    fast_path
        Name of a function of ``module``, see there; None: there is none.
    text_kernel
        How the kernel that reads lines of JSON knows the task; None: it does not.
    in_blocks
        The function ("module:function") that opens who judges the responses of a block's lines:
        `relfast.tasks.block_rows`.
    of_texts
        The function ("module:function") that opens its `TextJudge`:
        ``(options, threads) -> TextJudge | None``; as many threads may work for a call.
    modules
        Modules that scoring imports at some record, by dotted name.
    kernels
        Modules of `relfast_kernels` that scoring calls and that compile at their first use.
    loads
        The function ("module:function") that loads the machine code that scoring cannot do without.
    packages
        Distributions whose versions can change a score; part of the signature.
    breakdown
        The table behind its own aggregates.
    blind
        A mapping ("module:NAME") of name → `BlindStrategy`: constants and leaks that earn something without
        an answer (`relfast.audit`).
    prompts
        How its records are put to a model; the first is the one of who does not say.
    mock
        The function ("module:function") that stands in for a model: ``(row, luck) -> str``, right or wrong by
        chance. It sees gold.
    shown
        The `Display` ("module:NAME") of what a report shows of its rows beside what all tasks have.
    example
        The function ("module:function") that gives a record and the plain right response to it:
        ``() -> tuple[dict, str]``. What every task owes is tested on it where the tests have no published
        records.
    row_fields
        Members of the input row that scoring looks at (`relfast.records.Record.row`).
    said
        The function ("module:function") that gives the answer in an outcome's ``details`` as text:
        ``(details) -> str | None``; None: it is ``details["pred"]``.
    steps
        The class ("module:class") of a record as a `Walk`, ``(answer, question) -> Walk``, where it can be
        answered in steps.
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
    fast_path: str | None = None
    text_kernel: TextKernel | None = None
    in_blocks: str | None = None
    of_texts: str | None = None
    modules: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    loads: str | None = None
    packages: tuple[str, ...] = ()
    strict_reward_metric: str | None = None
    generator: str | None = None
    options: type[Options] = Options
    generated_with: str | None = None
    bulk: str | None = None
    breakdown: Breakdown | None = None
    blind: str | None = None
    prompts: tuple[Prompt, ...] = (AS_IT_STANDS,)
    mock: str | None = None
    shown: str | None = None
    example: str | None = None
    lowest_reward: float = 0.0
    strict_needs: tuple[str, ...] = ()
    row_fields: tuple[str, ...] = ()
    said: str | None = None
    steps: str | None = None

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Keys of ``metrics`` that every row has, in order."""
        return tuple(
            metric.name for metric in self.metric_objects if not (metric.optional or metric.strict_only)
        )

    @cached_property
    def metric_by_name(self) -> Mapping[str, Metric]:
        """All metrics a row can have, `REASON` too."""
        return {metric.name: metric for metric in (*self.metric_objects, REASON)}

    @cached_property
    def parameters(self) -> type | None:
        """The dataclass that ``generated_with`` names."""
        return None if self.generated_with is None else cast("type", resolve(self.generated_with))

    @cached_property
    def display(self) -> Display | None:
        """The `Display` that ``shown`` names."""
        return None if self.shown is None else cast("Display", resolve(self.shown))

    @cached_property
    def scorer(self) -> TaskScorer:
        return cast("TaskScorer", importlib.import_module(self.module))

    @cached_property
    def score_fast(self) -> FastPath | None:
        """The fast path, or None."""
        return None if self.fast_path is None else cast("FastPath", getattr(self.scorer, self.fast_path))

    @cached_property
    def _said(self) -> Callable[[Mapping[str, Any]], str | None] | None:
        return None if self.said is None else resolve(self.said)

    def text_judge(self, options: Options, threads: int = 1) -> TextJudge | None:
        """Who judges texts where they are asked for, or None."""
        if self.of_texts is None:
            return None
        return cast("TextJudge | None", resolve(self.of_texts)(options, threads))

    def say(self, outcome: Outcome) -> str | None:
        """The answer that was read, as text of at most `MAX_SAID` characters; None where there is none."""
        if not outcome.found or not outcome.details:
            return None  # nothing was read, or it is a row's template, which stands for many answers
        said = outcome.details.get("pred") if self._said is None else self._said(outcome.details)
        return said[:MAX_SAID] if isinstance(said, str) else None

    def walk(self, answer: object, question: object) -> Walk | None:
        """A record as an environment of several steps; None where a response is all there is to a task.

        Raises
        ------
        InputError
            The record cannot be walked through.
        """
        return None if self.steps is None else cast("Walk", resolve(self.steps)(answer, question))

    def problems(self, answer: Any, metadata: Any) -> Iterator[Problem]:
        """What is wrong with a record's gold and metadata, as far as they are objects that can be checked."""
        for check, value in ((self.gold.check, answer), (self.gold.check_metadata, metadata)):
            if check is not None and isinstance(value, Mapping):
                yield from resolve(check)(value)

    def import_modules(self) -> None:
        """Import all that scoring imports; compiles nothing."""
        for name in (self.module, *self.modules):
            importlib.import_module(name)

    def load(self) -> None:
        """Load the scorer and its kernels (compiled if need be), so that no record pays for it."""
        self.import_modules()
        if self.loads is not None:
            resolve(self.loads)()
        for name in self.kernels:
            importlib.import_module(f"relfast_kernels.{name}").warm_up()

    @cached_property
    def source(self) -> Generator:
        if self.generator is None:
            raise UsageError(
                f"{self.name} has no published generator; its records can be scored, not generated"
            )
        return cast("Generator", importlib.import_module(self.generator))

    @cached_property
    def bulk_source(self) -> BulkGenerator | None:
        return None if self.bulk is None else cast("BulkGenerator", importlib.import_module(self.bulk))

    def blind_strategies(self) -> Mapping[str, BlindStrategy]:
        """Ways to answer without solving, by name."""
        if self.blind is None:
            return {}
        return cast("Mapping[str, BlindStrategy]", resolve(self.blind))

    def default_reward(self, policy: Policy) -> str:
        if policy == "strict" and self.strict_reward_metric is not None:
            return self.strict_reward_metric
        return self.reward_metric

    @property
    def reward_metrics(self) -> tuple[str, ...]:
        """The names ``--reward`` accepts for this task."""
        numeric = (m.name for m in self.metric_objects if m.kind != "label" and not m.optional)
        return ("correct", *numeric)
