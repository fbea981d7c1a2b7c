r"""Answers as values, so that ``\frac12``, ``0.5`` and ``1/2`` are one: what ``strict`` compares.

A normaliser and no algebra: numbers become fractions, lists are read element by element, everything else
stays text in one spelling. Nothing is evaluated; an answer has at most `MAX_CHARS`, so time is bounded.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from relfast.tasks.realign.numbers import GROUPED, number_of
from relfast.tasks.realign.plain import BEGINNINGS, ENDS, in_plain, spelling
from relfast.tasks.realign.value import NONE, Value, agree

MAX_CHARS: Final = 400
"""Longest answer that is read. No reference of MATH or GSM8K has more than 200 characters."""

MAX_ITEMS: Final = 40
_SEPARATOR: Final = re.compile(r"\s*[,;]\s*(?:and\s+|or\s+)?|\s+(?:and|or|y|et|und|e|и)\s+")
_OPENING, _CLOSING = "([{", ")]}"
_LEFT_SIDE: Final = re.compile(r"[^=<>!]*(?<![\\<>!])=(?!=)|[a-zA-Z] ?\\in(?![a-z]) ?")
_DIGITS: Final = re.compile(r"[0-9]{1,15}")
_OPTION: Final = re.compile(r"\(?([A-E])[).:]\)? *(\S.*)")
_DECIMAL_COMMA: Final = re.compile(r"([+-]?\d{1,15}),(\d{1,2}|\d{4,15})")
_POINT: Final = re.compile(r"[A-Z]\(")


def value_of(answer: str) -> Value:
    """An answer's text as a `Value`; `NONE` where there is nothing in it."""
    if len(answer) > MAX_CHARS:
        return NONE
    if _DIGITS.fullmatch(answer) is not None:
        return Value(Fraction(int(answer)))
    return _read(in_plain(answer), 0)


def restates(answer: str, gold: str, question: str) -> bool:
    """Whether an answer is an expression of the question left as it stands there: 8/22 for "Simplify 8/22".

    By value it is right; what the question asks for is another form of it.
    """
    said = _bare(answer)
    return _EXPRESSION.search(said) is not None and said in _bare_question(question) and said != _bare(gold)


def _bare(text: str) -> str:
    return in_plain(text).replace(" ", "").strip(ENDS)


_bare_question = lru_cache(maxsize=256)(_bare)
"""A question is read once for all responses to it."""


_EXPRESSION: Final = re.compile(r"\d[/.%^*+-]|[a-zA-Z]{4}.*\d")


def _read(text: str, depth: int) -> Value:
    text = text.lstrip(BEGINNINGS).rstrip(ENDS)
    while (
        text[:1] == "{"
        and text[-1:] == "}"
        and _closes(text) == len(text) - 1
        and len(_split(text[1:-1])) < 2
    ):
        text = text[1:-1].lstrip(BEGINNINGS).rstrip(ENDS)
    if (value := number_of(text)) is not None:
        return value
    if depth == 0 and (option := _OPTION.fullmatch(text)) is not None:
        value = _read(option[2], 1)
        if value.number is not None:
            return Value(text=option[1].lower(), also=(value,))
    if (comma := _DECIMAL_COMMA.fullmatch(text)) is not None:
        items = tuple(_read(part, depth + 1) for part in comma.groups())
        return Value(items=items, also=(Value(Fraction(f"{comma[1]}.{comma[2]}")),))
    if _POINT.match(text) is not None and _closes(text[1:]) == len(text) - 2 and len(_split(text[2:-1])) > 1:
        text = text[1:]
    if "=" in text or "\\in" in text:
        # "x = 5", "10 + 32 = 42": what the last sign says; "x = 2 or x = 3" is a list of two
        parts = _split(text)
        if len(parts) > 1 and depth < 3:
            items = tuple(_read(part, depth + 1) for part in parts[:MAX_ITEMS])
            return Value(items=items) if all(items) else NONE
        at = 0
        for left in _LEFT_SIDE.finditer(text):
            at = left.end()
        return _read(text[at:], depth + 1) if at and depth < 4 else Value(text=spelling(text))
    if depth < 3:
        if text[:1] and text[0] in _OPENING and text[-1] in _CLOSING and _closes(text) == len(text) - 1:
            parts = _split(text[1:-1])
            if len(parts) > 1:
                kind = "" if text[0] == "{" else text[0] + text[-1]
                return Value(items=tuple(_read(part, depth + 1) for part in parts[:MAX_ITEMS]), kind=kind)
            if text[0] + text[-1] in ("()", "[]") and len(text) > 3:
                return _read(text[1:-1], depth + 1)
        parts = _split(text)
        if len(parts) > 1:
            items = tuple(_read(part, depth + 1) for part in parts[:MAX_ITEMS])
            if items[0].number is not None and all(agree(items[0], item) for item in items[1:]):
                return items[0]  # "15/4 or 3.75"
            return Value(items=items)
    return Value(text=spelling(text))


def _closes(text: str) -> int:
    """Index of the bracket that closes the first character, or -1. Half-open intervals close too."""
    depth = 0
    for at, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return -1


def _split(text: str) -> list[str]:
    """The elements of a list, split where no bracket is open; numbers with grouped digits stay whole."""
    text = GROUPED.sub(lambda found: re.sub("[, ]", "", found[0]), text)
    parts = []
    depth = begin = at = 0
    while at < len(text):
        character = text[at]
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif depth == 0 and character in " ,;" and (found := _SEPARATOR.match(text, at)) is not None:
            parts.append(text[begin:at])
            begin = at = found.end()
            continue
        at += 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]
