"""What a comparison of runs is: plain data, made by `relfast.comparison.compare`, shown by `tables`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING, Any

import relfast.comparison.tables as tables
from relfast.stats.intervals import Interval
from relfast.stats.paired import DifferenceMethod, TestMethod
from relfast.tables import html_table, signed, to_arrow, to_pandas

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def _plain(made: DataclassInstance) -> dict[str, Any]:
    """A dataclass as dictionaries and lists: an `Interval` is a list of two."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | tuple) else value

    result: dict[str, Any] = plain(asdict(made))
    return result


@dataclass(frozen=True, slots=True)
class Run:
    """One side: scored rows of one model.

    Attributes
    ----------
    name
        What it is called in tables.
    path
        File of its rows; None for rows in memory.
    signature
        Of the summary beside the rows, or None where there is none.
    rows, scored
        Rows, and those with a score.
    """

    name: str
    path: str | None
    signature: str | None
    rows: int
    scored: int


@dataclass(frozen=True, slots=True)
class Side:
    """A run's mean over the pairs of one task, with its interval (None where it has none)."""

    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Samples of a task that are no pair: they stand in one run only, or one of the two has no value of the
    metric, most often since it has no score."""

    only_a: int = 0
    only_b: int = 0
    unscored_a: int = 0
    unscored_b: int = 0
    unscored_both: int = 0
    elsewhere: int = 0
    """Samples that a third run lacks, or has no score for."""

    @property
    def total(self) -> int:
        """Samples of all kinds."""
        return sum(astuple(self))


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Run ``a`` against run ``b`` on what they have in common of a task.

    Attributes
    ----------
    task, a, b
        The task's name and the names of the runs.
    prompts, pairs
        Common prompts, and pairs of samples with a score on both sides.
    side_a, side_b
        The metric's means over these pairs.
    difference
        ``side_a.mean - side_b.mean``.
    error
        Its standard error, clustered by prompt; None with a single prompt.
    interval, interval_method
        Its interval; None with a single prompt.
    p, p_method
        Two-sided p of no difference.
    p_holm
        The same, corrected by Holm over all tasks and pairs of runs that were compared.
    wins, losses, ties
        Pairs in which ``a`` has the higher, the lower, the same value.
    gained, lost
        Pairs that only ``a`` has right, only ``b`` has right: whatever the metric.
    left_out
        What is not compared.
    """

    task: str
    a: str
    b: str
    prompts: int
    pairs: int
    side_a: Side
    side_b: Side
    difference: float
    error: float | None
    interval: Interval | None
    interval_method: DifferenceMethod
    p: float
    p_method: TestMethod
    p_holm: float
    wins: int
    losses: int
    ties: int
    gained: int
    lost: int
    left_out: LeftOut

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; keys are the fields'."""
        return _plain(self)


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair that one run has right and the other wrong.

    ``index_a`` and ``index_b`` are the rows' ``index`` in their runs; ``right`` is the name of the run that
    is right.
    """

    task: str
    id: Any
    sample: int
    a: str
    b: str
    right: str
    index_a: int
    index_b: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; keys are the fields'."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs held against each other, task by task.

    Attributes
    ----------
    metric
        ``correct``, ``reward`` or a metric of the rows.
    level
        Confidence level of all intervals.
    runs
        The runs in the order in which they were given.
    tasks
        A `TaskComparison` per pair of runs and common task.
    flips
        The first pairs that changed, at most as many as were asked for; ``n_flips`` counts all.
    notes
        What a reader of the numbers must know: differing signatures, records left out.
    """

    metric: str
    level: float
    runs: tuple[Run, ...]
    tasks: tuple[TaskComparison, ...]
    n_flips: int = 0
    flips: tuple[Flip, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[TaskComparison]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: what ``relfast compare -f json`` writes. Keys are the fields'."""
        return _plain(self)

    def to_csv(self) -> str:
        """A CSV file's text, a row per task and pair of runs; no spreadsheet takes a name in it for a
        formula."""
        return tables.to_csv(self)

    def to_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """A table for a paper (needs ``booktabs``): means with their intervals, the best in bold."""
        return tables.to_latex(self, caption, label)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of what `to_csv` holds. Raises `MissingExtraError`."""
        return to_pandas(self._columns(), "Comparison.to_pandas")

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of what `to_csv` holds. Raises `MissingExtraError`."""
        return to_arrow(self._columns(), "Comparison.to_arrow")

    def _columns(self) -> dict[str, list[Any]]:
        columns = zip(*tables.csv_rows(self), strict=True)
        return {name: list(column) for name, column in zip(tables.CSV_HEADER, columns, strict=True)}

    def __repr__(self) -> str:
        runs = ", ".join(run.name for run in self.runs)
        rows = "; ".join(
            f"{item.task}{'' if len(self.runs) == 2 else f' {item.a} − {item.b}'} {signed(item.difference)}"
            for item in self.tasks[:6]
        )
        more = f"; {len(self) - 6} more" if len(self) > 6 else ""
        return f"<Comparison of {runs} by {self.metric}: {rows}{more}>"

    def _repr_html_(self) -> str:
        return html_table(
            tables.header_of(self),
            tables.rows_of(self),
            caption=f"{self.metric}: {', '.join(run.name for run in self.runs)}",
            notes=[tables.methods(self), *self.notes],
            text_columns=tables.text_columns(self),
        )
