"""Types with which a task describes its part of a report: axes, published tables, exhibits of a response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from relfast.records import Options, Record


@dataclass(frozen=True, slots=True)
class Axis:
    """A size of a problem, such as the number of molecules, by which a report groups rows.

    Attributes
    ----------
    name
        Key of the size in `Measures.sizes`.
    label
        Text beside the figure's axis: "number of molecules".
    edges
        Lower edges of the published bins after the first: ``(20, 40)`` is <20, 20-40, >=40. Without edges
        every value is a bin of its own.
    words
        The values of the axis are words, not numbers.
    """

    name: str
    label: str
    edges: tuple[float, ...] = ()
    words: bool = False

    def bin(self, value: float) -> str:
        """The published name of the bin that holds a value: ``20-40``."""
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
        Column header, as published.
    metrics
        Metrics that are added up per row; ``correct`` is the row's field, ``no_answer`` its status.
    of
        Count only rows with this class of gold (`Measures.gold`).
    decimals
        Number of decimals, as published.
    each
        The sum is divided by this number as well as by the number of rows.
    """

    header: str
    metrics: tuple[str, ...] = ("correct",)
    of: str | None = None
    decimals: int = 3
    each: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """A published table with one row per model and value of ``axis`` (None: one row per model).

    ``binned``: one row per published bin, not per value. ``count``: a column shows the number of rows.
    """

    title: str
    axis: str | None
    axis_header: str
    columns: tuple[Column, ...]
    binned: bool = False
    count: bool = True


def verdict_columns(yes: str, no: str) -> tuple[Column, ...]:
    """Columns of the paper's notebooks: accuracy, accuracy by class of gold, and share without an answer."""
    return (
        Column("Accuracy"),
        Column("Acc_Yes", of=yes),
        Column("Acc_No", of=no),
        Column("No_Response", ("no_answer",)),
    )


class Measures(NamedTuple):
    """A record's sizes, one value per axis, and the class of its gold (None if gold has no classes)."""

    sizes: dict[str, float | str]
    gold: str | None = None


@dataclass(frozen=True, slots=True)
class Display:
    """A task's part of a report.

    Attributes
    ----------
    completion
        Metrics whose mean is the task's completion rate, as its document defines it; () means ``correct``.
    shown
        Metrics that figures plot along the axes beside ``correct`` and completion.
    axes
        The sizes of the task's problems.
    measure
        "module:function": ``(Record, metrics of the row) -> Measures``. If the report has no dump of the
        run, the record has only its id.
    layouts
        The published tables that can be rebuilt from rows and sizes.
    mistake
        "module:function": ``(metrics, gold class or None) -> str``: names the kind of mistake of a wrong row
        that has an answer, in a few words. None: the task has only one kind.
    exhibit
        "module:function": ``(Shown) -> Exhibit``: explains one response on the page.
    exhibits
        Maximum number of exhibits of a run on the page: each takes time and space.
    columns
        Numeric metrics whose values are kept for every row, because ``section`` needs them.
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
    """A response to show on a page: its record and its score. ``strict``: it was scored under that policy."""

    record: Record
    correct: bool | None
    metrics: dict[str, Any]
    strict: bool
    embedder: str = "auto"

    @property
    def answer(self) -> Mapping[str, Any]:
        """The record's gold; empty if the gold is not an object."""
        return self.record.answer if isinstance(self.record.answer, Mapping) else {}

    @property
    def options(self) -> Options:
        """Default options with the policy under which the response was scored."""
        return Options(policy="strict" if self.strict else "reference")


class Mark(NamedTuple):
    """A labelled span of a response, characters begin:end."""

    begin: int
    end: int
    label: str = "answer"


class Drawing(NamedTuple):
    """An SVG that relfast made (no styles, no scripts; all text escaped) with its caption."""

    svg: str
    caption: str
    kind: Literal["", "good", "bad", "missed", "odd"] = ""


class Group(NamedTuple):
    """Drawings under a title.

    ``rest`` names what is not drawn. ``wide``: one drawing per row of the page; ``large``: two per row;
    ``folded``: the group is closed at first. ``asked``: it shows the prompt, the same for every response.
    """

    title: str
    drawings: tuple[Drawing, ...]
    note: str = ""
    rest: str = ""
    wide: bool = False
    large: bool = False
    folded: bool = False
    asked: bool = False


class Listing(NamedTuple):
    """A table of texts with a title."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What a page shows for one response beside its texts. ``why``: one sentence on why it is wrong."""

    marks: tuple[Mark, ...] = ()
    why: str = ""
    groups: tuple[Group, ...] = ()
    listings: tuple[Listing, ...] = ()
