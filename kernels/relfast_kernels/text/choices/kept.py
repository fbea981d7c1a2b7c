"""What sentences say that this work space has met: a few hundred of them, each in one place.

Beside the memo that Python fills (`relfast_kernels.text.rel_a_memo.Tables`), for what the kernel itself has
read. A work space belongs to one thread at a time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import CHOICES_WORK, PATTERN_WORK
from relfast_kernels.text.choices.state import END_OF_WALK
from relfast_kernels.text.patterns.symbols import constant

MAX_KEPT: Final = 240
"""Bytes of a text."""
_WIDTH: Final = 2 + MAX_KEPT // 8
_SLOTS: Final = 1 << 10
_KEPT: Final = constant(CHOICES_WORK + (1 << 14))
_EIGHT: Final = np.uint64(8)
if END_OF_WALK > _KEPT or _KEPT + _SLOTS * _WIDTH > PATTERN_WORK:
    raise ValueError("what is kept of sentences has no room")


@kernel
def _word(text: Any, start: int, end: int, k: int) -> Any:
    """Up to eight bytes of a text as a number."""
    at = start + 8 * k
    word = np.uint64(0)
    for n in range(min(8, end - at)):
        word |= np.uint64(text[at + n]) << (_EIGHT * np.uint64(n))
    return np.int64(word)


@kernel
def _place(value: Any) -> Any:
    return _KEPT + ((value ^ (value >> 32)) & (_SLOTS - 1)) * _WIDTH


@kernel
def kept(value: Any, text: Any, start: int, end: int, work: Any) -> Any:
    """The bits that were kept of a text, whose hash is ``value``; 0: none."""
    place = _place(value)
    about = work[place + 1]
    if work[place] != value or about & 255 != end - start:
        return np.int64(0)
    for k in range((end - start + 7) >> 3):
        if work[place + 2 + k] != _word(text, start, end, k):
            return np.int64(0)
    return about >> 8


@kernel
def keep(value: Any, text: Any, start: int, end: int, bits: Any, work: Any) -> None:
    """Keep the bits of a text in place of another one's."""
    place = _place(value)
    work[place], work[place + 1] = value, bits << 8 | (end - start)
    for k in range((end - start + 7) >> 3):
        work[place + 2 + k] = _word(text, start, end, k)
