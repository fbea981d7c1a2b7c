"""Text without the model's reasoning, where `relfast.tasks.reasoning` cuts it in the plainest way."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import begins_with, copy, find_byte
from relfast_kernels.text.vectors import WIDTH, lowest, places_of
from relfast_kernels.text.words import is_blank

UNSURE = -1
"""Instead of an answer: the exact way must cut."""

_THINK = np.frombuffer(b"think>", np.uint8)
_ANALYSIS = np.frombuffer(b"analysis", np.uint8)
# how all other marks begin, after the bracket and a slash
_OTHERS = (
    np.frombuffer(b"thinking>", np.uint8),
    np.frombuffer(b"thought>", np.uint8),
    np.frombuffer(b"reasoning>", np.uint8),
    np.frombuffer(b"reflection>", np.uint8),
    np.frombuffer(b"seed:", np.uint8),
    np.frombuffer(b"longcat_", np.uint8),
    np.frombuffer(b"|", np.uint8),
    np.frombuffer(b"unused9", np.uint8),
    np.frombuffer(b"end_of_turn>", np.uint8),
    np.frombuffer(b"eos>", np.uint8),
    np.frombuffer(b"s>", np.uint8),
    np.frombuffer("｜".encode(), np.uint8),
)
_SQUARE = (
    np.frombuffer(b"think]", np.uint8),
    np.frombuffer(b"eos]", np.uint8),
    np.frombuffer(b"|", np.uint8),
)
_TRIANGLE = np.frombuffer("◁".encode(), np.uint8)

MAY_FOLLOW = np.zeros(256, np.uint8)
"""Whether a mark can have a byte behind its bracket; brackets of prose and mathematics mostly have others."""
for _mark in (_THINK, *_OTHERS, *_SQUARE):
    for _byte in {47, int(_mark[0]), ord(chr(_mark[0]).upper()) if _mark[0] < 0x80 else int(_mark[0])}:
        MAY_FOLLOW[_byte] = 1
_NOUGHT, _BIT = np.uint64(0), np.uint64(1)


@kernel
def _other_angle(text: Any, at: int, end: int) -> bool:
    return (
        begins_with(text, at, end, _OTHERS[0])
        or begins_with(text, at, end, _OTHERS[1])
        or begins_with(text, at, end, _OTHERS[2])
        or begins_with(text, at, end, _OTHERS[3])
        or begins_with(text, at, end, _OTHERS[4])
        or begins_with(text, at, end, _OTHERS[5])
        or begins_with(text, at, end, _OTHERS[6])
        or begins_with(text, at, end, _OTHERS[7])
        or begins_with(text, at, end, _OTHERS[8])
        or begins_with(text, at, end, _OTHERS[9])
        or begins_with(text, at, end, _OTHERS[10])
        or begins_with(text, at, end, _OTHERS[11])
    )


@kernel
def _other_square(text: Any, at: int, end: int) -> bool:
    return (
        begins_with(text, at, end, _SQUARE[0])
        or begins_with(text, at, end, _SQUARE[1])
        or begins_with(text, at, end, _SQUARE[2])
    )


@kernel
def is_mark(text: Any, at: int, end: int) -> bool:
    """Whether a mark begins with the bracket at ``at``, which is not the last byte."""
    after = at + 2 if text[at + 1] == 47 else at + 1
    if text[at] == 91:
        return _other_square(text, after, end)
    return begins_with(text, after, end, _THINK) or _other_angle(text, after, end)


@kernel
def _next_mark(text: Any, at: int, end: int) -> int:
    """The next bracket, angle or square, that a mark may begin with, or ``end``."""
    while at + WIDTH <= len(text) and at < end:
        places = places_of(text, at, 60, 91)
        while places != _NOUGHT:
            place = at + lowest(places)
            if place + 1 >= end:
                return end
            if MAY_FOLLOW[text[place + 1]] != 0:
                return place
            places &= places - _BIT
        at += WIDTH
    while at + 1 < end:
        if (text[at] == 60 or text[at] == 91) and MAY_FOLLOW[text[at + 1]] != 0:
            return at
        at += 1
    return end


@kernel
def _has_triangle(text: Any, start: int, end: int) -> bool:
    # rarer than the first byte of the triangle, which all arrows share
    at = find_byte(text, start, end, 0x97)
    while at < end:
        if at > start and begins_with(text, at - 1, end, _TRIANGLE):
            return True
        at = find_byte(text, at + 1, end, 0x97)
    return False


@kernel
def cut_reasoning(text: Any, start: int, end: int, out: Any, to: int) -> Any:
    """``strip_reasoning`` of text[start:end] (UTF-8 without `OTHER` characters).

    Returns
    -------
    (start, end, copied)
        Where what is left stands: in ``text``, or, if it had to be put together, in ``out`` from ``to`` on.
        `UNSURE` as start: there are marks other than one ``<think>…</think>``, or half of it.
    """
    # a channel without its tokens, or a mark in triangles
    if begins_with(text, start, end, _ANALYSIS) or _has_triangle(text, start, end):
        return UNSURE, 0, False
    opening, closing = -1, -1
    at = _next_mark(text, start, end)
    while at < end:
        closes = text[at + 1] == 47
        after = at + 2 if closes else at + 1
        if text[at] == 91:
            if _other_square(text, after, end):
                return UNSURE, 0, False
        elif begins_with(text, after, end, _THINK):
            # once each, the opening one first
            if closes:
                if closing >= 0:
                    return UNSURE, 0, False
                closing = at
            else:
                if opening >= 0 or closing >= 0:
                    return UNSURE, 0, False
                opening = at
        elif _other_angle(text, after, end):
            return UNSURE, 0, False
        at = _next_mark(text, at + 1, end)
    if closing < 0:
        return start, end if opening < 0 else opening, False
    after = closing + len(_THINK) + 2
    if opening < 0:
        # a closing mark at the very end is a slip
        for k in range(after, end):
            if text[k] >= 0x80:
                return UNSURE, 0, False
            if not is_blank(text[k]):
                return after, end, False
        return UNSURE, 0, False
    if opening == start:
        return after, end, False
    stop = copy(text, start, opening, out, to)
    stop = copy(text, after, end, out, stop)
    return to, stop, True
