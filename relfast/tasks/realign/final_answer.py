r"""The final answer of a solution as ``strict`` reads it: what its last box, tag or label holds."""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.final_answer import last_form, undress
from relfast.tasks.realign.value import NONE, FinalAnswer, Value, same
from relfast.tasks.realign.values import value_of

_NUMBER: Final = (
    r"(?:[-−+]\s?)?(?:\\?\$\s?)?(?:\\[dct]?frac\s*\{[^{}\n]{1,40}\}\s*\{[^{}\n]{1,40}\}"
    r"|\d[\d,]*(?:\.\d+)?(?:\s?/\s?\d+)?|\.\d+)(?:\s?\\?%)?"
)
_QUANTITY: Final = re.compile(_NUMBER)
_LEADING: Final = re.compile(
    rf"[\s$*_]*({_NUMBER})[$*_]*(?=\s*[,;:(–—]?\s*[^\W\d_]{{2}})(?!\s*[,;]?\s*(?:or|and)\b)"
)
"""A number at the beginning that words follow: "4, since 2 + 2", "18 dollars a day", and not "4 or 6"."""

_BESIDE: Final = re.compile(
    r"\\f?boxed\s?\{([^{}\n]{1,200})\}[ \t$*\\\)]{0,6}(?:[,;/]|\bor\b|\band\b)[ \t$*\\(]{0,6}(?:(?:or|and)\b)?[ \t$*\\(]{0,6}$"
)
"""A box right before another one: both are values, and none is the last."""


def read_final_answer(text: str, *, reference: bool = False) -> FinalAnswer:
    """The final answer of a text.

    Parameters
    ----------
    reference
        The text is a reference: without a form its last line's last number is its answer.
    """
    text = undress(text)
    form = last_form(text)
    if form is not None:
        value = _value(form.content, whole=form.kind != "label")
        beside = _BESIDE.search(text, max(0, form.start - 300), form.start)
        if beside is not None and not reference and not same(value, value_of(beside[1])):
            return FinalAnswer(None, NONE, "several_answers")
        if value:
            return FinalAnswer(form.content, value)
    if reference:
        lines = text.strip().rsplit("\n", 1)
        numbers = _QUANTITY.findall(lines[-1])
        if numbers:
            return FinalAnswer(numbers[-1], value_of(numbers[-1].rstrip(",")))
    return FinalAnswer(None, NONE, "no_answer")


def _value(text: str, *, whole: bool) -> Value:
    value = value_of(text)
    if value.number is None and not whole and (found := _LEADING.match(text)) is not None:
        return value_of(found[1].rstrip(","))
    return value
