"""What a report shows of a task beside what all tasks have: facts of the task, of which the report asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from relfast.records import Options, Record


@dataclass(frozen=True, slots=True)
class Axis:
    """A size of a problem, along which rows are counted.

    Attributes
    ----------
    name
        Key in what `Display.measure` gives.
    label
        As it stands beside a figure: "number of molecules".
    edges
        Lower ends of the published bins after the first: ``(20, 40)`` is <20, 20-40, >=40. Without it every
        value is one.
    words
        Its values are words, not numbers.
    """

    name: str
    label: str
    edges: tuple[float, ...] = ()
    words: bool = False

    def bin(self, value: float) -> str:
        """The published name of the bin that a value is in."""
        above = sum(value >= edge for edge in self.edges)
        if above == 0:
            return f"<{self.edges[0]:g}"
        if above == len(self.edges):
            return f">={self.edges[-1]:g}"
        return f"{self.edges[above - 1]:g}-{self.edges[above]:g}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a published table: the mean of a sum of metrics.

    Attributes
    ----------
    header
        As published.
    metrics
        Metrics that are added up; ``correct`` is the row's own field, ``no_answer`` its status.
    of
        Only of rows with this class of gold (`Measures.gold`).
    decimals
        As published.
    each
        What the sum is divided by beside the number of rows.
    """

    header: str
    metrics: tuple[str, ...] = ("correct",)
    of: str | None = None
    decimals: int = 3
    each: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """A published table: a row a model and a value of an axis (None: a row a model).

    ``binned`` rows are the axis' published bins. ``count`` says whether the number of rows is a column.
    """

    title: str
    axis: str | None
    axis_header: str
    columns: tuple[Column, ...]
    binned: bool = False
    count: bool = True


def verdict_columns(yes: str, no: str) -> tuple[Column, ...]:
    """Accuracy, also by the class of gold, and rows without an answer, as the paper's notebooks have them."""
    return (
        Column("Accuracy"),
        Column("Acc_Yes", of=yes),
        Column("Acc_No", of=no),
        Column("No_Response", ("no_answer",)),
    )


class Measures(NamedTuple):
    """What a record says of its size: a value an axis, and the class of its gold (None: gold has none)."""

    sizes: dict[str, float | str]
    gold: str | None = None


@dataclass(frozen=True, slots=True)
class Display:
    """A task's part of a report.

    Attributes
    ----------
    completion
        Metrics whose mean is the task's completion rate, as its document defines it; () is ``correct``.
    shown
        Metrics that are drawn along the axes beside ``correct`` and completion.
    axes
        The sizes of its problems.
    measure
        "module:function": ``(Record, metrics of the row) -> Measures``. Without the dump the
        record has only its id.
    layouts
        The published tables that can be rebuilt from rows and sizes.
    mistake
        "module:function": ``(metrics, gold class or None) -> str``: what kind of mistake a wrong row with an
        answer is, in a few words. None: there is one kind.
    exhibit
        "module:function": ``(Shown) -> Exhibit``, for a page of one response.
    exhibits
        How many of a run a page has at most: each takes time, and room.
    columns
        Numeric metrics whose values are kept, one a row, for ``section``.
    section
        "module:function": ``(Sequence[Scored], task name, Report) -> Section`` of `relfast.report`.
    """

    completion: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    axes: tuple[Axis, ...] = ()
    measure: str | None = None
    layouts: tuple[Layout, ...] = ()
    mistake: str | None = None
    exhibit: str | None = None
    exhibits: int = 250
    columns: tuple[str, ...] = ()
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A response to show: its record, and what scoring said of it. ``strict`` is the policy."""

    record: Record
    correct: bool | None
    metrics: dict[str, Any]
    strict: bool
    embedder: str = "auto"

    @property
    def answer(self) -> Mapping[str, Any]:
        """The record's gold; empty where it is no object."""
        return self.record.answer if isinstance(self.record.answer, Mapping) else {}

    @property
    def options(self) -> Options:
        """With the response's policy."""
        return Options(policy="strict" if self.strict else "reference")


class Mark(NamedTuple):
    """Where in a response (characters begin:end) something stands."""

    begin: int
    end: int
    label: str = "answer"


class Drawing(NamedTuple):
    """An SVG of our own making (no styles, no scripts; only text that was escaped) with its caption."""

    svg: str
    caption: str
    kind: Literal["", "good", "bad", "missed"] = ""


class Group(NamedTuple):
    """Drawings under a title; ``wide`` ones stand in a row of their own, ``large`` ones two in a row."""

    title: str
    drawings: tuple[Drawing, ...]
    note: str = ""
    wide: bool = False
    large: bool = False


class Listing(NamedTuple):
    """A table of texts."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What a page shows of one response beside its texts. ``why`` says in a sentence why it is wrong."""

    marks: tuple[Mark, ...] = ()
    why: str = ""
    groups: tuple[Group, ...] = ()
    listings: tuple[Listing, ...] = ()
