"""The sentences of a response, the last one first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_PLAIN: Final = 80
"""Longest line that can be nothing but an answer."""

_WINDOW: Final = 400
"""Characters of a line in which the ends of sentences are looked for at a time."""

_MAX_SENTENCE: Final = 2_000
"""A longer one is read in pieces."""

_END_OF_SENTENCE: Final = re.compile(
    # begins with a set of characters: `re` skips all others quickly
    r"[.!?;…。！？；]++(?:[\"')\]*_`~]{0,4}+(?=\s)|(?<=[…。！？；])|(?<=\.\.\.))\s*+"
)

_BULLET: Final = re.compile(r"[ \t>]*+(?:[-*•+–]\s++|\(?[0-9]{1,2}[.)]\s++(?=[^\s])|[a-h][.)]\s++)?")

_ITEM: Final = re.compile(r"[0-9]{1,2}\.")

_NUMBER_SIGN: Final = re.compile(
    r"(?:^|(?<=is )|(?<=answer )|(?<=option )|(?<=choice )|(?<=panel )|(?<=the ))no\.\s*(?=#?[0-9])"
)


class Unit(NamedTuple):
    """A sentence with its place: the line's number from the end, and whether it is all of its line."""

    text: str
    line: int
    whole_line: bool
    enumerated: bool


def units(text: str) -> Iterator[Unit]:
    """The sentences of a text, the last one first."""
    end, line = len(text), 0
    while end >= 0:
        start = text.rfind("\n", 0, end) + 1
        row = text[start:end].strip()
        if row:
            line += 1
            yield from _sentences(row, line)
        end = start - 1


def _sentences(row: str, line: int) -> Iterator[Unit]:
    bullet = _BULLET.match(row)
    enumerated = bullet is not None and row[: bullet.end()].strip(" \t>(")[:1].isdigit()
    if bullet is not None and row[:1] not in "+":
        stripped = row[bullet.end() :]
        row = stripped if stripped.strip("*_` ") else row
    if "no." in row:
        row = _NUMBER_SIGN.sub("number ", row)
    if "e.g." in row:
        row = row.replace("e.g.", "for example")
    stop = len(row)
    for start in _boundaries(row):
        if start < stop:
            yield from _pieces(row, start, stop, line, enumerated)
            stop = start


def _boundaries(row: str) -> Iterator[int]:
    """Where sentences of a line begin, the last one first; looks at no more of the line than is asked for."""
    high = len(row)
    while high > 0:
        low = max(0, high - _WINDOW)
        found = _END_OF_SENTENCE.finditer(row, low, min(len(row), high + MAX_PLAIN))
        yield from reversed(
            [match.end() for match in found if match.start() < high and match.end() < len(row)]
        )
        high = low
    yield 0


def _pieces(row: str, start: int, stop: int, line: int, enumerated: bool) -> Iterator[Unit]:
    whole = start == 0 and stop == len(row)
    while stop - start > _MAX_SENTENCE:
        yield Unit(row[stop - _MAX_SENTENCE : stop], line, False, enumerated)
        stop -= _MAX_SENTENCE
    text = row[start:stop].strip()
    # "… so. 1. Compare the panels." has the number of a list's item in the middle of a line
    if text and not (stop < len(row) and _ITEM.fullmatch(text)):
        yield Unit(text, line, whole, enumerated)
