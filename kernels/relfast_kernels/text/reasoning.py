"""Text without the model's reasoning: the one cutter, by the table of `relfast_kernels.text.marks`.

It reads UTF-8 (``text`` and ``out`` are uint8, places are byte offsets) and also runs as plain Python on
``bytes``; `relfast.tasks.reasoning` does the same for ``str``. A mark with an even number opens, the next
one closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits
from typing import Final, NamedTuple

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Buffer, Bytes, Ints
from relfast_kernels.text.ascii import byte_set, small
from relfast_kernels.text.characters import skip_white, skip_white_back
from relfast_kernels.text.find import begins_with, copy, find_byte, find_either, find_opening, listed, skip
from relfast_kernels.text.marks import (
    ANY,
    BARE_ANALYSIS,
    BARE_FINAL,
    CHANNEL,
    FINAL_CHANNELS,
    LAST_BIT,
    LOOKED_AT,
    MARKS,
    MESSAGE,
    RESPONSE_OPENS,
    TO_ITSELF,
    TO_USER,
    TURN_ENDS,
    names_of,
)


def _bytes(name: str) -> Bytes:
    return np.frombuffer(name.encode(), np.uint8)


class PackedMarks(NamedTuple):
    """Marks as arrays; see `Names`."""

    pool: Bytes
    places: Ints
    beginnings: Ints


def _arrays(marks: Sequence[tuple[str, str]]) -> tuple[Bytes, Ints, Ints]:
    names = names_of(marks)
    return (
        np.frombuffer(names.pool, np.uint8),
        np.array(names.places, np.int64),
        np.array(names.beginnings, np.int64),
    )


_POOL, _PLACES, _BEGINNINGS = _arrays(MARKS)
_END_POOL, _END_PLACES, _END_BEGINNINGS = _arrays([(end, end) for end in TURN_ENDS])
_CHANNEL, _MESSAGE, _ITSELF, _USER = map(_bytes, (CHANNEL, MESSAGE, TO_ITSELF, TO_USER))
_OPENS: Final = _bytes("".join(f"{name}\n" for name in RESPONSE_OPENS))
_FINAL, _CONSTRAINED = map(_bytes, FINAL_CHANNELS)
_ANALYSIS, _BARE_FINAL = _bytes(BARE_ANALYSIS), _bytes(BARE_FINAL)
_ANY: Final = ord(ANY)
_NAME: Final = byte_set(f"{ascii_letters}{digits}_-.:")
_OPENS_MARK: Final = byte_set("<[")
_MAX_NAME: Final = 32
_DOTTED_I, _KELVIN, _TRIANGLE = map(_bytes, "İ\u212a◁")
_LONGEST_END: Final = 2 * max(len(end.encode()) for end in TURN_ENDS)
"""In bytes; doubled, as letters may be spelled with more bytes (see `_behind`)."""


@kernel
def _behind(text: Bytes, at: int, end: int, pool: Bytes, first: int, last: int) -> int:
    """The offset after pool[first:last] (lower case) if it stands at ``at`` in any case, else -1. ``İ`` (C4
    B0) counts as an i and the kelvin sign (E2 84 AA) as a k, as in ``str.lower``."""
    while first < last:
        if at >= end:
            return -1
        byte, wanted = int(text[at]), int(pool[first])
        if wanted == _ANY:
            stop = skip(text, at, min(end, at + _MAX_NAME), _NAME)
            if stop == at:
                return -1
            at = stop
        elif small(byte) == wanted:
            at += 1
        elif wanted == ascii.LOWER_I and begins_with(text, at, end, _DOTTED_I):
            at += len(_DOTTED_I)
        elif wanted == ascii.LOWER_K and begins_with(text, at, end, _KELVIN):
            at += len(_KELVIN)
        else:
            return -1
        first += 1
    return at


@kernel
def _is_at(text: Bytes, at: int, end: int, name: Bytes) -> bool:
    return _behind(text, at, end, name, 0, len(name)) >= 0


@kernel
def _last_of(text: Bytes, start: int, end: int, name: Bytes) -> int:
    """Where a name occurs for the last time; -1: nowhere."""
    at = end - len(name)
    while at >= start and not _is_at(text, at, end, name):
        at -= 1
    return at if at >= start else -1


@kernel
def _possible(text: Bytes, at: int, end: int, beginnings: Ints) -> int:
    """Which marks may stand at ``at``, by their first bytes, as bits (see `Names`)."""
    possible: int = beginnings[text[at]]
    n = 1
    while n < LOOKED_AT and possible != 0 and at + n < end:
        possible &= beginnings[256 * n + int(text[at + n])]
        n += 1
    return possible


@kernel
def _mark_at(text: Bytes, at: int, end: int, names: PackedMarks) -> tuple[int, int]:
    """The number of the mark at ``at`` (-1: none), and where it ends; of several the shortest."""
    pool, places, beginnings = names
    found, stop = -1, end + 1
    possible = _possible(text, at, end, beginnings) if at < end else 0
    for k in range(0, len(places) if possible != 0 else 0, 4):
        if possible >> min(k >> 2, LAST_BIT) & 1 == 0:
            continue
        behind = _behind(text, at, end, pool, places[k], places[k + 1])
        if behind < 0 and places[k + 3] > places[k + 2]:
            behind = _behind(text, at, end, pool, places[k + 2], places[k + 3])
        if 0 <= behind < stop:
            found, stop = k >> 2, behind
    return found, stop


@kernel
def _next_place(text: Bytes, at: int, end: int, beginnings: Ints, own_only: bool) -> int:
    """The next offset at which a mark may begin, or ``end``. ``own_only``: all marks are of `MARKS`."""
    while at < end:
        if own_only:
            at = find_opening(text, at, end)
        else:
            while at < end and beginnings[text[at]] == 0:
                at += 1
        if at < end and _possible(text, at, end, beginnings) != 0:
            return at
        at += 1
    return end


@kernel
def _has_sign(text: Bytes, start: int, end: int) -> bool:
    """Whether there is a bracket, or a ``◁``, with which marks begin."""
    if find_either(text, start, end, ascii.LESS, ascii.SQUARE_OPEN) < end:
        return True
    # its second byte is sought: many signs (dashes, quotes, arrows) begin with its first one
    at = find_byte(text, start, end, _TRIANGLE[1])
    while at < end:
        if at > start and begins_with(text, at - 1, end, _TRIANGLE):
            return True
        at = find_byte(text, at + 1, end, _TRIANGLE[1])
    return False


@kernel
def end_of_turn(text: Buffer, start: int, end: int) -> int:
    """Where text[start:end] ends without trailing blanks and `TURN_ENDS`; ``end`` if it has none of these."""
    last = end
    while True:
        last = skip_white_back(text, start, last)
        if last == start or (text[last - 1] != ascii.GREATER and text[last - 1] != ascii.SQUARE_CLOSE):
            return end
        # an end of a turn has an opening bracket at its beginning, and Kimi K3's have another one within
        found = False
        at = last
        for _ in range(2):
            at -= 1
            while at > start and not _OPENS_MARK[text[at]] and last - at < _LONGEST_END:
                at -= 1
            # 8 places: `names_of` takes pairs, so each end stands there twice
            may_be = _possible(text, at, last, _END_BEGINNINGS) != 0
            for k in range(0, len(_END_PLACES) if may_be else 0, 8):
                if _behind(text, at, last, _END_POOL, _END_PLACES[k], _END_PLACES[k + 1]) == last:
                    found = True
            if found or at <= start:
                break
        if not found:
            return end
        end = last = at


@kernel
def _final_message(text: Bytes, start: int, end: int, own_only: bool) -> int:
    """Where the message of gpt-oss's final channel, or of Command A's response, begins; ``end`` if there are
    channels but no final one, ``start`` if there are none."""
    has_channel, to_itself, opens = False, False, -1
    at = find_opening(text, start, end)
    while at < end:
        if text[at] == ascii.LESS and at + 1 < end and text[at + 1] == ascii.BAR:
            behind = listed(text, at, end, _OPENS, False)
            if _is_at(text, at, end, _CHANNEL):
                has_channel = True
            elif behind > at:
                opens = behind
            elif _is_at(text, at, end, _MESSAGE):
                to_itself |= at - len(_ITSELF) >= start and _is_at(text, at - len(_ITSELF), end, _ITSELF)
                if at - len(_USER) >= start and _is_at(text, at - len(_USER), end, _USER):
                    opens = at + len(_MESSAGE)
        at = find_opening(text, at + 1, end)
    if has_channel:
        at = max(_last_of(text, start, end, _FINAL), _last_of(text, start, end, _CONSTRAINED))
        if at < 0:
            return end
        while at < end and not _is_at(text, at, end, _MESSAGE):
            at += 1
        return min(at + len(_MESSAGE), end)
    after = _behind(text, start, end, _ANALYSIS, 0, len(_ANALYSIS))
    if after >= 0:
        as_written = after - start == len(_ANALYSIS)
        for k in range(len(_ANALYSIS)):
            as_written = as_written and text[start + k] == _ANALYSIS[k]
        # in capitals it is a word of prose, unless something else looks like a mark
        if as_written or not own_only or _has_sign(text, start, end):
            at = _last_of(text, start, end, _BARE_FINAL)
            if at >= 0:
                return _behind(text, at, end, _BARE_FINAL, 0, len(_BARE_FINAL))
            # "analysisThe user asks": a channel, and no final one; in prose no capital follows the word
            return end if as_written and after < end and small(text[after]) != text[after] else start
    return opens if opens >= 0 else end if to_itself else start


@kernel
def _ends_with_closings(text: Bytes, at: int, end: int, names: PackedMarks) -> tuple[bool, int]:
    """Whether only white space and closing marks stand from ``at`` to ``end``, and where else they stop."""
    while True:
        at = skip_white(text, at, end)
        if at >= end:
            return True, end
        name, stop = _mark_at(text, at, end, names)
        if name < 0 or name & 1 == 0:
            return False, at
        at = stop


@kernel
def cut_among(
    text: Bytes, start: int, end: int, out: Bytes, to: int, names: PackedMarks, own_only: bool
) -> tuple[int, int, bool]:
    """`cut_reasoning` by the marks of `Names`; ``own_only``: those are `MARKS` and no others."""
    start = _final_message(text, start, end, own_only)
    end = end_of_turn(text, start, end)
    first, last, stop = start, start, to  # what is kept: one span, or copies in out[to:stop]
    kept = start
    # inside: the number of the opening mark whose closing one is awaited. text_up_to: a place where other
    # text is known to stand, so that closing marks before it need not look ahead
    inside = -1
    text_up_to, has_ended = start, False  # has_ended: only closing marks and blanks follow
    here = _next_place(text, start, end, names.beginnings, own_only)
    while here < end:
        name, after = _mark_at(text, here, end, names)
        if name < 0 or (inside >= 0 and name != inside + 1):
            here = _next_place(text, here + 1, end, names.beginnings, own_only)
            continue
        if inside < 0:
            if name & 1 == 1 and not has_ended and after > text_up_to:
                has_ended, text_up_to = _ends_with_closings(text, after, end, names)
            if name & 1 == 1 and not has_ended:
                # a mark that closes nothing drops all before it, unless nothing follows: then it is a slip
                first, last, stop = start, start, to
            elif kept < here:
                first, last, stop = _keep(text, kept, here, first, last, out, to, stop)
        inside = name if inside < 0 and name & 1 == 0 else -1
        kept = after
        here = _next_place(text, after, end, names.beginnings, own_only)
    if inside < 0 and kept < end:
        first, last, stop = _keep(text, kept, end, first, last, out, to, stop)
    if stop > to:
        return to, stop, True
    return first, last, False


@kernel
def _keep(
    text: Bytes, kept: int, here: int, first: int, last: int, out: Bytes, to: int, stop: int
) -> tuple[int, int, int]:
    """Append text[kept:here] to what is kept: text[first:last] or, of several pieces, out[to:stop]."""
    if first == last and stop == to:
        return kept, here, stop
    if stop == to:
        stop = copy(text, first, last, out, to)
    return first, last, copy(text, kept, here, out, stop)


@kernel
def cut_reasoning(text: Bytes, start: int, end: int, out: Bytes, to: int) -> tuple[int, int, bool]:
    """Cut text[start:end] (UTF-8) to what is outside of reasoning, without the marks at the end of a turn.

    An unclosed block reaches to the end. A closing mark without an opening one ends reasoning too (chat
    templates put the opening mark into the prompt), and all before it is dropped, unless nothing comes after
    it: then it is a slip, and the text before it is kept. Linear time.

    Returns
    -------
    (start, end, copied)
        Where the rest is: in ``text`` or, if it had to be put together, in ``out`` from ``to`` on
        (where there must be room for ``end - start`` bytes).
    """
    return cut_among(text, start, end, out, to, PackedMarks(_POOL, _PLACES, _BEGINNINGS), True)
