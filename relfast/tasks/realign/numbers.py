"""The number that a text is, with its units or not."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from relfast.tasks.realign.plain import ARTICLES
from relfast.tasks.realign.value import Value

GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:, ?\d{3})+|(?: \d{3})+)(?![\d,]*\d)")
_PLAIN_NUMBER: Final = r"(?:\d+(?:\.\d*)?|\.\d+)"
_SCALES: Final = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNIT: Final = (
    r"(?: ?%| ?[^\W\d_][^\W\d_'./-]*(?:[./'-][^\W\d_]+)*\.?(?: ?\^ ?\{? ?-?\d ?\}?)?| ?/ ?(?=[a-z]))"
)
_NUMBER: Final = re.compile(
    rf"(?P<sign>[+-]?) ?(?:(?P<whole>\d+) (?:and )?(?P<part>\d+) ?/ ?(?P<of>\d+)"
    rf"|\(?(?P<top>-? ?{_PLAIN_NUMBER})\)? ?/ ?\(?(?P<bottom>{_PLAIN_NUMBER})\)?(?! ?/)"
    rf"|(?P<plain>{_PLAIN_NUMBER})(?: (?P<scale>{'|'.join(_SCALES)})s?(?![a-z]))?)(?P<unit>{_UNIT}{{0,12}})"
)
_ONES: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS: Final[dict[str, int]] = {word: n for n, word in enumerate(_ONES)} | {
    word: 10 * n for n, word in enumerate(_TENS, 2)
}
_SPELLED: Final = re.compile(
    rf"(?:({'|'.join(_TENS)})[- ])?({'|'.join([*_ONES, *_TENS])})(?P<unit>(?: [^\W\d_ ]+){{0,3}})"
)


def number_of(text: str) -> Value | None:
    """The number that a text is, units behind it or not; None where it is more or other than a number."""
    text = GROUPED.sub(lambda found: re.sub("[, ]", "", found[0]), text)
    lowered = text.lower().strip()
    if (article := ARTICLES.match(lowered)) is not None:
        lowered = lowered[article.end() :]
    found = _NUMBER.fullmatch(lowered)
    if found is None:
        spelled = _SPELLED.fullmatch(lowered)
        if spelled is None or (spelled["unit"] and not _is_unit(spelled["unit"])):
            return None
        return Value(Fraction(_WORDS.get(spelled[1] or "", 0) + _WORDS[spelled[2]]))
    unit = found["unit"].strip()
    try:
        if found["whole"] is not None:
            number = int(found["whole"]) + Fraction(int(found["part"]), int(found["of"]))
        elif found["top"] is not None:
            number = Fraction(found["top"].replace(" ", "")) / Fraction(found["bottom"])
        else:
            number = Fraction(found["plain"].rstrip(".")) * _SCALES.get(found["scale"] or "", 1)
    except ZeroDivisionError:
        return None
    if unit and not _is_unit(unit):
        return None
    return Value(-number if found["sign"] == "-" else number, unit.startswith("%"))


_NOT_UNITS: Final = frozenset(
    [
        "x",
        "y",
        "z",
        "a",
        "b",
        "c",
        "n",
        "k",
        "p",
        "q",
        "r",
        "t",
        "i",
        "e",
        "pi",
        "sqrt",
        "to",
        "or",
        "and",
        "not",
        "pm",
        "log",
        "ln",
        "sin",
        "cos",
        "tan",
        "mod",
        "base",
        "infty",
        "cup",
        "cap",
        "minus",
        "plus",
    ]
)
"""Words after a number that are part of the value."""

_NEVER_IN_UNITS: Final = frozenset(["or", "and", "not", "to", *_WORDS, *_SCALES])


def _is_unit(unit: str) -> bool:
    words = unit.replace("%", " ").split()
    first = words[0] if words else ""
    return first not in _NOT_UNITS and not any(word in _NEVER_IN_UNITS for word in words)
