"""JSON as bytes: where values end, checked as a parser would."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import ONE, find_byte

MAX_DEPTH = 60
"""Nesting followed in values that scoring does not read."""

QUOTE, BACKSLASH = 34, 92


@kernel
def is_escaped(data: Any, at: int, start: int) -> bool:
    """Whether the byte at ``at`` follows an odd run of backslashes."""
    run = 0
    while at - run - 1 >= start and data[at - run - 1] == BACKSLASH:
        run += 1
    return run % 2 == 1


@kernel
def string_end(data: Any, start: int, end: int) -> int:
    """Index of the closing quote of a string whose first byte is at ``start``, or -1."""
    at = start
    while True:
        at = find_byte(data, at, end, QUOTE)
        if at >= end:
            return -1
        if data[at - 1] != BACKSLASH or not is_escaped(data, at, start):
            return at
        at += 1


@kernel
def escapes_are_simple(data: Any, start: int, end: int) -> bool:
    """Whether every escape of a string is one of ``\\" \\\\ \\/ \\b \\f \\n \\r \\t``."""
    bad = False
    for k in range(np.uint64(start), np.uint64(max(start, end - 1))):
        after = data[k + ONE]
        bad |= (data[k] == BACKSLASH) & (after != 110) & (after != 34) & (after != BACKSLASH)
    if not bad:
        return True
    # a rarer escape, or an escaped backslash, which may stand before anything: look at each on its own
    at = start
    while True:
        at = find_byte(data, at, end, BACKSLASH)
        if at >= end:
            return True
        after = data[at + 1]
        if not (
            after == 110
            or after == 34
            or after == 116
            or after == 92
            or after == 114
            or after == 47
            or after == 98
            or after == 102
        ):
            return False
        at += 2


@kernel
def skip_spaces(data: Any, at: int, end: int) -> int:
    """Index after blanks."""
    while at < end and data[at] == 32:
        at += 1
    return at


@kernel
def is_digit(byte: int) -> bool:
    """Whether a byte is an ASCII digit."""
    return 48 <= byte <= 57


@kernel
def all_digits(data: Any, start: int, end: int) -> bool:
    """Whether all bytes are ASCII digits."""
    for at in range(start, end):
        if not is_digit(data[at]):
            return False
    return True


@kernel
def _number_end(data: Any, at: int, end: int) -> int:
    """Index after a JSON number, or -1."""
    if at < end and data[at] == 45:
        at += 1
    if at >= end or not is_digit(data[at]):
        return -1
    if data[at] == 48:
        at += 1
    else:
        while at < end and is_digit(data[at]):
            at += 1
    if at < end and data[at] == 46:
        at += 1
        if at >= end or not is_digit(data[at]):
            return -1
        while at < end and is_digit(data[at]):
            at += 1
    if at < end and (data[at] == 101 or data[at] == 69):
        at += 1
        if at < end and (data[at] == 43 or data[at] == 45):
            at += 1
        if at >= end or not is_digit(data[at]):
            return -1
        while at < end and is_digit(data[at]):
            at += 1
    return at


@kernel
def _literal_end(data: Any, at: int, end: int) -> int:
    """Index after ``true``, ``false`` or ``null``, or -1."""
    if end - at >= 4 and data[at] == 116:
        if data[at + 1] == 114 and data[at + 2] == 117 and data[at + 3] == 101:
            return at + 4
    elif end - at >= 4 and data[at] == 110:
        if data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108:
            return at + 4
    elif (
        end - at >= 5
        and data[at] == 102
        and data[at + 1] == 97
        and data[at + 2] == 108
        and data[at + 3] == 115
        and data[at + 4] == 101
    ):
        return at + 5
    return -1


@kernel
def value_end(data: Any, at: int, end: int) -> int:
    """Index after a JSON value of any kind, checked as a parser would, or -1."""
    objects = np.uint64(0)  # bit d: the container at depth d is an object
    depth = 0
    while True:
        at = skip_spaces(data, at, end)
        if at >= end:
            return -1
        byte = data[at]
        opened = False
        if byte == QUOTE:
            close = string_end(data, at + 1, end)
            if close < 0 or not escapes_are_simple(data, at + 1, close):
                return -1
            at = close + 1
        elif byte == 123 or byte == 91:
            if depth >= MAX_DEPTH:
                return -1
            bit = np.uint64(1) << np.uint64(depth)
            objects = (objects | bit) if byte == 123 else (objects & ~bit)
            depth += 1
            at = skip_spaces(data, at + 1, end)
            if at >= end:
                return -1
            if data[at] == (125 if byte == 123 else 93):
                depth -= 1
                at += 1
            else:
                opened = True
        elif byte == 45 or is_digit(byte):
            at = _number_end(data, at, end)
            if at < 0:
                return -1
        else:
            at = _literal_end(data, at, end)
            if at < 0:
                return -1
        # a value has ended, or a container has begun: what may follow?
        expect_key = opened and (objects >> np.uint64(depth - 1)) & np.uint64(1) == 1
        while not opened and depth > 0:
            at = skip_spaces(data, at, end)
            if at >= end:
                return -1
            is_object = (objects >> np.uint64(depth - 1)) & np.uint64(1) == 1
            if data[at] == 44:
                at += 1
                expect_key = is_object
                break
            if data[at] != (125 if is_object else 93):
                return -1
            depth -= 1
            at += 1
        if depth == 0:
            return at
        if expect_key:
            at = skip_spaces(data, at, end)
            if at >= end or data[at] != QUOTE:
                return -1
            close = string_end(data, at + 1, end)
            if close < 0 or not escapes_are_simple(data, at + 1, close):
                return -1
            at = skip_spaces(data, close + 1, end)
            if at >= end or data[at] != 58:
                return -1
            at += 1


@kernel
def same_bytes(data: Any, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Whether two spans hold the same bytes."""
    if a_end - a != b_end - b:
        return False
    for k in range(a_end - a):
        if data[a + k] != data[b + k]:
            return False
    return True


@kernel
def same_as(data: Any, start: int, end: int, name: Any) -> bool:
    """Whether a span holds the bytes of ``name``."""
    if end - start != len(name):
        return False
    for k in range(len(name)):
        if data[start + k] != name[k]:
            return False
    return True
