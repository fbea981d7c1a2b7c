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

and the room's ``generate`` module has ``generate(task, n, seed, **parameters) -> Iterator[dict]``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, cast

from relfast.errors import UsageError
from relfast.records import Batch, Extracted, Options, Outcome, Policy, Record


class Room(Protocol):
    """The scoring half of a room."""

    def extract(self, record: Record, options: Options) -> Extracted: ...

    def score(self, batch: Batch, options: Options) -> list[Outcome]: ...


class Generator(Protocol):
    """The generating half of a room."""

    def generate(self, task: str, n: int, seed: int, **parameters: Any) -> Iterator[dict[str, Any]]: ...


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
    engine
        What scoring runs on: ``text`` (pure Python, safe in-process), ``chem`` (RDKit, can hang or
        crash), ``maze`` (kernel), ``embed`` (ONNX Runtime).
    """

    name: str
    summary: str
    metrics: tuple[str, ...]
    reward_metric: str
    revision: int
    module: str
    engine: Literal["text", "chem", "maze", "embed"]
    strict_reward_metric: str | None = None
    generator: str | None = None
    text_metrics: tuple[str, ...] = ("reason", "violation", "maze", "quadrant")

    @cached_property
    def room(self) -> Room:
        return cast(Room, importlib.import_module(self.module))

    @cached_property
    def source(self) -> Generator:
        if self.generator is None:
            raise UsageError(
                f"{self.name} has no published generator; its records can be scored, not generated"
            )
        return cast(Generator, importlib.import_module(self.generator))

    def default_reward(self, policy: Policy) -> str:
        if policy == "strict" and self.strict_reward_metric is not None:
            return self.strict_reward_metric
        return self.reward_metric

    @property
    def reward_metrics(self) -> tuple[str, ...]:
        """The names ``--reward`` accepts for this task."""
        return ("correct", *(m for m in self.metrics if m not in self.text_metrics))
