"""SMILES to molecular graphs: atoms in brackets."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import NUMBER, OUTER
from relfast_kernels.smiles.layouts import (
    AROMATIC,
    BRACKET,
    CHARGES,
    FLAGS,
    HAS_ISOTOPE,
    HAS_MAP,
    HYDROGENS,
    INVALID,
    LABEL,
    LETTERS,
    MAX_ATOMS,
    NEUTRAL,
)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

_MAX_HYDROGENS: Final = 20


@kernel
def byte_at(text: Bytes, at: int, end: int) -> int:
    return int(text[at]) if at < end else 0


@kernel
def _number(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """A number as the grammar has it (no zero before other digits) and where it ends; -1 for a long one."""
    value = byte_at(text, at, end) - 48
    at += 1
    if value == 0:
        return value, at
    digits = 1
    while 48 <= byte_at(text, at, end) <= 57:
        value = 10 * value + int(text[at]) - 48
        at += 1
        digits += 1
        if digits > 6:
            return -1, at
    return value, at


@kernel
def is_digit(c: int) -> bool:
    return 48 <= c <= 57


@kernel
def read_bracket(text: Bytes, at: int, end: int, by_rdkit: bool, graph: Ints, n: int) -> tuple[int, int]:
    """Read what is in brackets as atom n, from behind the opening one: 1 for an atom, 0 for a hydrogen that
    is one of its neighbour's, `UNKNOWN` or `INVALID`; and where it ends."""
    flags = 0
    if is_digit(byte_at(text, at, end)):
        isotope, at = _number(text, at, end)
        if isotope < 0:
            return UNKNOWN, at
        if isotope:
            flags |= HAS_ISOTOPE
    first = byte_at(text, at, end)
    following = byte_at(text, at + 1, end)
    at += 1
    second = 0
    aromatic = False
    if 97 <= first <= 122:
        aromatic = True
        # se, si, as, te; b, c, n, o, p, s
        if (first == 115 and following in (101, 105)) or (first in (97, 116) and following in (115, 101)):
            second = following
            at += 1
        elif first not in (98, 99, 110, 111, 112, 115):
            return INVALID, at
        first -= 32
    elif not 65 <= first <= 90:
        # a wildcard, an atomic number, an element in quotes
        return UNKNOWN if first in (42, 35, 39) or first < 32 or first > 126 else INVALID, at
    elif 97 <= following <= 122 and NUMBER[(first - 64) * LETTERS + following - 96]:
        second = following
        at += 1
        if first == 85 and following == 117:
            return UNKNOWN, at
    elif first == 85 and following == 117:
        return UNKNOWN, at
    element = (first - 64) * LETTERS + (second - 96 if second else 0)
    number = NUMBER[element]
    if number == 0:
        return INVALID, at
    if byte_at(text, at, end) == 64:
        at += 1
        if byte_at(text, at, end) == 64:
            at += 1
        c = byte_at(text, at, end)
        if c == 32 or (65 <= c <= 90 and c != 72):
            return UNKNOWN, at
        if number == 1:
            return INVALID, at
    hydrogens = 0
    if byte_at(text, at, end) == 72:
        hydrogens = 1
        at += 1
        if is_digit(byte_at(text, at, end)):
            hydrogens, at = _number(text, at, end)
            if not 0 <= hydrogens <= _MAX_HYDROGENS:
                return UNKNOWN, at
    charge = 0
    sign = byte_at(text, at, end)
    if sign in (43, 45):
        charge = 1
        at += 1
        if byte_at(text, at, end) == sign:
            charge = 2
            at += 1
        elif is_digit(byte_at(text, at, end)):
            charge, at = _number(text, at, end)
            if not 0 <= charge <= NEUTRAL:
                return UNKNOWN, at
        if sign == 45:
            charge = -charge
    if byte_at(text, at, end) == 58:
        at += 1
        if not is_digit(byte_at(text, at, end)):
            return INVALID, at
        mapped, at = _number(text, at, end)
        if mapped < 0:
            return UNKNOWN, at
        if mapped:
            flags |= HAS_MAP
    if byte_at(text, at, end) != 93:
        c = byte_at(text, at, end)
        return UNKNOWN if at < end and (c < 33 or c > 126) else INVALID, at
    at += 1
    if number == 1 and not by_rdkit:
        # one that stands for itself is an atom; [1H] and [H:1] need looking at
        return 0 if hydrogens == charge == flags == 0 else UNKNOWN, at
    if not by_rdkit and OUTER[number] == 0:
        return UNKNOWN, at
    if n >= MAX_ATOMS:
        return UNKNOWN, at
    graph[FLAGS] |= flags
    graph[LABEL + n] = element * CHARGES + NEUTRAL + charge
    graph[HYDROGENS + n] = hydrogens
    graph[AROMATIC + n] = 1 if aromatic else 0
    graph[BRACKET + n] = 1
    return 1, at
