"""Texts whose first line is nothing but an answer: `relfast.tasks.rel_a.skim.opens_with_the_answer`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import decode
from relfast_kernels.text.choices.sentences import MAX_POINTS, POINTS, SENTENCE_BYTES
from relfast_kernels.text.choices.skimming import READS, SKIMS, skim_all
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, has, number_of
from relfast_kernels.text.patterns.symbols import UNREADABLE, constant, symbol_of

STANDS, FALLS, CANNOT = map(constant, (1, 0, -1))
_REOPENS: Final = number_of("A_REOPENS")
_STOP: Final = np.uint8(46)
_BLANK: Final = np.uint8(32)


@kernel
def opening_stands(
    text: Any, start: int, first: int, end: int, value: int, out: Any, low: int, work: Any
) -> Any:
    """Whether the answer of the line text[start:first] stands, whatever comes behind it: `STANDS`; `FALLS`:
    that has to be read; or it `CANNOT` be said here."""
    if end - start > MAX_POINTS or low + SENTENCE_BYTES > len(out):
        return CANNOT
    work[HAS_GIVEN_UP] = 0
    to = low
    behind = low
    at = start
    while at < end:
        byte = text[at]
        if to - low > MAX_POINTS - 4:
            return CANNOT
        if at == first:
            behind = to
        if byte == 10:
            # a line ends as a sentence does
            out[to], out[to + 1], out[to + 2] = _BLANK, _STOP, _BLANK
            for k in range(3):
                work[POINTS + to - low + k] = out[to + k]
            to += 3
            at += 1
            continue
        length = 1
        if byte < 0x80:
            out[to] = byte
            work[POINTS + to - low] = byte
        else:
            point, length = decode(text, at, end)
            if length == 0:
                return CANNOT
            symbol = symbol_of(point)
            if symbol == UNREADABLE:
                return CANNOT
            out[to] = symbol
            work[POINTS + to - low] = point
        at += length
        to += 1
    if has(_REOPENS, out, low, to, work):
        return FALLS
    # code points are counted from where what is skimmed begins
    for k in range(to - behind):
        work[POINTS + k] = work[POINTS + behind - low + k]
    skims, denied = skim_all(out, behind, to, out, low + MAX_POINTS, work)
    if work[HAS_GIVEN_UP] != 0 or (skims != SKIMS and skims != READS):
        return CANNOT
    return STANDS if skims == SKIMS and denied >> value & 1 == 0 else FALLS
