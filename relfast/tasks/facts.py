"""What a task says of itself: metrics, gold, the numbers kernels know it by, its own tables (`base.Task`)."""

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
    """A task whose responses `relfast_kernels.text` scores by itself.

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
    strict_gold
        The function that writes gold of a joined record as ``strict`` compares it: ``(answer, question) ->
        answer``, the same object where it is compared as it is written.
    least
        The option that is the smallest measure of a right answer under ``strict``.
    """

    number: int
    details: str
    metrics: str | None = None
    strict_gold: str | None = None
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
        The function ("module:function") that makes `ShownTable` of them.
    """

    name: str
    by: tuple[str, ...]
    sums: tuple[str, ...]
    aggregate: str
    tables: str | None = None


class ShownTable(NamedTuple):
    """A table of texts; the first column is left-aligned, the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def is_int(value: Any) -> TypeGuard[int]:
    """Whether a JSON value is a whole number; true and false are not."""
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
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value), type(value).__name__)


def shown(value: Any) -> str:
    """A value as messages show it: JSON, cut to 60 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # keys that are no text, integers of thousands of digits, nesting without end
        return kind_of(value)
    # a lone surrogate cannot be printed: "?" instead
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= 60 else text[:57] + "..."


def check_label(answer: Mapping[str, Any], allowed: tuple[str, str]) -> Iterator[Problem]:
    """What is wrong with the ``label`` of gold, which must be one of the two ``allowed`` words."""
    if "label" not in answer:
        yield Problem("answer.label", "missing")
    elif answer["label"] not in allowed:
        words = " or ".join(f'"{label}"' for label in allowed)
        yield Problem("answer.label", f"must be {words}, not {shown(answer['label'])}")
