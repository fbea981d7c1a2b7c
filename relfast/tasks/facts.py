"""The parts of a `relfast.tasks.base.Task`: its metrics, form of gold, text kernel and tables; and checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeGuard


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
    strict_gold
        The function that rewrites gold in the form that ``strict`` compares: ``(answer, question) ->
        answer``. It returns the same object if nothing needs to change.
    least
        Name of the option that is the smallest score of a right answer under ``strict``: ``b1_min_f1``.
    """

    number: int
    details: str
    metrics: str | None = None
    strict_gold: str | None = None
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
