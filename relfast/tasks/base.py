"""What a task is: all that is known of a benchmark outside its own folder.

Engine, statistics, validation and signature ask a `Task` and name no benchmark themselves. What it points to
is a dotted name, loaded at first use; `relfast.tasks.modules` says which functions are there.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from relfast.errors import UsageError
from relfast.records import Options, Outcome, Policy, Record
from relfast.tasks.facts import REASON, Breakdown, Gold, Metric, Problem, TextKernel
from relfast.tasks.prompting import AS_IT_STANDS, Prompt
from relfast.tasks.prompting import resolve as resolve

if TYPE_CHECKING:
    # what a command that scores never asks for is not loaded with the table
    from relfast.tasks.display import Display
    from relfast.tasks.modules import BlindStrategy, Generator, KernelScorer, TaskScorer
    from relfast.tasks.seqbench.walk import Walk


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
        (`relfast.parameters`). Its ``about`` is the help of ``relfast generate``; where it says
        ``parallel``, the generator takes a number of ``workers``. Both can be left out.
    can_hang
        Scoring a record can hang or crash (RDKit): each is scored on its own, under a guard. Other tasks'
        records are scored in batches.
    embeds
        Scoring runs an embedding model, in steps that share the work of several records.
    text_kernel
        How the kernel that reads lines of JSON knows the task; None: it does not.
    kernels
        Its `KernelScorer` ("module:class"), if it has one.
    loads
        Modules that scoring imports at some record, by dotted name, and functions ("module:function") that
        load the machine code that it cannot do without.
    packages
        Distributions whose versions can change a score; part of the signature.
    breakdown
        The table behind its own aggregates.
    blind
        A mapping ("module:NAME") of name → `BlindStrategy`: constants and leaks that earn something without
        an answer (`relfast.audit`).
    forms
        What ``strict`` looks for in a response, in words: "a box, a tag, a label or a line with 1 to 8".
    prompts
        How its records are put to a model; the first is the default.
    mock
        The function ("module:function") that stands in for a model: ``(row, luck) -> str``, right or wrong by
        chance. It sees gold.
    shown
        The `Display` ("module:NAME") of what a report shows of its rows beside what all tasks have.
    row_fields
        Members of the input row that scoring looks at (`relfast.records.Record.row`).
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
    text_kernel: TextKernel | None = None
    kernels: str | None = None
    loads: tuple[str, ...] = ()
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
        """The module that scores, imported when it is first asked for."""
        return cast("TaskScorer", importlib.import_module(self.module))

    def score(self, records: Sequence[Record], options: Any) -> list[Outcome]:
        """Outcomes of records of this task, in order. Raises what its scorer raises."""
        batch = [(record, self.scorer.extract(record, options)) for record in records]
        return self.scorer.score(batch, options)

    def open_kernels(
        self, options: Options, *, shows: bool = True, longest: int = sys.maxsize
    ) -> KernelScorer | None:
        """Its `KernelScorer` without golds; None where it has none, or options or missing machine code do not
        allow it."""
        if self.kernels is None:
            return None
        kernels = cast("type[KernelScorer]", resolve(self.kernels))
        return kernels.open(self, options, shows=shows, longest=longest)

    def say(self, outcome: Outcome) -> str | None:
        """The answer that was read, as text of at most `MAX_SAID` characters; None where there is none."""
        if not outcome.found or not outcome.details:
            return None  # nothing was read, or it is a row's template, which stands for many answers
        # the scorer's ``said`` gives the answer in details as text where it is not ``pred``
        write = getattr(self.scorer, "said", None)
        said = outcome.details.get("pred") if write is None else write(outcome.details)
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
        for name in (self.module, *self.loads):
            importlib.import_module(name.partition(":")[0])

    def load(self) -> None:
        """Load the scorer and what it needs, so that no record pays for it."""
        self.import_modules()
        for name in self.loads:
            if ":" in name:
                resolve(name)()

    @cached_property
    def source(self) -> Generator:
        """The module that generates records.

        Raises
        ------
        UsageError
            There is none.
        """
        if self.generator is None:
            raise UsageError(
                f"{self.name} has no published generator; its records can be scored, not generated"
            )
        return cast("Generator", importlib.import_module(self.generator))

    def blind_strategies(self) -> Mapping[str, BlindStrategy]:
        """Ways to answer without solving, by name."""
        if self.blind is None:
            return {}
        return cast("Mapping[str, BlindStrategy]", resolve(self.blind))

    def default_reward(self, policy: Policy) -> str:
        """The metric that is the reward unless a run says another."""
        if policy == "strict" and self.strict_reward_metric is not None:
            return self.strict_reward_metric
        return self.reward_metric

    @property
    def reward_metrics(self) -> tuple[str, ...]:
        """The names ``--reward`` accepts for this task."""
        numeric = (m.name for m in self.metric_objects if m.kind != "label" and not m.optional)
        return ("correct", *numeric)
