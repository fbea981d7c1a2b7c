"""What says that a response is not there: errors, status codes, refusals, and texts that nobody wrote.

What `relfast.formats.failure` and `relfast.formats.entry` do stands there; this finds the same words. A
sample that failed has a number from `NO_TEXT` on instead of its text's token: which words, and the token that
they quote. `failure_rows` writes them down.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    AS_SAID,
    ESCAPED,
    INTEGER,
    LIST,
    LITERAL,
    MAX_TOKENS,
    NULL_RESPONSE,
    OBJECT,
    OF_OBJECT,
    STATUS,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import same_bytes
from relfast_kernels.text.json_scan import has_escaped_name, is_digit, is_null, member

UNSURE = -1
"""Instead of a text or a failure: only the exact way knows."""

NO_TEXT: Final = 16 * MAX_TOKENS
"""Numbers of samples from here on are failures."""
_MOST_WORDS: Final = 256

_ERROR = np.frombuffer(b"error", np.uint8)


@kernel
def failure(words: int, token: int) -> int:
    """The number of a failed sample, with the token that it quotes (0: none)."""
    return NO_TEXT + token * _MOST_WORDS + words


@kernel
def words_of(sample: int) -> Any:
    """Which words a failed sample has, and the token that they quote."""
    return (sample - NO_TEXT) % _MOST_WORDS, (sample - NO_TEXT) // _MOST_WORDS


@kernel
def is_false(data: Any, tape: Any, token: int) -> bool:
    """Whether a value is there, and ``false``."""
    return bool(token > 0 and tape[token, TOKEN_KIND] == LITERAL and data[tape[token, TOKEN_START]] == 102)


@kernel
def says_nothing(data: Any, tape: Any, token: int) -> bool:
    """Whether all members of an object are null."""
    stop = tape[token, TOKEN_NEXT]
    at = token + 1
    while at < stop:
        if not is_null(data, tape, at + 1):
            # of equal names the last one counts
            start, end = tape[at, TOKEN_START], tape[at, TOKEN_END]
            later = tape[at + 1, TOKEN_NEXT]
            again = False
            while later < stop:
                first, last = tape[later, TOKEN_START], tape[later, TOKEN_END]
                again |= same_bytes(data, start, end, data, first, last)
                later = tape[later + 1, TOKEN_NEXT]
            if not again:
                return False
        at = tape[at + 1, TOKEN_NEXT]
    return True


@kernel
def said_of_one_error(data: Any, tape: Any, error: int) -> int:
    """What an error says that is no list: a failure, 0 for nothing, or `UNSURE`."""
    if is_null(data, tape, error) or is_false(data, tape, error):
        return 0
    kind = tape[error, TOKEN_KIND]
    if kind <= ESCAPED:
        return 0 if tape[error, TOKEN_START] == tape[error, TOKEN_END] else failure(AS_SAID, error)
    if kind != OBJECT or has_escaped_name(data, tape, error):
        return UNSURE
    if says_nothing(data, tape, error):
        return 0
    inner = member(data, tape, error, _ERROR)
    while inner != 0 and tape[inner, TOKEN_KIND] == OBJECT:
        # as servers wrap it
        error = inner
        if has_escaped_name(data, tape, error) or says_nothing(data, tape, error):
            return UNSURE
        inner = member(data, tape, error, _ERROR)
    return failure(OF_OBJECT, error)


@kernel
def said_of_error(data: Any, tape: Any, error: int) -> int:
    """What an ``error`` says: a failure, 0 for nothing, or `UNSURE`."""
    if error == 0 or tape[error, TOKEN_KIND] != LIST:
        return said_of_one_error(data, tape, error)
    at = error + 1
    while at < tape[error, TOKEN_NEXT]:
        said = said_of_one_error(data, tape, at)
        if said != 0:
            return said
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def said_of_status(data: Any, tape: Any, code: int) -> int:
    """What a status code says: a failure, 0 for nothing, or `UNSURE`."""
    if is_null(data, tape, code):
        return 0
    start, end, kind = tape[code, TOKEN_START], tape[code, TOKEN_END], tape[code, TOKEN_KIND]
    if (kind != INTEGER and kind != STRING) or end != start + 3 or data[start] == 48:
        return UNSURE
    for at in range(start, end):
        if not is_digit(data[at]):
            return UNSURE
    return 0 if data[start] == 50 else failure(STATUS, code)


@kernel
def _all_failed(samples: Any, n: int, said: int) -> int:
    n = max(n, 1)
    for k in range(n):
        samples[k] = said
    return n


@kernel
def settled(data: Any, tape: Any, failed: int, error: int, code: int, n: int, samples: Any) -> int:
    """How many samples a row has once it is known what it says of failures, or `UNSURE`: it has none, and
    does not say why.

    Parameters
    ----------
    failed
        The failure of all the row's requests, 0 or `UNSURE`.
    error, code
        The row's ``error`` and ``status_code``.
    n
        How many samples were found.
    samples : int64
        Changed where they failed.
    """
    if failed == 0:
        failed = said_of_status(data, tape, code)
    if failed != 0:
        return UNSURE if failed == UNSURE else _all_failed(samples, n, failed)
    if error != 0 and tape[error, TOKEN_KIND] == LIST:
        listed = 0
        at = error + 1
        while at < tape[error, TOKEN_NEXT]:
            listed += 1
            at = tape[at, TOKEN_NEXT]
        if listed == n:
            # they go with the samples one by one
            at = error + 1
            for k in range(n):
                said = said_of_error(data, tape, at)
                if said == UNSURE:
                    return UNSURE
                if said != 0:
                    samples[k] = said
                at = tape[at, TOKEN_NEXT]
            return n if n > 0 else UNSURE
    said = said_of_error(data, tape, error)
    if said == UNSURE or (said == 0 and n == 0):
        return UNSURE
    if said != 0:
        # about what is null, or all
        some = False
        for k in range(n):
            if samples[k] == failure(NULL_RESPONSE, 0):
                samples[k] = said
                some = True
        if not some:
            return _all_failed(samples, n, said)
    return n


@kernel
def how_many_failed(samples: Any, n: int) -> int:
    """How many of a row's samples are failures."""
    failed = 0
    for k in range(n):
        failed += samples[k] >= NO_TEXT
    return failed
