"""`relfast.tasks.yes_no_patterns.plain`, and parts of texts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import CHUNK
from relfast_kernels.text.patterns.classes import class_of
from relfast_kernels.text.patterns.machine import number_of, substitute
from relfast_kernels.text.patterns.symbols import DELETE, IS_ALNUM, IS_BLANK, KIND, N_SYMBOLS, PLAIN, constant

_TAG, _LATEX, _SPACING = number_of("TAG"), number_of("LATEX"), number_of("SPACING")
LINE_FEED, PIPE, POINT = map(constant, (10, 124, 46))
NOTHING: Final = np.zeros(0, np.uint8)
SPACE: Final = np.full(1, 32, np.uint8)
_ONE: Final = np.uint64(1)


def members(text: str) -> Any:
    """A table of the symbols of some characters."""
    table = np.zeros(N_SYMBOLS, np.uint8)
    table[sorted(class_of(text))] = 1
    return table


BLANKS: Final = (KIND & IS_BLANK != 0).astype(np.uint8)


@kernel
def plain(text: Any, start: int, end: int, to: int, work: Any) -> int:
    """Write text[start:end] as plain to ``to``; where it ends. As many bytes after that are overwritten."""
    first = to
    angle, others = False, False
    for k in range(start, end):
        symbol = PLAIN[text[k]]
        if symbol != DELETE:
            text[to] = symbol
            to += 1
            angle |= symbol == 60
            others |= (symbol == 92) | (symbol == 38) | (symbol == 95)
    if angle:
        to = substitute(_TAG, NOTHING, text, first, to, work)
    if others:
        to = substitute(_LATEX, NOTHING, text, first, to, work)
        to = substitute(_SPACING, SPACE, text, first, to, work)
    return to


@kernel
def skip(text: Any, start: int, end: int, table: Any) -> int:
    """Index after members of a table: ``lstrip``."""
    while start < end and table[text[start]] != 0:
        start += 1
    return start


@kernel
def skip_back(text: Any, start: int, end: int, table: Any) -> int:
    """Index before members of a table at the end: ``rstrip``."""
    while end > start and table[text[end - 1]] != 0:
        end -= 1
    return end


@kernel
def find(text: Any, start: int, end: int, symbol: int) -> int:
    """Index of a symbol, or -1."""
    for at in range(start, end):
        if text[at] == symbol:
            return at
    return -1


@kernel
def find_back(text: Any, start: int, end: int, symbol: int) -> int:
    """Index of the last one, or -1."""
    for at in range(end - 1, start - 1, -1):
        if text[at] == symbol:
            return at
    return -1


@kernel
def is_in(text: Any, at: int, start: int, end: int, bits: int) -> bool:
    """Whether there is a symbol of a kind."""
    return start <= at < end and KIND[text[at]] & bits != 0


@kernel
def any_alnum(text: Any, start: int, end: int) -> bool:
    """Whether a letter or digit is there."""
    for at in range(start, end):
        if KIND[text[at]] & IS_ALNUM != 0:
            return True
    return False


@kernel
def on_one_line(text: Any, start: int, end: int) -> bool:
    """`relfast.tasks.final.on_one_line`."""
    for at in range(start, end):
        if text[at] == 10 or text[at] == 13:
            return False
    return True


@kernel
def find_word(text: Any, start: int, end: int, word: Any) -> int:
    """Where a word of two letters or more begins in text[start:end], or -1."""
    n = len(word)
    first, second = word[0], word[1]
    for chunk in range(start, end - n + 1, CHUNK):
        stop = min(chunk + CHUNK, end - n + 1)
        hits = False
        for k in range(np.uint64(chunk), np.uint64(stop)):
            hits |= (text[k] == first) & (text[k + _ONE] == second)
        if not hits:
            continue
        for at in range(chunk, stop):
            if text[at] == first and text[at + 1] == second:
                k = 2
                while k < n and text[at + k] == word[k]:
                    k += 1
                if k == n:
                    return at
    return -1


@kernel
def has_word(text: Any, start: int, end: int, word: Any) -> bool:
    """Whether ``word in text[start:end]``; it has two letters or more."""
    return find_word(text, start, end, word) >= 0
