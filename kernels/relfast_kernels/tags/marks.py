"""What a text says beside molecules: marks of reasoning and of turns, words about a tag, labels."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.tags.kinds import KINDS, NEWLINE, TAG, TELLING, is_at, opens

_ANALYSIS: Final = np.frombuffer(b"analysis", np.uint8)
_LABELS: Final = np.frombuffer(b"smiles\nmotif\nanswer\nfinal\nmolecule\nisomer\n", np.uint8)


@kernel
def may_be_mark(data: Any, at: int, end: int, marks: Any) -> bool:
    """Whether what stands behind a bracket may begin a mark of reasoning or of a turn's end: ``marks`` has
    the bracket and the three letters behind it of each, the bracket lowest."""
    if at + 4 > end:
        return False
    word = int(data[at])
    for k in range(1, 4):
        byte = int(data[at + k])
        if byte > 127:
            return True
        if 65 <= byte <= 90:
            byte |= 32
        word |= byte << (8 * k)
    for k in range(len(marks)):
        if marks[k] == word:
            return True
    return False


@kernel
def _tells(data: Any, at: int, end: int, marks: Any) -> bool:
    """Whether a byte that is `TELLING` tells of more than a plain text."""
    byte = data[at]
    following = data[at + 1] if at + 1 < end else 0
    if byte == 60:
        if following == 33 or opens(data, at, end) != 0 or may_be_mark(data, at, end, marks):
            return True
        third = data[at + 2] if at + 2 < end else 0
        # <s>, <strike>, <del>
        return bool((following == 115 and third in (62, 116)) or (following == 100 and third == 101))
    if byte == 91:
        return bool(may_be_mark(data, at, end, marks))
    if byte == 38:
        # &lt; &gt; &#60; &#62;
        return following in (108, 103, 35)
    if byte == 92:
        return following in (117, 60, 62)
    if byte == 126:
        return bool(following == 126)
    if byte == 47:
        return bool(following == 42)
    third = data[at + 2] if at + 2 < end else 0
    if byte == 0xE2:
        # the bracket of a mark
        return bool(following == 0x97 and third == 0x81)
    # full-width brackets
    return bool(following == 0xBC and third in (0x9C, 0x9E))


@kernel
def first_tag(data: Any, start: int, end: int, marks: Any) -> int:
    """Where the first tag begins, ``end`` where there is none, -1 where something before it says that the
    text is no plain one."""
    for k in range(len(_ANALYSIS)):
        if start + k >= end or data[start + k] > 127:
            return -1 if start + k < end and data[start + k] == 0xC4 else _search(data, start, end, marks)
        if data[start + k] | 32 != _ANALYSIS[k]:
            return _search(data, start, end, marks)
    return -1


@kernel
def _search(data: Any, start: int, end: int, marks: Any) -> int:
    at = start
    while at < end:
        if KINDS[data[at]] & TELLING:
            if data[at] == 60 and is_at(data, at, end, TAG):
                return at
            if _tells(data, at, end, marks):
                return -1
        at += 1
    return end


@kernel
def is_word(data: Any, start: int, end: int, words: Any) -> bool:
    """Whether text is one of ``words``, which are in lower case and each ended by a newline, or begins with
    one that ends with ``=``."""
    at = 0
    while at < len(words):
        k = start
        while words[at] != NEWLINE and k < end:
            byte = data[k]
            if 65 <= byte <= 90:
                byte |= 32
            if byte != words[at]:
                break
            at += 1
            k += 1
        if words[at] == NEWLINE and (k == end or words[at - 1] == 61):
            return True
        while words[at] != NEWLINE:
            at += 1
        at += 1
    return False


@kernel
def begins_with_label(data: Any, start: int, end: int) -> bool:
    """Whether text begins with a word that can be a label (``Motif 2: …``), in any case."""
    at = 0
    while at < len(_LABELS):
        k = start
        while _LABELS[at] != NEWLINE and k < end and data[k] | 32 == _LABELS[at]:
            at += 1
            k += 1
        if _LABELS[at] == NEWLINE:
            return True
        while _LABELS[at] != NEWLINE:
            at += 1
        at += 1
    return False
