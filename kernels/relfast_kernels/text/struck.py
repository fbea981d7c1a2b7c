"""What a renderer strikes out or leaves out: ``~~x~~``, ``<del>x</del>``, ``<!-- x -->``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel

_NEWLINE: Final = 10
_MARKS: Final = np.frombuffer(b"~~\n~~\n<del>\n</del>\n<s>\n</s>\n<strike>\n</strike>\n<!--\n-->\n", np.uint8)
"""What strikes out, and where that ends."""
_MOST: Final = 2_000
"""Bytes that are struck out at once: a hundred thousand marks without an end take no square of that time."""


@kernel
def _stop(text: Any, at: int, end: int, mark: int) -> int:
    """Where the mark ends that stands in `_MARKS` from ``mark`` on, or -1."""
    while _MARKS[mark] != _NEWLINE:
        if at == end or (text[at] | 32 if 65 <= text[at] <= 90 else text[at]) != _MARKS[mark]:
            return -1
        at += 1
        mark += 1
    return at


@kernel
def _following(mark: int) -> int:
    while _MARKS[mark] != _NEWLINE:
        mark += 1
    return mark + 1


@kernel
def struck_end(text: Any, at: int, end: int) -> Any:
    """Where what is struck out from ``at`` on ends, ``at`` where nothing is; and to where no mark of the same
    letter has to be looked at. No mark reaches across a blank line. ``text[at]`` is ``~`` or ``<``."""
    if text[at] == 126 and (
        at + 2 >= end or text[at + 1] != 126 or text[at + 2] == 126 or text[at + 2] <= 32
    ):
        return at, at  # a fence, or where nothing is struck out
    mark = 0
    while mark < len(_MARKS):
        closing = _following(mark)
        inside = _stop(text, at, end, mark)
        if inside >= 0:
            blank = False
            for k in range(inside, min(end, inside + _MOST)):
                if text[k] == _NEWLINE:
                    if blank:
                        return at, k
                    blank = True
                elif text[k] > 32:
                    blank = False
                    stop = _stop(text, k, end, closing)
                    if stop >= 0:
                        return stop, stop
            return at, min(end, inside + _MOST)
        mark = _following(closing)
    return at, at
