"""From a response to what is judged of its plan."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.maze.judge import judge_plan
from relfast_kernels.maze.layouts import (
    CUTS_REASONING,
    FOUND_BEGIN,
    FOUND_CERTAIN,
    FOUND_END,
    FOUND_VOTE,
    IS_STRICT,
)
from relfast_kernels.maze.problem import Problem
from relfast_kernels.maze.search import Work
from relfast_kernels.maze.steps import last_plan
from relfast_kernels.text.characters import is_ascii, skip_white, struck_end
from relfast_kernels.text.find import copy
from relfast_kernels.text.plans import scan
from relfast_kernels.text.reasoning import cut_reasoning

MAX_STRICT = 1_000_000
"""Bytes of a response that is read under ``strict``, which reads as many characters."""


class Desk(NamedTuple):
    """Work space for responses.

    ``text``: uint8, twice a response's size; ``items``: int32, shape (2, n, ITEM_COLUMNS), for an item in
    three bytes and two more; ``work``: a search's; ``span``: int64, shape (1, 3).
    """

    text: Any
    items: Any
    work: Work
    span: Any


@kernel
def read_response(text: Any, problem: Problem, how: int, desk: Desk, found: Any, ratios: Any) -> bool:
    """Find the plan of a response (UTF-8) and judge it; False where the work space does not suffice.

    Parameters
    ----------
    problem
        As `relfast_kernels.maze.judge.settle` leaves it.
    how
        `CUTS_REASONING`, `IS_STRICT`.
    found : int64, shape (FOUND_COLUMNS,)
    ratios : float64, shape (N_RATIOS,)
        Filled; zeros where Python has to cut the reasoning, or a ``strict`` response is too long.
    """
    spare, items, span = desk.text, desk.items, desk.span
    found[:] = 0
    ratios[:] = 0.0
    first, last = 0, len(text)
    strict = how & IS_STRICT != 0
    ascii_only = is_ascii(text, 0, last)
    if how & CUTS_REASONING:
        if strict and last > MAX_STRICT:
            return True
        first, last, copied = cut_reasoning(text, 0, last, spare, 0)
        if copied:
            return True
        if strict and skip_white(text, first, last) == last:
            return True
    size = last - first
    copy(text, first, last, spare, 0)
    if strict:
        fold(spare, 0, size, ascii_only)
    n_items, _ = scan(spare[: 2 * size], 0, size, items[0], items[1], span, strict)
    if strict:
        n_items = last_plan(spare, size, n_items, problem.names, items, span)
    follow = strict and problem.solved
    if not judge_plan(problem, follow, spare, items[1][:n_items], desk.work, found, ratios):
        return False
    begin = end = first
    if n_items:
        begin, end = first + span[0, 0], first + span[0, 1]
        found[FOUND_VOTE] = span[0, 2]
    found[FOUND_BEGIN], found[FOUND_END] = begin, end
    found[FOUND_CERTAIN] = 1
    return True


_NEWLINE: Final = 10
_FOLDED: Final = {
    '"': "“”„‟«»「」『』＂",
    "'": "‘’‚‛＇",
    " ": "\u200b\u200c\u200d\u2060\ufeff\u00ad\u00a0\u2007\u202f\u3000\ufe0f",
    ".": "\u20e3",
    **dict(zip(":,()[]_;,", "：，（）［］＿；、", strict=True)),
    "[": "［【",
    "]": "］】",
}
_TABLE: Final = np.zeros(0x10000, np.uint8)
"""What a character becomes: an ASCII letter, or 0."""
for _meant, _written in _FOLDED.items():
    for _one in _written:
        _TABLE[ord(_one)] = ord(_meant)


@kernel
def fold(text: Any, begin: int, end: int, ascii_only: bool) -> None:
    """Make text[begin:end] what a renderer shows (``strict``), byte for byte at its own place: plain quotes
    and marks, blanks for what is struck out and for characters without width."""
    at = tilde = angle = begin
    while at < end:
        byte = text[at]
        if byte == 126 or byte == 60:
            stop = at
            if at >= (tilde if byte == 126 else angle):
                stop, looked = struck_end(text, at, end)
                if byte == 126:
                    tilde = looked
                else:
                    angle = looked
            for k in range(at, stop):
                if text[k] != _NEWLINE:
                    text[k] = 32
            while at < end and text[at] == byte:
                at += 1
            at = max(at, stop)
        elif byte < 0xC2 or ascii_only:
            at += 1
        else:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if length < 4 and at + length <= end:
                point = (byte & 0x1F) << 6 | text[at + 1] & 0x3F
                if length == 3:
                    point = (byte & 0x0F) << 12 | (text[at + 1] & 0x3F) << 6 | text[at + 2] & 0x3F
                meant = _TABLE[point]
                if meant:
                    text[at] = meant
                    for k in range(at + 1, at + length):
                        text[k] = 32
            at += length
