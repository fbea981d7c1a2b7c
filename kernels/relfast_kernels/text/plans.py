r"""Finding plans in text: UTF-8 bytes in, actions out, in one pass.

A plan is a bracketed list whose items are strings ``'action: param'`` or pairs ``('action', 'param')``,
``['action', 'param']``, ``('action', 7)``, quoted and escaped as in Python or JSON. A list counts if at
least one item is one of the six actions; the last such list of a text is its plan.

The scanner tracks two open brackets: a list and, inside it, a pair. Pairs in square brackets may themselves
turn out to be plans (a list of plans), so an inner list is checked on its own when it closes, and becomes the
list when a third bracket opens within it. Strings with escapes are written without them to a second copy of
the text, each at its own place, and read from there. An error of grammar closes both brackets, and scanning
goes on behind it; only the last string is scanned again, since a stray quote may have swallowed the start of
the real list. A quote that opens a string never follows a backslash, so no byte lies in more than one string
of each kind of quote: time is linear.

Escapes are ``\n`` and its like, ``\ooo``, ``\xhh``, ``\uxxxx``, ``\Uxxxxxxxx``; two ``\u`` that are a
surrogate pair are one character (JSON), ``\/`` is a slash (JSON), and a backslash at the end of a line
joins it to the next (Python). What is no escape stays as it is written, as in Python; so does ``\N{...}``,
whose names would need a table, and what Python refuses (``\x4``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel, step
from relfast_kernels.entry import Bytes, Ints, Ints32
from relfast_kernels.layouts import (
    ACTIONS,
    BAD,
    ITEM_END,
    ITEM_HASH,
    ITEM_KIND,
    ITEM_PARAM,
    ITEM_TEXT,
    START,
)
from relfast_kernels.text.ascii import DIGITS, byte_set
from relfast_kernels.text.find import find_byte, hexadecimal, put_point, same_bytes, skip, skip_back
from relfast_kernels.text.vectors import WIDTH, equal, first, load

NAMES: Final = np.frombuffer("".join(ACTIONS).encode(), np.uint8)
NAME_AT: Final = np.cumsum([0, *map(len, ACTIONS)])

_SPACES: Final = byte_set("\t\n\r ")


_LETTERS: Final = {
    "\\": "\\", "'": "'", '"': '"', "/": "/",
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_MEANING: Final = np.zeros(256, np.uint8)
"""The byte that a backslash and one character stand for; 0: no such escape."""
for _letter, _meant in _LETTERS.items():
    _MEANING[ord(_letter)] = ord(_meant)

_LAST_POINT: Final = 0x10FFFF
_HIGH, _LOW, _AFTER_LOW = 0xD800, 0xDC00, 0xE000
"""The first high surrogate, the first low surrogate, and the first code point after them."""

_MASK: Final = (1 << 62) - 1
_MIX: Final = 0x1E3779B97F4A7C15  # an odd number that spreads bits, below 2^63


@kernel
def _read_escape(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """The code point that the escape at ``at`` stands for, and how many bytes it takes.

    The code point is -1 if the escape stands for nothing (a joined line) or, with a length of 1, is none.
    """
    after = int(text[at + 1])
    if _MEANING[after] != 0:
        return int(_MEANING[after]), 2
    if after == ascii.LF:
        return -1, 2
    point = -1
    length = 1
    if ascii.ZERO <= after <= ascii.SEVEN:
        point = 0
        while length < 4 and at + length < end and ascii.ZERO <= text[at + length] <= ascii.SEVEN:
            point = point * 8 + int(text[at + length]) - ascii.ZERO
            length += 1
    elif after == ascii.LOWER_X:
        point = hexadecimal(text, at + 2, end, 2)
        length = 4
    elif after == ascii.UPPER_U:
        point = hexadecimal(text, at + 2, end, 8)
        length = 10
    elif after == ascii.LOWER_U:
        point = hexadecimal(text, at + 2, end, 4)
        length = 6
        if (
            _HIGH <= point < _LOW
            and at + 7 < end
            and text[at + 6] == ascii.BACKSLASH
            and text[at + 7] == ascii.LOWER_U
        ):
            low = hexadecimal(text, at + 8, end, 4)
            if _LOW <= low < _AFTER_LOW:
                point = 0x10000 + ((point - _HIGH) << 10) + low - _LOW
                length = 12
    return (point, length) if 0 <= point <= _LAST_POINT else (-1, 1)


@kernel
def undo_escapes(text: Bytes, begin: int, end: int, to: int) -> tuple[int, int]:
    """Write the string text[begin:end] at ``to`` with its escapes undone.

    No escape is shorter than what it stands for, so it takes ``end - begin`` bytes at most.

    Returns
    -------
    (end, colon)
        Where it ends there, and its first colon (-1: none).
    """
    colon = -1
    at = begin
    while at < end:
        byte = int(text[at])
        length = 1
        if byte == ascii.BACKSLASH and at + 1 < end:
            point, length = _read_escape(text, at, end)
            if point < 0 and length > 1:
                at += length
                continue
            if point >= ascii.BEYOND_ASCII:
                to = put_point(text, to, point)
                at += length
                continue
            if point >= 0:
                byte = point
        if byte == ascii.COLON and colon < 0:
            colon = to
        text[to] = byte
        to += 1
        at += length
    return to, colon


@kernel
def hash_bytes(text: Bytes, begin: int, end: int) -> int:
    """30-bit hash of text[begin:end]."""
    value = 0
    for at in range(begin, end):
        value = (value * 131 + int(text[at]) + 1) & 0x3FFFFFFF
    return value


@kernel
def _trim(text: Bytes, begin: int, end: int) -> tuple[int, int]:
    begin = skip(text, begin, end, _SPACES)
    return begin, skip_back(text, begin, end, _SPACES)


@kernel
def _action(text: Bytes, begin: int, end: int) -> int:
    """Code of the action whose name is text[begin:end], or `BAD`."""
    for code in range(BAD):
        if same_bytes(NAMES, NAME_AT[code], NAME_AT[code + 1], text, begin, end):
            return code
    return BAD


@kernel
def _put_string(text: Bytes, begin: int, end: int, colon: int, item: Ints32) -> None:
    """Fill an item from a string ``action: param``, whose first colon is at ``colon`` (-1: none)."""
    begin, end = _trim(text, begin, end)
    kind = BAD
    param = begin
    if colon >= 0:
        _, name_end = _trim(text, begin, colon)
        param, _ = _trim(text, colon + 1, end)
        # an action without a parameter is `BAD`
        if param < end:
            kind = _action(text, begin, name_end)
        if kind == BAD:
            param = begin
    item[ITEM_KIND] = kind
    item[ITEM_TEXT] = begin
    item[ITEM_PARAM] = param
    item[ITEM_END] = end


@kernel
def _fold(text: Bytes, items: Ints32, base: int, count: int, begin: int, end: int) -> None:
    """Merge the ``count`` strings of a pair that fills text[begin:end] into one item, at ``base``."""
    if count == 1:
        return
    item = items[base]
    kind = BAD
    if count == 2 and items[base + 1, ITEM_TEXT] < items[base + 1, ITEM_END]:
        kind = _action(text, item[ITEM_TEXT], item[ITEM_END])
    if kind == BAD:
        item[ITEM_TEXT] = begin
        item[ITEM_PARAM] = begin
        item[ITEM_END] = end
    else:
        item[ITEM_PARAM] = items[base + 1, ITEM_TEXT]
        item[ITEM_END] = items[base + 1, ITEM_END]
    item[ITEM_KIND] = kind


@kernel
def accept(text: Bytes, items: Ints32, plan: Ints32) -> int:
    """Copy items to the plan, with their hashes; its vote, a 62-bit number that is equal for equal plans."""
    vote = len(items)
    for row in range(len(items)):
        begin, end = items[row, ITEM_PARAM], items[row, ITEM_END]
        value = hash_bytes(text, begin, end)
        plan[row, ITEM_KIND] = items[row, ITEM_KIND]
        plan[row, ITEM_TEXT] = items[row, ITEM_TEXT]
        plan[row, ITEM_PARAM] = begin
        plan[row, ITEM_END] = end
        plan[row, ITEM_HASH] = value
        vote = ((vote ^ (value * 8 + int(items[row, ITEM_KIND]))) * _MIX) & _MASK
        vote ^= vote >> 31
    return vote


class _List(NamedTuple):
    """A bracket that is open at ``at``: the row of its first item, how many items it has so far, how many of
    them are actions, and how many plans there were before it."""

    at: int
    base: int
    size: int
    known: int
    plans: int


@step
def _with_item(opened: _List, known: bool) -> _List:
    return _List(opened.at, opened.base, opened.size + 1, opened.known + known, opened.plans)


@step
def _read_string(text: Bytes, at: int, end: int, work: Ints32, row: int) -> int:
    """Fill an item from the string whose quote is at ``at``; the offset after it, or ``at``: its line ends
    before it does."""
    quote, colon, escaped = int(text[at]), -1, False
    close = at + 1
    while close < end:
        block = load(text, close)
        size = first(equal(block, quote) | equal(block, ascii.LF) | equal(block, ascii.BACKSLASH))
        before = first(equal(block, ascii.COLON))
        if colon < 0 and before < size:
            colon = close + before
        close += size
        if size < WIDTH:
            if text[close] != ascii.BACKSLASH:
                break
            escaped = True
            close += 2
    if close >= end or text[close] != quote:
        return at
    if escaped:
        to = text.size // 2 + at + 1
        last, colon = undo_escapes(text, at + 1, close, to)
        _put_string(text, to, last, colon, work[row])
    else:
        _put_string(text, at + 1, close, colon, work[row])
    return close + 1


@step
def _accept_list(
    text: Bytes, work: Ints32, opened: _List, stop: int, n_plans: int, plan: Ints32, spans: Ints
) -> int:
    """Accept a list that ends before ``stop`` as the plan, with its span; how many plans there are then."""
    slot = n_plans % len(spans)
    spans[slot, 0], spans[slot, 1] = opened.at, stop
    spans[slot, 2] = accept(text, work[opened.base : opened.base + opened.size], plan)
    return n_plans + 1


@kernel
def scan(
    text: Bytes, begin: int, end: int, work: Ints32, plan: Ints32, spans: Ints, starts: bool = False
) -> tuple[int, int]:
    """Find the plans in text[begin:end].

    Parameters
    ----------
    text
        Twice as long as its content: strings without their escapes are written to its second half.
    work, plan
        Room for items (× ITEM_COLUMNS), at least a third of the text's length each; ``plan`` receives the
        last plan.
    spans
        Receives begin, end and vote of as many plans as it has rows (× 3), the last one in row
        (number of plans - 1) modulo rows.
    starts
        Whether a plan that opens with a start is kept, whatever lists without one follow it.

    Returns
    -------
    (items of the last plan, number of plans)
        (0, 0) if there is none.
    """
    n_plans = n_items = 0
    level = 0  # 0: in prose, 1: in a list, 2: in a pair within it
    kept = after_value = False
    retry = -1  # where scanning goes on if what follows breaks the grammar
    outer = inner = _List(begin, 0, 0, 0, 0)
    is_square = is_list = False  # whether the inner bracket is square; whether it may be a list, so far
    at = begin
    while at < end:
        if level == 0:
            at = find_byte(text, at, end, ascii.SQUARE_OPEN)
            level, after_value = 1, False
            outer = _List(at, 0, 0, 0, n_plans)
            at += 1
            continue
        byte = int(text[at])
        if _SPACES[byte]:
            at += 1
            continue
        if byte == ascii.COMMA and after_value:
            at, after_value, retry = at + 1, False, -1
            continue
        if (byte == ascii.APOSTROPHE or byte == ascii.QUOTE) and not after_value:
            row = outer.base + outer.size if level == 1 else inner.base + inner.size
            stop = _read_string(text, at, end, work, row)
            if stop == at:
                level, at = 0, at + 1
                continue
            if level == 1:
                outer = _with_item(outer, work[row, ITEM_KIND] != BAD)
            else:
                inner = _with_item(inner, work[row, ITEM_KIND] != BAD)
            after_value, retry, at = True, at + 1, stop
            continue
        opens = (byte == ascii.SQUARE_OPEN or byte == ascii.ROUND_OPEN) and not after_value
        if opens and level == 2 and is_list:
            # a third bracket: the pair becomes the list
            level, outer = 1, inner
        if opens and level == 1:
            level = 2
            is_square = is_list = byte == ascii.SQUARE_OPEN
            inner = _List(at, outer.base + outer.size, 0, 0, n_plans)
            at, retry = at + 1, -1
            continue
        if level == 2 and byte == (ascii.SQUARE_CLOSE if is_square else ascii.ROUND_CLOSE):
            at += 1
            if is_list and inner.known > 0 and (not kept or work[inner.base, ITEM_KIND] == START):
                kept = starts and work[inner.base, ITEM_KIND] == START
                n_items = inner.size
                n_plans = _accept_list(text, work, inner, at, n_plans, plan, spans)
            if inner.size == 0:
                _put_string(text, inner.at, at, -1, work[inner.base])
            _fold(text, work, inner.base, inner.size, inner.at, at)
            outer = _with_item(outer, work[inner.base, ITEM_KIND] != BAD)
            level, after_value, retry = 1, True, -1
            continue
        if level == 1 and byte == ascii.SQUARE_CLOSE:
            at += 1
            level = 0
            if outer.known > 0 and (not kept or work[outer.base, ITEM_KIND] == START):
                kept = starts and work[outer.base, ITEM_KIND] == START
                n_items = outer.size
                # what was counted as plans within this one are its pairs
                n_plans = _accept_list(text, work, outer, at, outer.plans, plan, spans)
            continue
        if level == 2 and not after_value and (DIGITS[byte] or byte == ascii.HYPHEN):
            stop = skip(text, at + 1, end, DIGITS)
            _put_string(text, at, stop, -1, work[inner.base + inner.size])
            inner = _with_item(inner, False)
            at, is_list, after_value, retry = stop, False, True, -1
            continue
        level = 0
        if retry >= 0:
            at, retry = retry, -1
    return n_items, n_plans
