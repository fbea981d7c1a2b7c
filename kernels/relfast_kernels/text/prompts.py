"""The keys of prompts: the JSON of a row's id and, if that does not tell the prompt, a digest of its
question, as they stand in the row. `relfast.stats.samples` has the same in Python, and
`relfast.engine.columns.rows` says when rows have which."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    INTEGER,
    LIST,
    LITERAL,
    MAX_ID_DIGITS,
    OBJECT,
    PROMPT_DIGITS,
    PROMPT_ID,
    PROMPT_MARK,
    SAMPLE_ASKED,
    SAMPLE_NO_ID,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.ascii import BACKSLASH, HYPHEN, WHITE
from relfast_kernels.text.blake2b import blake2b
from relfast_kernels.text.find import copy, find_byte, hash_text, hexadecimal
from relfast_kernels.text.json_scan import named, put_json, put_text

Bytes = npt.NDArray[np.uint8]
Tape = npt.NDArray[np.int64]

_MARK: Final = np.frombuffer(PROMPT_MARK, np.uint8)
_SIZE: Final = len(PROMPT_MARK) + PROMPT_DIGITS + 1
_NULL: Final = np.frombuffer(b"null", np.uint8)
_PROMPT_ID: Final = np.frombuffer(b'"' + PROMPT_ID.encode(), np.uint8)
_QUOTE: Final = ord('"')
_OPEN, _COMMA, _CLOSE = ord("["), ord(","), ord("]")
_ZERO, _NINE, _A, _N = ord("0"), ord("9"), ord("a"), ord("n")
_FIRST_NON_ASCII: Final = 0x80
_MOST_MEMBERS: Final = 32
_ID_BITS: Final = np.uint64(0xFFFF_FFFF)

IS_ID, IS_COUNTER, MAY_BE_COUNTER = 0, 1, 2
"""Whether an id that a tool gave is a number; only Python can tell of strings with escapes or non-ASCII."""


@kernel
def counter_kind(data: Bytes, tape: Tape, token: int) -> int:
    """Whether an id is a number, also as text: one of `IS_ID` …"""
    kind = tape[token, TOKEN_KIND]
    if kind == INTEGER:
        return IS_COUNTER
    if kind != STRING:
        return MAY_BE_COUNTER if kind == ESCAPED else IS_ID
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    for at in range(start, end):
        if data[at] >= _FIRST_NON_ASCII:
            return MAY_BE_COUNTER
        if not _ZERO <= data[at] <= _NINE:
            return IS_ID
    return IS_COUNTER if end > start else IS_ID


@kernel
def put_prompt(
    data: Bytes, tape: Tape, question: int, id_start: int, id_end: int, scratch: Bytes, used: int
) -> int:
    """Write the key of an id, scratch[id_start:id_end], and of a question's text; the offset after it."""
    start, end = tape[question, TOKEN_START], tape[question, TOKEN_END]
    if tape[question, TOKEN_KIND] == ESCAPED:
        digest = hash_text(scratch, used, put_text(data, start, end, scratch, used))
    else:
        digest = hash_text(data, start, end)
    at = copy(scratch, id_start, id_end, scratch, used)
    at = copy(_MARK, 0, len(_MARK), scratch, at)
    for k in range(PROMPT_DIGITS):
        digit = np.int64((digest >> np.uint64(4 * (PROMPT_DIGITS - 1 - k))) & np.uint64(15))
        _put_digit(scratch, at + k, digit)
    scratch[at + PROMPT_DIGITS] = _QUOTE
    return at + PROMPT_DIGITS + 1


@kernel
def begin_prompt_id(data: Bytes, tape: Tape, prompt: int, scratch: Bytes, used: int) -> int:
    """Write the part of the JSON of a prompt and its gold that comes before the gold; the offset after it."""
    start, end = tape[prompt, TOKEN_START], tape[prompt, TOKEN_END]
    scratch[used] = _OPEN
    if tape[prompt, TOKEN_KIND] == ESCAPED:
        at = put_json(data, start, end, scratch, used + 1)
    else:
        at = copy(data, start - 1, end + 1, scratch, used + 1)
    scratch[at] = _COMMA
    return at + 1


@kernel
def end_prompt_id(
    scratch: Bytes, begun: int, stop: int, gold: int, gold_end: int, has_id: bool, work: Tape
) -> int:
    """Write over a gold's JSON, scratch[gold:gold_end], the key of the prompt that `begin_prompt_id` has
    begun at scratch[begun:stop]: an id that is a digest of prompt and gold, or none, and the digest besides
    it. The offset after it. `relfast.formats.reading.prompt_id` computes the same."""
    at = copy(scratch, begun, stop, scratch, gold_end)
    at = copy(scratch, gold, gold_end, scratch, at)
    scratch[at] = _CLOSE
    value = blake2b(scratch, gold_end, at + 1, work)
    if has_id:
        at = copy(_PROMPT_ID, 0, len(_PROMPT_ID), scratch, gold)
    else:
        at = copy(_MARK, 0, len(_MARK), scratch, copy(_NULL, 0, len(_NULL), scratch, gold))
    for k in range(PROMPT_DIGITS // 2):
        byte = np.int64((value >> np.uint64(8 * k)) & np.uint64(255))
        at = _put_digit(scratch, _put_digit(scratch, at, byte >> 4), byte & 15)
    scratch[at] = _QUOTE
    return at + 1


@kernel
def put_value(data: Bytes, tape: Tape, token: int, out: Bytes, to: int) -> int:
    """Write a value as orjson writes what it has read of it; the offset after it, or -1 if that may differ in
    more than blanks and escapes: numbers with a point or many digits, members of one name."""
    is_text = tape[token, TOKEN_KIND] <= ESCAPED
    at = tape[token, TOKEN_START] - (1 if is_text else 0)
    for k in range(token, tape[token, TOKEN_NEXT]):
        kind, start, end = tape[k, TOKEN_KIND], tape[k, TOKEN_START], tape[k, TOKEN_END]
        to = _put_signs(data, at, start - 1 if kind <= ESCAPED else start, out, to)
        at = end
        if kind == OBJECT or kind == LIST:
            if kind == OBJECT and _repeats_name(data, tape, k):
                return -1
            at = start
        elif kind == ESCAPED:
            to, at = put_json(data, start, end, out, to), end + 1
        elif kind == STRING:
            if find_byte(data, start, end, BACKSLASH) < end:
                return -1  # a name
            to, at = copy(data, start - 1, end + 1, out, to), end + 1
        elif data[start] >= _A if kind == LITERAL else kind == INTEGER and end - start <= MAX_ID_DIGITS:
            if data[start] == HYPHEN:
                return -1  # -0 is 0
            to = copy(data, start, end, out, to)
        else:
            return -1
    return _put_signs(data, at, at if is_text else tape[token, TOKEN_END], out, to)


@kernel
def _put_signs(data: Bytes, at: int, end: int, out: Bytes, to: int) -> int:
    """Write what stands between values, without blanks."""
    for k in range(at, end):
        if not WHITE[data[k]]:
            out[to] = data[k]
            to += 1
    return to


@kernel
def _repeats_name(data: Bytes, tape: Tape, token: int) -> bool:
    """Whether two members of an object have one name, or it has very many members."""
    n = 0
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        n += 1
        if (
            n > _MOST_MEMBERS
            or named(data, tape, token, data, tape[at, TOKEN_START], tape[at, TOKEN_END]) != at + 1
        ):
            return True
        at = tape[at + 1, TOKEN_NEXT]
    return False


@kernel
def _put_digit(out: Bytes, at: int, digit: Any) -> int:
    out[at] = _ZERO + digit if digit < 10 else _A + digit - 10
    return at + 1


@kernel
def _asks(data: Bytes, start: int, end: int) -> bool:
    """Whether a key ends with a prompt: within a JSON text, no quote follows a colon, and no id ends so."""
    if end - start <= _SIZE:
        return False
    for k in range(len(_MARK)):
        if data[end - _SIZE + k] != _MARK[k]:
            return False
    return True


@kernel
def hash_key(data: Bytes, start: int, end: int) -> Any:
    """The hash of a prompt's key, data[start:end]; see `relfast.stats.samples.hash_key`."""
    if not _asks(data, start, end):
        return hash_text(data, start, end)
    asked = np.uint64(0)
    for at in range(end - PROMPT_DIGITS - 1, end - PROMPT_DIGITS - 1 + PROMPT_DIGITS // 2):
        asked = asked << np.uint64(4) | np.uint64(hexadecimal(data, at, end, 1))
    return hash_text(data, start, end - _SIZE) & _ID_BITS | asked << np.uint64(32)


@kernel
def key_flags(data: Bytes, start: int, end: int) -> int:
    """The flags of a prompt's key in the task byte of its samples."""
    if not _asks(data, start, end):
        return 0
    return SAMPLE_ASKED | SAMPLE_NO_ID if data[start] == _N else SAMPLE_ASKED
