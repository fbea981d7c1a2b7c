"""What a task is, and the three functions every room has.

A room is a folder of this package that knows one benchmark. The module a `Task` names has

``extract(record, options) -> Extracted``
    Total: any response gives an `Extracted`. No third-party engine, linear time.
``score(batch, options) -> list[Outcome]``
    Same length and order as the batch; a batch gives exactly what its records give one by one.

A room whose engine is ``chem`` may have a third,
``score_without_toolkit(batch, options) -> list[Outcome | None]``
    What can be judged without the toolkit, and so can neither hang nor crash: the same outcomes as
    ``score`` would give, None for the others.

A room whose engine is ``embed`` has
``score_within(batch, options, deadlines) -> list[Outcome | None]``
    The same as ``score`` with a `Deadlines` for the batch, which it charges for what it does; None for a
    record whose time is up. A batch that embeds takes long without hanging, so no timer can be set for it.

and the room's ``generate`` module has ``generate(task, n, seed, *, tell, **parameters) -> Iterator[dict]``,
whose keywords are the fields of the task's ``parameters``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, cast

from relfast.deadlines import Deadlines
from relfast.errors import UsageError
from relfast.records import Batch, Extracted, Options, Outcome, Policy, Record


class Room(Protocol):
    """The scoring half of a room."""

    def extract(self, record: Record, options: Options) -> Extracted[Any]: ...

    def score(self, batch: Batch, options: Options) -> list[Outcome]: ...


class EmbeddingRoom(Room, Protocol):
    """The scoring half of a room that embeds."""

    def score_within(self, batch: Batch, options: Options, deadlines: Deadlines) -> list[Outcome | None]: ...


class Generator(Protocol):
    """The generating half of a room. ``tell`` hears in words of what takes long."""

    def generate(
        self, task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
    ) -> Iterator[dict[str, Any]]: ...


class BulkGenerator(Protocol):
    """A generator that writes files itself."""

    def write_rows(
        self,
        output: str,
        n: int,
        seed: int,
        variants: Sequence[Any],
        workers: int = 1,
        *,
        overwrite: bool = False,
    ) -> int: ...


@dataclass(frozen=True)
class Task:
    """One task: its names, its metrics, and where its code is.

    Attributes
    ----------
    name
        Canonical name, as it stands in rows.
    summary
        What is asked, in one line.
    metrics
        Keys of ``metrics`` in a row, in order.
    reward_metric, strict_reward_metric
        The metric that becomes ``reward`` (``correct`` is the row's own field).
    revision
        Bumped whenever a score can change; part of the signature and of resume.
    module, generator
        Dotted names of the room's modules; loaded at first use, so that the table costs nothing.
    options
        The dataclass that declares its options; `relfast.tasks.options.AllOptions` has it among its bases.
    parameters
        The dataclass that declares what its records are generated with (`relfast.parameters`). Its ``about``
        is the help of ``relfast generate``, its ``unit`` what is counted; both can be left out.
    bulk
        Dotted name of a module whose ``write_rows`` writes a file of generated records on several cores, each
        in all of some variants, for tasks with parameters that can be given repeatedly.
    engine
        What scoring runs on: ``text`` (pure Python, safe in-process), ``chem`` (RDKit, can hang or
        crash), ``maze`` (kernel), ``embed`` (ONNX Runtime).
    kernels
        Modules of `relfast_kernels` that scoring calls and that compile at their first use.
    """

    name: str
    summary: str
    metrics: tuple[str, ...]
    reward_metric: str
    revision: int
    module: str
    engine: Literal["text", "chem", "maze", "embed"]
    kernels: tuple[str, ...] = ()
    strict_reward_metric: str | None = None
    generator: str | None = None
    options: type[Options] = Options
    parameters: type | None = None
    bulk: str | None = None
    text_metrics: tuple[str, ...] = ("reason", "violation", "maze", "quadrant")

    @cached_property
    def room(self) -> Room:
        return cast(Room, importlib.import_module(self.module))

    def load(self) -> None:
        """Load the room and its kernels (compiled where no cache has them), so that no record pays for it."""
        importlib.import_module(self.module)
        for name in self.kernels:
            importlib.import_module(f"relfast_kernels.{name}").warm_up()

    @cached_property
    def source(self) -> Generator:
        if self.generator is None:
            raise UsageError(
                f"{self.name} has no published generator; its records can be scored, not generated"
            )
        return cast(Generator, importlib.import_module(self.generator))

    @cached_property
    def bulk_source(self) -> BulkGenerator | None:
        return None if self.bulk is None else cast(BulkGenerator, importlib.import_module(self.bulk))

    def default_reward(self, policy: Policy) -> str:
        if policy == "strict" and self.strict_reward_metric is not None:
            return self.strict_reward_metric
        return self.reward_metric

    @property
    def reward_metrics(self) -> tuple[str, ...]:
        """The names ``--reward`` accepts for this task."""
        return ("correct", *(m for m in self.metrics if m not in self.text_metrics))
