"""Whether a response's only list is surely its plan under ``strict``:
`relfast.tasks.seqbench.strict.may_differ` without its patterns. What is not sure is Python's to say."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.maze.phrases import CLOSING, DENIALS, NEAR
from relfast_kernels.text.find import find_byte

_WORDS = np.frombuffer("".join(DENIALS).encode(), np.uint8)
_ENDS = np.cumsum(np.array([len(word.encode()) for word in DENIALS]))
_START = np.frombuffer(b"start", np.uint8)

_CLOSES = np.zeros(256, np.bool_)
_CLOSES[list(CLOSING.encode())] = True
_LOWER = np.arange(256).astype(np.uint8)
_LOWER[65:91] += 32
_BEGINS = np.zeros(256, np.bool_)
"""Bytes that a denial begins with."""
_BEGINS[[word.encode()[0] for word in DENIALS]] = True


@kernel
def says_start(text: Any, begin: int, end: int) -> bool:
    """Whether text[begin:end] has the word, in either case."""
    for at in range(begin, end - len(_START) + 1):
        if _LOWER[text[at]] == _START[0]:
            same = True
            for k in range(1, len(_START)):
                if _LOWER[text[at + k]] != _START[k]:
                    same = False
                    break
            if same:
                return True
    return False


@kernel
def _denies(text: Any, begin: int, end: int) -> bool:
    for at in range(begin, end):
        if not _BEGINS[_LOWER[text[at]]]:
            continue
        first = 0
        for word in range(len(_ENDS)):
            length = _ENDS[word] - first
            if at + length <= end:
                same = True
                for k in range(length):
                    if _WORDS[first + k] != _LOWER[text[at + k]]:
                        same = False
                        break
                if same:
                    return True
            first = _ENDS[word]
    return False


@kernel
def is_surely_plain(text: Any, first: int, last: int, begin: int, end: int) -> bool:
    """Whether text[first:last] (ASCII) surely says nothing that turns its list at begin:end down."""
    for at in range(end, last):
        if not _CLOSES[text[at]]:
            return False
    if says_start(text, first, begin):
        return False
    near = max(first, begin - NEAR)
    if find_byte(text, near, begin, 126) < begin or find_byte(text, near, begin, 60) < begin:
        return False
    return not _denies(text, near, begin)
