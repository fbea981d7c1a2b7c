"""The elements: symbols, valences as RDKit has them, and how many hydrogens they get.

All follows RDKit: lists are its periodic table's, and a charged atom has the valences of the isoelectronic
element (``effective``: atomic number minus charge). ``label``: see `relfast_kernels.smiles.layouts.LABEL`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.layouts import CHARGES, INVALID, LETTERS, NEUTRAL

_SYMBOLS: Final = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr
    Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W
    Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt
    Ds Rg Cn Nh Fl Mc Lv Ts Og
    """.split()  # noqa: SIM905 -- by atomic number

_VALENCES: Final = {
    0: [-1], 1: [1], 2: [0], 3: [1, -1], 4: [2], 5: [3], 6: [4], 7: [3], 8: [2], 9: [1], 10: [0], 11: [1, -1],
    12: [2, -1], 13: [3], 14: [4], 15: [3, 5], 16: [2, 4, 6], 17: [1], 18: [0], 19: [1, -1], 20: [2, -1],
    31: [3], 32: [4], 33: [3, 5], 34: [2, 4, 6], 35: [1], 36: [0], 37: [1, -1], 38: [2, -1], 49: [3],
    50: [2, 4], 51: [3, 5], 52: [2, 4, 6], 53: [1, 3, 5], 54: [0, 2, 4, 6], 55: [1], 56: [2, -1],
}  # fmt: skip
"""Atomic number → the valences it may have, lowest first; -1: any higher one too. An ion has those of the
atom with as many electrons, so C+6 those of 0. Missing are elements of any valence; they and their like are
left to RDKit."""
_END: Final = max(_VALENCES) + 1

_OUTER: Final = {
    1: 1, 3: 1, 5: 3, 6: 4, 7: 5, 8: 6, 9: 7, 11: 1, 12: 2, 14: 4, 15: 5, 16: 6, 17: 7, 19: 1, 20: 2, 34: 6,
    35: 7, 37: 1, 38: 2, 53: 7, 55: 1, 56: 2,
}  # fmt: skip
"""Atomic number → valence electrons. Kernels read exactly the elements that are here. A new one may need a
place in `_is_hypervalent`, in `relfast_kernels.smiles.aromatic` and in `LOOSE`: tests against RDKit tell."""


def _letters(symbol: str) -> int:
    return (ord(symbol[0]) - 64) * LETTERS + (ord(symbol[1]) - 96 if symbol[1:] else 0)


def _label(symbol: str) -> int:
    """The label of a neutral atom."""
    return _letters(symbol) * CHARGES + NEUTRAL


CARBON: Final = _label("C")

NUMBER: Final = np.zeros(LETTERS * LETTERS, np.int64)
"""The atomic number of an element by its letters; 0: no element."""
for _at, _symbol in enumerate(_SYMBOLS):
    NUMBER[_letters(_symbol)] = _at + 1

LISTED: Final = 4
VALENCES: Final = np.full(120 * LISTED, -2, np.int64)
"""`_VALENCES` as an array: `LISTED` places for each atomic number, padded with -2."""
for _number, _list in _VALENCES.items():
    VALENCES[LISTED * _number : LISTED * _number + len(_list)] = _list

OUTER: Final = np.zeros(120, np.int64)
"""Valence electrons by atomic number; 0 for elements that are left to RDKit."""
for _number, _electrons in _OUTER.items():
    OUTER[_number] = _electrons

LOOSE: Final = np.zeros(120, np.bool_)
"""Alkali and alkaline earth metals, which are only read as ions without bonds."""
for _number in (3, 11, 12, 19, 20, 37, 38, 55, 56):
    LOOSE[_number] = True

UNBRACKETED: Final = np.zeros(120, np.bool_)
"""The organic subset: elements that SMILES may have without brackets."""
for _number in (5, 6, 7, 8, 9, 15, 16, 17, 35, 53):
    UNBRACKETED[_number] = True

LOWEST: Final = np.zeros(120, np.int64)
"""The lowest valence, for the elements that constitutional isomers (REL-C3) have; 0 for all others."""
for _symbol in ("B", "C", "N", "O", "P", "S", "F", "Cl", "Br", "I"):
    LOWEST[_SYMBOLS.index(_symbol) + 1] = _VALENCES[_SYMBOLS.index(_symbol) + 1][0]


@kernel
def number_of(label: int) -> int:
    """The atomic number of an atom."""
    return int(NUMBER[label // CHARGES])


@kernel
def charge_of(label: int) -> int:
    return label % CHARGES - NEUTRAL


@kernel
def _last_valence(number: int) -> int:
    last = LISTED - 1
    while VALENCES[LISTED * number + last] == -2:
        last -= 1
    return int(VALENCES[LISTED * number + last])


@kernel
def _is_hypervalent(number: int, effective: int) -> bool:
    """Whether an anion of P, S or Se keeps its element's valences, as the isoelectronic one's are too few.
    RDKit does so for As too, which is not read."""
    return (effective > 16 and number in (15, 16)) or (effective > 34 and number == 34)


@kernel
def explicit_valence(number: int, charge: int, twice: int, aromatic: bool) -> int:
    """RDKit's explicit valence, or `UNKNOWN`. ``twice``: twice the sum of bond orders (aromatic: 1.5) and of
    hydrogens in the text. Halves are rounded up.

    An aromatic atom above its lowest valence gets the next allowed one below, if that is at most 1.5 lower.
    """
    effective = number - charge
    if effective < 0 or effective >= _END or VALENCES[LISTED * effective] == -2:
        return UNKNOWN
    lowest = VALENCES[LISTED * effective]
    if aromatic and twice > 2 * lowest:
        allowed = lowest
        for at in range(LISTED):
            valence = VALENCES[LISTED * effective + at]
            if valence < 0 or 2 * valence > twice:
                break
            allowed = valence
        if twice - 2 * allowed <= 3:
            twice = 2 * allowed
    return int((twice + 1) // 2)


@kernel
def implicit_hydrogens(number: int, charge: int, explicit: int, aromatic: bool, bracket: bool) -> int:
    """Hydrogens that an atom gets besides those in the text; `INVALID` if it has too many bonds.
    ``explicit`` is its `explicit_valence` (not `UNKNOWN`)."""
    effective = number - charge
    most = _last_valence(effective)
    offset = 0
    hypervalent = _is_hypervalent(number, effective)
    if hypervalent:
        most = _last_valence(number)
        offset = -charge
    if most >= 0 and _last_valence(number) >= 0 and explicit + offset > most:
        return INVALID
    if bracket:
        return 0
    lowest = VALENCES[LISTED * effective]
    if hypervalent:
        effective = number
        explicit -= charge
    if aromatic:
        if explicit <= lowest:
            return int(lowest - explicit)
        for at in range(LISTED):
            if VALENCES[LISTED * effective + at] == explicit:
                return 0
        return INVALID
    for at in range(LISTED):
        valence = VALENCES[LISTED * effective + at]
        if valence < 0:
            break
        if explicit <= valence:
            return int(valence - explicit)
    return 0 if most == -1 else INVALID


@kernel
def radical_electrons(number: int, charge: int, valence: int) -> int:
    """Unpaired electrons of an atom in brackets whose bond orders and hydrogens add up to ``valence``: what
    it lacks of an octet (hydrogen: of two electrons), as RDKit's ``assignRadicals`` counts."""
    first = LISTED * number
    radicals = (2 if number == 1 else 8) - OUTER[number] - valence + charge
    if radicals < 0:
        radicals = 0
        if VALENCES[first + 1] != -2:
            for at in range(LISTED):
                allowed = VALENCES[first + at]
                # -1 stands for any valence, and is compared like a number
                if allowed > -2 and allowed - valence + charge >= 0:
                    radicals = allowed - valence + charge
                    break
    other = OUTER[number] - valence - charge
    return int(min(radicals, other) if other >= 0 else radicals)
