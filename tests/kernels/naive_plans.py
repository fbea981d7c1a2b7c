"""Plans in texts by trying every bracket: the grammar once more, in plain Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

ACTIONS = ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue")
BAD = len(ACTIONS)
Item = tuple[int, str]
"""Action code and parameter; for BAD the item's text."""

STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
SPACE = " \t\r\n"
ESCAPE = re.compile(
    r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    r"|U[0-9a-fA-F]{8}|[abfnrtv'\"/\\])"
)
LETTERS = dict(
    zip("abfnrtv'\"/\\\n", ["\a", "\b", "\f", "\n", "\r", "\t", "\v", "'", '"', "/", "\\", ""], strict=True)
)


def undo_escape(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in LETTERS:
        return LETTERS[escape]
    if escape[0] == "u":
        return bytes.fromhex(escape.replace("\\u", "")[1:]).decode("utf-16-be", "surrogatepass")
    point = int(escape[1:], 16) if escape[0] in "xU" else int(escape, 8)
    return chr(point) if point < 0x110000 else match[0]


def as_item(text: str) -> Item:
    """``action: parameter``."""
    text = text.strip(SPACE)
    name, colon, parameter = text.partition(":")
    name, parameter = name.strip(SPACE), parameter.strip(SPACE)
    return (ACTIONS.index(name), parameter) if name in ACTIONS and colon and parameter else (BAD, text)


def as_pair(strings: Sequence[str], whole: str) -> Item:
    if len(strings) == 1:
        return as_item(strings[0])
    parts = [string.strip(SPACE) for string in strings]
    if len(parts) == 2 and parts[0] in ACTIONS and parts[1]:
        return ACTIONS.index(parts[0]), parts[1]
    return BAD, whole


def read_value(text: str, at: int, numbers: bool) -> tuple[str, int] | None:
    """A string (or number) at this place, and where it ends."""
    if match := STRING.match(text, at):
        return ESCAPE.sub(undo_escape, match[0][1:-1]), match.end()
    if numbers and text[at : at + 1] and text[at] in "-0123456789":
        match = re.compile(r".[0-9]*", re.DOTALL).match(text, at)
        assert match is not None
        return match[0], match.end()
    return None


def read_sequence(text: str, at: int, closing: str, items: bool) -> tuple[list[Any], int] | None:
    """A bracketed sequence whose opening bracket stands at ``at``; None if the grammar does not fit."""
    found: list[Any] = []
    at += 1
    while True:
        while at < len(text) and text[at] in SPACE:
            at += 1
        if text[at : at + 1] == closing:
            return found, at + 1
        inner = {"[": "]", "(": ")"}.get(text[at : at + 1])
        if items and inner:
            pair = read_sequence(text, at, inner, False)
            if pair is None:
                return None
            found.append(as_pair(pair[0], text[at : pair[1]]))
            at = pair[1]
        else:
            value = read_value(text, at, numbers=not items)
            if value is None:
                return None
            found.append(as_item(value[0]) if items else value[0])
            at = value[1]
        while at < len(text) and text[at] in SPACE:
            at += 1
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != closing:
            return None


def find_plans(text: str) -> list[list[Item]]:
    """The plans in a text, by trying every bracket; quadratic. Plans within a plan do not count."""
    plans = []
    at = 0
    while (at := text.find("[", at)) >= 0:
        whole = read_sequence(text, at, "]", True)
        if whole is not None and any(kind != BAD for kind, _ in whole[0]):
            plans.append(whole[0])
            at = whole[1]
        else:
            at += 1
    return plans
