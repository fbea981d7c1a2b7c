"""JSON values as orjson reads them, and would write them: without blanks, strings in one form."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    FLOAT,
    INTEGER,
    LIST,
    LITERAL,
    OBJECT,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.canonical import put_json
from relfast_kernels.text.find import same_bytes
from relfast_kernels.text.json_scan import has_escaped_name, is_digit

MAX_ID_DIGITS = 18
"""Digits of a number that every JSON parser keeps exactly."""
_MOST_MEMBERS = 32


@kernel
def _is_exact(data: Any, start: int, end: int, kind: int) -> bool:
    """Whether a value that is no text and holds none is written as it stands: a short number, a word."""
    if kind == INTEGER:
        return data[start] != 45 and end - start <= MAX_ID_DIGITS
    return kind == LITERAL and data[start] != 45 and not is_digit(data[start])


@kernel
def _has_each_once(data: Any, tape: Any, token: int) -> bool:
    """Whether an object has no member twice; of one with many members, or escapes in names, nobody looks."""
    if has_escaped_name(data, tape, token):
        return False
    n = 0
    at = token + 1
    stop = tape[token, TOKEN_NEXT]
    while at < stop:
        n += 1
        if n > _MOST_MEMBERS:
            return False
        other = token + 1
        while other < at:
            if same_bytes(
                data,
                tape[at, TOKEN_START],
                tape[at, TOKEN_END],
                data,
                tape[other, TOKEN_START],
                tape[other, TOKEN_END],
            ):
                return False
            other = tape[other + 1, TOKEN_NEXT]
        at = tape[at + 1, TOKEN_NEXT]
    return True


@kernel
def _put_marks(data: Any, at: int, end: int, out: Any, to: int) -> int:
    """Copy what stands between values, without blanks."""
    while at < end:
        byte = data[at]
        if byte > 32:
            out[to] = byte
            to += 1
        at += 1
    return to


@kernel
def put_value(data: Any, tape: Any, token: int, out: Any, to: int) -> int:
    """Write a list or an object; where it ends, or -1: it has something that only its parser would write.

    It takes no more bytes than it had. Up to `WIDTH` bytes after the end are overwritten.
    """
    cursor = tape[token, TOKEN_START]
    for at in range(token, tape[token, TOKEN_NEXT]):
        kind, start, end = tape[at, TOKEN_KIND], tape[at, TOKEN_START], tape[at, TOKEN_END]
        if kind == LIST:
            continue
        if kind == OBJECT:
            if not _has_each_once(data, tape, at):
                return -1
            continue
        if kind == STRING or kind == ESCAPED:
            to = put_json(data, start, end, out, _put_marks(data, cursor, start - 1, out, to))
            cursor = end + 1
            continue
        if not _is_exact(data, start, end, kind):
            return -1
        to = _put_marks(data, start, end, out, _put_marks(data, cursor, start, out, to))
        cursor = end
    return _put_marks(data, cursor, tape[token, TOKEN_END], out, to)


@kernel
def is_plain_json(data: Any, tape: Any, first: int, stop: int, start: int, end: int) -> bool:
    """Whether orjson reads text between whose tokens nothing else stands: no control characters, and no
    number that it may refuse."""
    bad = False
    for at in range(np.uint64(start), np.uint64(end)):
        bad |= data[at] < 32
    if bad:
        return False
    for token in range(first, stop):
        if tape[token, TOKEN_KIND] == FLOAT:
            return False
    return True
