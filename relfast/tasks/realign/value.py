"""Answers as values, and when two are one."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple


class Value(NamedTuple):
    """An answer in one spelling: a number, a list, or else a text.

    Attributes
    ----------
    number, percent
        The number as it is written, and whether a sign of percent stood beside it.
    items, kind
        The elements of a list, and its brackets where order counts ("()", "[)"), else "".
    text
        What is compared where it is neither.
    also
        What it may mean as well: "3,75" is a list or a number, "(C) 18" an option or its value.
    """

    number: Fraction | None = None
    percent: bool = False
    items: tuple[Value, ...] = ()
    kind: str = ""
    text: str = ""
    also: tuple[Value, ...] = ()

    def __bool__(self) -> bool:
        return self.number is not None or bool(self.items) or bool(self.text)


NONE: Final = Value()


class FinalAnswer(NamedTuple):
    """What a solution says in the end.

    Attributes
    ----------
    text
        As it is written, None without one.
    value
        The same to compare.
    reason
        Why there is none.
    """

    text: str | None
    value: Value
    reason: str | None = None


def same(gold: Value, pred: Value) -> bool:
    """Whether two answers are one: numbers by value, lists by elements, else by spelling.

    ``25%`` is both 25, where the question asks for percent, and 1/4.
    """
    return (
        agree(gold, pred)
        or any(agree(gold, other) for other in pred.also)
        or any(agree(other, pred) for other in gold.also)
    )


def agree(gold: Value, pred: Value) -> bool:
    if not gold or not pred:
        return False
    if gold.number is not None and pred.number is not None:
        return gold.number == pred.number or (gold.percent != pred.percent and _share(gold) == _share(pred))
    if gold.items and pred.items:
        if len(gold.items) != len(pred.items):
            return False
        if gold.kind and pred.kind:
            return gold.kind == pred.kind and all(map(same, gold.items, pred.items))
        return not (gold.kind or pred.kind) and _same_in_any_order(gold.items, list(pred.items))
    return bool(gold.text) and gold.text == pred.text


def _share(value: Value) -> Fraction:
    assert value.number is not None
    return value.number / 100 if value.percent else value.number


def _same_in_any_order(gold: tuple[Value, ...], pred: list[Value]) -> bool:
    for item in gold:
        at = next((k for k, other in enumerate(pred) if same(item, other)), None)
        if at is None:
            return False
        pred.pop(at)
    return True
