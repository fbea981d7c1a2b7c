"""Words of `form_table` as flags: what a word, a command of TeX or a tag of HTML means, found by its hash."""

from __future__ import annotations

from typing import Final

import numpy as np

import relfast_kernels.text.form_table as table
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.text.ascii import small
from relfast_kernels.text.form_table import LANGUAGES

(
    LABEL, QUALIFIED, QUALIFIER, LINK, AUXILIARY, FILLER, NOUN, CONCLUDES, CHOOSES, CHOOSES_BARE, FITS,
    JOINS, ADVERB, YES, NO,
    TAG, BOX, WRAPPER, DROPPED, ARROW, LAYOUT, BREAK, CELL, STRUCK, BE, IT, WEAK,
    PAINT, OPERATOR, COUNTS, POWER, ENDS, SAYS,
) = (1 << bit for bit in range(33))  # fmt: skip
"""Flags of a word; the bits from `ORDINAL_SHIFT` on are the number of an ordinal."""
ORDINAL_SHIFT: Final = 33
ORDINAL: Final = 15 << ORDINAL_SHIFT

_BITS: Final = (1 << 55) - 1
_FACTOR: Final = 131


def _hash(word: str) -> int:
    """The hash by which `flags_of` finds a word."""
    value = 1
    for byte in word.encode():
        value = (value & _BITS) * _FACTOR + byte
    return value


def _flags() -> dict[str, int]:
    """The flags of each word of `form_table`."""
    flags: dict[str, int] = {}
    for bit, words in (
        *((bit, getattr(language, name)) for language in LANGUAGES for bit, name in (
            (LABEL, "labels"), (LINK, "links"), (JOINS, "joins"), (FILLER, "fillers"),
            (ENDS, "ends"))),
        (QUALIFIED, table.QUALIFIED), (QUALIFIER, table.QUALIFIERS), (AUXILIARY, table.AUXILIARIES),
        (NOUN | FILLER, table.NOUNS), (CONCLUDES | FILLER, table.CONCLUDING), (CHOOSES, table.CHOOSING),
        (CHOOSES_BARE, table.CHOOSING_BARE), (FITS, table.FITTING), (ADVERB, table.ADVERBS), (YES,
        table.YES), (NO, table.NO),
        (TAG, table.TAGS), (BOX, table.BOXES), (WRAPPER, table.WRAPPERS), (DROPPED, table.DROPPED), (ARROW,
        table.ARROWS), (PAINT, table.PAINTS), (OPERATOR, table.OPERATORS), (COUNTS, table.COUNTING),
        (POWER, table.POWERS), (SAYS, table.SAYING),
        (LAYOUT, table.LAYOUT), (BREAK, table.BREAKS), (CELL, table.CELLS), (STRUCK, table.STRUCK), (BE,
        table.BE),
        (IT, table.IT), (WEAK, table.WEAK),
    ):  # fmt: skip
        for word in words.split():
            flags[word] = flags.get(word, 0) | bit
    for number, word in enumerate(table.ORDINALS.split(), 1):
        flags[word] = flags.get(word, 0) | number << ORDINAL_SHIFT
    return flags


FLAGS: Final = _flags()
"""Word → its flags."""

_SLOTS: Final = 1024


def _slots() -> tuple[Ints, Ints]:
    """`FLAGS` as a hash table: keys and values."""
    keys, values = np.zeros(_SLOTS, np.int64), np.zeros(_SLOTS, np.int64)
    assert 2 * len(FLAGS) < _SLOTS
    for word, flags in FLAGS.items():
        key = _hash(word)
        at = (key ^ key >> 20) % _SLOTS
        while keys[at]:
            assert keys[at] != key
            at = (at + 1) % _SLOTS
        keys[at], values[at] = key, flags
    return keys, values


_KEYS, _VALUES = _slots()


@kernel
def flags_of(text: Bytes, start: int, end: int) -> int:
    """The flags of the word text[start:end], ignoring the case of ASCII letters; 0: not in the table."""
    key = 1
    for at in range(start, end):
        key = (key & _BITS) * _FACTOR + small(int(text[at]))
    at = (key ^ key >> 20) & (_SLOTS - 1)
    while _KEYS[at] != 0:
        if _KEYS[at] == key:
            return int(_VALUES[at])
        at = (at + 1) & (_SLOTS - 1)
    return 0
