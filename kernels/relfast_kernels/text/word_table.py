"""Words that the rules of extractors know, in a table that the rules' own module fills: letters → flags.

A word is its letters as two numbers of eight bytes, so that only equal words are found. Rules that know the
beginning of words have the first six letters there, marked so.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import STEM_LETTERS, STEM_MARK, WORD_FACTOR, WORD_SLOTS
from relfast_kernels.text.find import load8

_FACTOR: Final = np.uint64(WORD_FACTOR)
_SHIFT: Final = np.uint64(40)
_ALL: Final = np.uint64((1 << 64) - 1)


@kernel
def _packed(text: Any, start: int, end: int) -> Any:
    size = end - start
    if size > 0 and start + 8 <= len(text):
        return np.int64(load8(text, start) & (_ALL >> np.uint64(8 * (8 - size))))
    word = np.uint64(0)
    for at in range(start, end):
        word |= np.uint64(text[at]) << np.uint64(8 * (at - start))
    return np.int64(word)


@kernel
def _find(first: Any, second: Any, words: Any) -> Any:
    mixed = (np.uint64(first) * _FACTOR ^ np.uint64(second)) * _FACTOR
    at = np.int64(mixed >> _SHIFT) & (WORD_SLOTS - 1)
    while words[at, 2] != 0:
        if words[at, 0] == first and words[at, 1] == second:
            return words[at, 2]
        at = (at + 1) & (WORD_SLOTS - 1)
    return np.int64(0)


@kernel
def flags_of(text: Any, start: int, end: int, words: Any) -> Any:
    """Flags of the word text[start:end], lower-case letters: 0 where no rule knows it.

    Parameters
    ----------
    words : int64, shape (WORD_SLOTS, 3)
        A word's letters as two numbers, and its flags; open addressing.
    """
    found = np.int64(0)
    if end - start <= 8:
        found = _find(_packed(text, start, end), np.int64(0), words)
    elif end - start <= 16:
        found = _find(_packed(text, start, start + 8), _packed(text, start + 8, end), words)
    if end - start >= STEM_LETTERS:
        found |= _find(_packed(text, start, start + STEM_LETTERS), np.int64(STEM_MARK), words)
    return found
