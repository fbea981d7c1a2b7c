"""Whether an answer is in another unit than its problem speaks of: 1,250 cents where it asks for dollars.

Values are compared without their units, since most answers lack them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FAMILIES: Final = (
    ("cents?|¢", r"dollars?|\$"),
    ("mg|milligrams?", "grams?", "kg|kilograms?", "pounds?|lbs?", "ounces?|oz", "tons?"),
    ("ml|millilit(?:er|re)s?", "lit(?:er|re)s?", "gallons?", "quarts?", "pints?", "cups?"),
)
_UNITS: Final = {
    re.compile(rf"(?:{unit})", re.IGNORECASE): (family, unit)
    for family, units in enumerate(_FAMILIES)
    for unit in units
}
_WORD: Final = re.compile(r"[^\W\d_]+|[$¢]")
_BEHIND: Final = re.compile(r"\d[\s\\,;!~}$*]*(?:\\?(?:text|mathrm|mbox)\s*\{\s*)?([^\W\d_]+|¢)")


def other_unit(answer: str, question: str) -> bool:
    """Whether the unit behind an answer's number is none of the question, which has others of its kind."""
    behind = _BEHIND.findall(answer[-400:])
    unit = _unit(behind[-1].lower()) if behind else None
    if unit is None:
        return False
    asked = _asked(question)
    return unit not in asked and any(family == unit[0] for family, _ in asked)


def _unit(word: str) -> tuple[int, str] | None:
    return next((unit for pattern, unit in _UNITS.items() if pattern.fullmatch(word)), None)


@lru_cache(maxsize=256)
def _asked(question: str) -> frozenset[tuple[int, str]]:
    """The units that a question has, as (family, unit)."""
    words = set(_WORD.findall(question.lower()))
    return frozenset(unit for word in words if (unit := _unit(word)) is not None)
