"""Text without the model's reasoning, as `relfast.tasks.reasoning` cuts it where each mark stands once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import begins_with, copy, find_byte, same_as
from relfast_kernels.text.vectors import WIDTH, lowest, places_of
from relfast_kernels.text.words import skip_white, white_length

UNSURE = -1
"""Instead of an answer: the exact way must cut."""

PAIRS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("[think]", "[/think]"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
)
"""How reasoning opens and closes, but for what stands in triangles. Extractors import no kernels, and
kernels no extractors: a test holds these two tables against `relfast.tasks.reasoning`'s."""

ENDS: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|return|>",
    "<|end|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<|end_response|>",
    "<|end_of_turn_token|>",
    "<seed:eos>",
    "<eos>",
    "</s>",
    "[eos]",
    "[|endofturn|]",
    "<|user|>",
    "<turn|>",
)
"""What stands at the end of a turn where special tokens were kept."""

_NAMES: Final = tuple(
    name.encode()
    for name in (*(name for pair in PAIRS for name in pair), "<|channel|>", "<|start_response|>")
)
_CHANNEL, _START_RESPONSE = len(_NAMES) - 2, len(_NAMES) - 1
_CHANNEL_NAME: Final = np.frombuffer(_NAMES[_CHANNEL], np.uint8)


def _table(names: Sequence[bytes]) -> tuple[Any, Any]:
    """Names one after the other, and where each begins: a tuple of arrays cannot be looked through."""
    return np.frombuffer(b"".join(names), np.uint8), np.cumsum([0, *map(len, names)])


_TEXT, _PLACES = _table(_NAMES)
_END_TEXT, _END_PLACES = _table([name.encode() for name in ENDS])

_THINK = np.frombuffer(b"think>", np.uint8)
_ANALYSIS = np.frombuffer(b"analysis", np.uint8)
_BARE_FINAL = np.frombuffer(b"assistantfinal", np.uint8)
_FINAL = np.frombuffer(b"<|channel|>final<|message|>", np.uint8)
_CONSTRAINED = np.frombuffer(b"<|channel|>final <|constrain|>", np.uint8)
_MESSAGE = np.frombuffer(b"<|message|>", np.uint8)
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
    np.frombuffer(b"channel|", np.uint8),
    np.frombuffer(b"turn|", np.uint8),
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
        or begins_with(text, at, end, _OTHERS[12])
        or begins_with(text, at, end, _OTHERS[13])
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
def _name_at(text: Any, at: int, end: int, names: Any, places: Any) -> int:
    """Which of some names, in any case, stands at a place; -1: none."""
    for k in range(len(places) - 1):
        first, size = places[k], places[k + 1] - places[k]
        if size > end - at:
            continue
        same = True
        for offset in range(size):
            byte = text[at + offset]
            if 65 <= byte <= 90:
                byte |= 32
            if byte != names[first + offset]:
                same = False
                break
        if same:
            return k
    return -1


@kernel
def _white_before(text: Any, start: int, at: int) -> int:
    r"""Bytes of the ``\s`` that ends before ``at``; 0 if there is none."""
    first = at - 1
    while first > start and text[first] & 0xC0 == 0x80:
        first -= 1
    length = white_length(text, first, at) if first >= start else 0
    return length if first + length == at else 0


@kernel
def _end_of_turn(text: Any, start: int, end: int) -> int:
    """Where text[start:end] ends but for blanks and `ENDS`; ``end`` where there is none of these."""
    last = end
    while True:
        length = _white_before(text, start, last)
        while length > 0:
            last -= length
            length = _white_before(text, start, last)
        if last == start or (text[last - 1] != 62 and text[last - 1] != 93):
            return end
        found = 0
        for k in range(len(_END_PLACES) - 1):
            size = _END_PLACES[k + 1] - _END_PLACES[k]
            if (
                size <= last - start
                and _name_at(text, last - size, last, _END_TEXT, _END_PLACES[k : k + 2]) == 0
            ):
                found = size
                break
        if found == 0:
            return end
        end = last = last - found


@kernel
def _last_of(text: Any, start: int, end: int, name: Any) -> int:
    """Where a name, in any case, stands for the last time; -1: nowhere."""
    at = end - len(name)
    while at >= start:
        if begins_with(text, at, end, name):
            return at
        at -= 1
    return -1


@kernel
def _final_channel(text: Any, start: int, end: int) -> int:
    """Where the final message of a model with channels begins; ``end`` where there is none."""
    at = max(_last_of(text, start, end, _FINAL), _last_of(text, start, end, _CONSTRAINED))
    if at < 0:
        return end
    while at < end and not begins_with(text, at, end, _MESSAGE):
        at += 1
    return min(at + len(_MESSAGE), end)


@kernel
def _has_channel(text: Any, start: int, end: int) -> bool:
    at = find_byte(text, start, end, 60)
    while at < end:
        if begins_with(text, at, end, _CHANNEL_NAME):
            return True
        at = find_byte(text, at + 1, end, 60)
    return False


@kernel
def _has_bracket(text: Any, start: int, end: int) -> bool:
    return find_byte(text, start, end, 60) < end or find_byte(text, start, end, 91) < end


@kernel
def cut_reasoning(text: Any, start: int, end: int, out: Any, to: int) -> Any:
    """``strip_reasoning`` of text[start:end] (UTF-8 without letters that are ASCII in lower case only).

    Returns
    -------
    (start, end, copied)
        Where what is left stands: in ``text``, or, if it had to be put together, in ``out`` from ``to`` on.
        `UNSURE` as start: there are marks other than one pair of `PAIRS`, or half of it.
    """
    if _has_triangle(text, start, end):
        return UNSURE, 0, False
    told = False
    if begins_with(text, start, end, _ANALYSIS) and not _has_channel(text, start, end):
        after = start + len(_ANALYSIS)
        in_lower_case = same_as(text, start, after, _ANALYSIS)
        if not in_lower_case and not _has_bracket(text, start, end):
            # in capitals it is a word of prose, unless something else looks like a mark
            return start, end, False
        final = _last_of(text, start, end, _BARE_FINAL)
        if final >= 0:
            start = final + len(_BARE_FINAL)
        elif in_lower_case and after < end and 65 <= text[after] <= 90:
            # a word that prose goes on from has no capital behind it
            return end, end, False
        # what begins a response counts only where there are no channels, with tokens or without
        told = True
    whole = end
    end = _end_of_turn(text, start, whole)
    opening, closing = -1, -1
    opened, closed = -1, -1
    at = _next_mark(text, start, end)
    while at < end:
        name = _name_at(text, at, end, _TEXT, _PLACES)
        if name >= _CHANNEL:
            if not told and name == _START_RESPONSE:
                return UNSURE, 0, False
            if not told:
                # all that was seen before it is not in the final message
                start = _final_channel(text, start, whole)
                end = _end_of_turn(text, start, whole)
                opening, closing = -1, -1
                told = True
                at = start - 1
        elif name >= 0 and name & 1:
            if closing >= 0 or (opening >= 0 and name != opened + 1):
                return UNSURE, 0, False
            closing, closed = at, name
        elif name >= 0:
            # once each, the opening one first
            if opening >= 0 or closing >= 0:
                return UNSURE, 0, False
            opening, opened = at, name
        at = _next_mark(text, at + 1, end)
    if closing < 0:
        return start, end if opening < 0 else opening, False
    after = closing + _PLACES[closed + 1] - _PLACES[closed]
    if opening < 0:
        # a closing mark at the very end is a slip
        if skip_white(text, after, end) < end:
            return after, end, False
        return UNSURE, 0, False
    if opening == start:
        return after, end, False
    stop = copy(text, start, opening, out, to)
    stop = copy(text, after, end, out, stop)
    return to, stop, True
