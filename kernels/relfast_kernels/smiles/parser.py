"""SMILES to molecular graphs, for the simple ones, which are nearly all of them.

A graph lives in one int64 array (`graph`), cut into sections of `SECTION` places as
`relfast_kernels.layouts` has them: the label of each atom (element and charge), its number of bonds, its
neighbours and the orders of the bonds to them. Hydrogens are no atoms. `relfast_kernels.smiles.plain` takes
text that a model wrote and returns a graph only where RDKit would see exactly that graph;
`read_canonical` takes text that RDKit wrote.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    AROMATIC,
    AROMATIC_BOND,
    BONDS,
    BRANCHES,
    CHARGES,
    COLON_BOND,
    DEGREE,
    HYDROGENS,
    INVALID,
    LABEL,
    LETTERS,
    MAX_ATOMS,
    MAX_BRANCHES,
    MAX_DEGREE,
    NEUTRAL,
    RINGS,
    UNKNOWN,
)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

# what came before a character
_START, _ATOM, _OPEN, _CLOSE, _BOND, _DOT = range(6)


def _label(symbol: str) -> int:
    """A neutral atom's label, as `read_text` makes it: two letters (or one) and the charge."""
    second = ord(symbol[1]) - 96 if symbol[1:] else 0
    return ((ord(symbol[0]) - 64) * LETTERS + second) * CHARGES + NEUTRAL


BORON: Final = _label("B")
CARBON: Final = _label("C")
NITROGEN: Final = _label("N")
OXYGEN: Final = _label("O")
FLUORINE: Final = _label("F")
PHOSPHORUS: Final = _label("P")
SULFUR: Final = _label("S")
CHLORINE: Final = _label("Cl")
BROMINE: Final = _label("Br")
IODINE: Final = _label("I")

_ORGANIC: Final = np.zeros(LETTERS * LETTERS, np.bool_)
"""The elements that may stand without brackets."""
for _found in (BORON, CARBON, NITROGEN, OXYGEN, FLUORINE, PHOSPHORUS, SULFUR, CHLORINE, BROMINE, IODINE):
    _ORGANIC[_found // CHARGES] = True


@kernel
def _add_bond(graph: Ints, a: int, b: int, order: int) -> bool:
    """Bond two atoms; False where they are bonded already or have no room for more."""
    n_a, n_b = graph[DEGREE + a], graph[DEGREE + b]
    if a == b or n_a >= MAX_DEGREE or n_b >= MAX_DEGREE:
        return False
    for at in range(n_a):
        if graph[BONDS + MAX_DEGREE * a + at] >> 3 == b:
            return False
    graph[BONDS + MAX_DEGREE * a + n_a] = 8 * b + order
    graph[BONDS + MAX_DEGREE * b + n_b] = 8 * a + order
    graph[DEGREE + a] = n_a + 1
    graph[DEGREE + b] = n_b + 1
    return True


@kernel
def _default_order(graph: Ints, a: int, b: int) -> int:
    return AROMATIC_BOND if graph[AROMATIC + a] and graph[AROMATIC + b] else 1


@kernel
def read_text(text: Bytes, start: int, end: int, written_by_rdkit: bool, graph: Ints) -> int:
    """The number of atoms, `UNKNOWN`, or `INVALID` (brackets or rings left open).

    Bonds between lower-case atoms that have no sign are aromatic here, whatever they turn out to be.
    """
    n = 0
    previous = -1
    order = 0
    slash = False
    before = _START
    before_bond = _START
    depth = 0
    open_rings = 0
    for number in range(100):
        graph[RINGS + number] = 0
    at = start
    while at < end:
        c = int(text[at])
        at += 1
        following = int(text[at]) if at < end else 0
        if 65 <= c <= 90 or 97 <= c <= 122 or c == 91:
            first, second, hydrogens, charge = c, 0, -1, 0
            aromatic = False
            if c == 91:
                # [symbol chirality hydrogens charge map]
                first = following
                at += 1
                following = int(text[at]) if at < end else 0
                if 97 <= first <= 122:
                    aromatic = True
                    first -= 32
                elif not 65 <= first <= 90:
                    return UNKNOWN
                if 97 <= following <= 122:
                    second = following
                    at += 1
                hydrogens = 0
                if at < end and text[at] == 64:
                    if aromatic and not written_by_rdkit:
                        return UNKNOWN
                    at += 2 if at + 1 < end and text[at + 1] == 64 else 1
                if at < end and text[at] == 72:
                    hydrogens = 1
                    at += 1
                    if at < end and 48 <= text[at] <= 57:
                        hydrogens = int(text[at]) - 48
                        at += 1
                if written_by_rdkit:
                    if at < end and (text[at] == 43 or text[at] == 45):
                        charge = 1 if text[at] == 43 else -1
                        at += 1
                        if at < end and 48 <= text[at] <= 57:
                            charge *= int(text[at]) - 48
                            at += 1
                        if abs(charge) > NEUTRAL:
                            return UNKNOWN
                    if at < end and text[at] == 58:
                        at += 1
                        while at < end and 48 <= text[at] <= 57:
                            at += 1
                if at >= end or text[at] != 93:
                    return UNKNOWN
                at += 1
            elif (c == 67 and following == 108) or (c == 66 and following == 114):
                second = following
                at += 1
            elif c >= 97:
                aromatic = True
                first -= 32
            if aromatic and not written_by_rdkit and (second or first not in (67, 78, 79, 83)):
                return UNKNOWN
            element = (first - 64) * LETTERS + (second - 96 if second else 0)
            if (c != 91 or not written_by_rdkit) and not _ORGANIC[element]:
                return UNKNOWN
            if n >= MAX_ATOMS:
                return UNKNOWN
            graph[LABEL + n] = element * CHARGES + NEUTRAL + charge
            graph[DEGREE + n] = 0
            graph[HYDROGENS + n] = hydrogens
            graph[AROMATIC + n] = 1 if aromatic else 0
            if slash and aromatic and not written_by_rdkit and graph[AROMATIC + previous]:
                return UNKNOWN
            if previous >= 0:
                if order == 0:
                    order = _default_order(graph, previous, n)
                if not _add_bond(graph, previous, n, order):
                    return UNKNOWN
            elif order:
                return UNKNOWN
            previous = n
            n += 1
            order = 0
            slash = False
            before = _ATOM
        elif 48 <= c <= 57 or c == 37:
            number = c - 48
            if c == 37:
                if at + 1 >= end or not (49 <= text[at] <= 57 and 48 <= text[at + 1] <= 57):
                    return UNKNOWN
                number = 10 * (int(text[at]) - 48) + int(text[at + 1]) - 48
                at += 2
            if slash or not (before == _ATOM or (before == _BOND and before_bond == _ATOM)):
                return UNKNOWN
            waiting = graph[RINGS + number]
            if waiting == 0:
                graph[RINGS + number] = 8 * (previous + 1) + order
                open_rings += 1
            else:
                other, order_there = (waiting >> 3) - 1, waiting & 7
                if order and order_there and order != order_there:
                    return UNKNOWN
                order = order or order_there or _default_order(graph, previous, other)
                if not _add_bond(graph, previous, other, order):
                    return UNKNOWN
                graph[RINGS + number] = 0
                open_rings -= 1
            order = 0
            before = _ATOM
        elif c in (45, 61, 35, 47, 92) or (c == 58 and not written_by_rdkit):
            if before in (_BOND, _START, _DOT) or (c == 58 and not graph[AROMATIC + previous]):
                return UNKNOWN
            order = 2 if c == 61 else 3 if c == 35 else COLON_BOND if c == 58 else 1
            slash = c == 47 or c == 92
            before_bond = before
            before = _BOND
        elif c == 40:
            if before not in (_ATOM, _CLOSE) or depth >= MAX_BRANCHES:
                return UNKNOWN
            graph[BRANCHES + depth] = previous
            depth += 1
            before = _OPEN
        elif c == 41:
            if before not in (_ATOM, _CLOSE) or depth == 0:
                return UNKNOWN
            depth -= 1
            previous = graph[BRANCHES + depth]
            before = _CLOSE
        elif c == 46:
            if before not in (_ATOM, _CLOSE) or depth:
                return UNKNOWN
            previous = -1
            before = _DOT
        else:
            return UNKNOWN
    if before not in (_ATOM, _CLOSE):
        return UNKNOWN
    if depth or open_rings:
        return INVALID
    return n


@kernel
def _hydrogens(label: int, bonds: int) -> int:
    """Hydrogens an atom of the organic subset gets, or `UNKNOWN`, or `INVALID` where it has no such valence.

    RDKit's table. Nitrogen, phosphorus (but see `_is_phosphate`) and the halogens beyond their first valence
    are not decided here: some of those forms are rewritten with charges (nitro groups, ylides, perchlorates).
    """
    if label == CARBON:
        return 4 - bonds if bonds <= 4 else INVALID
    if label == OXYGEN:
        return 2 - bonds if bonds <= 2 else INVALID
    if label in (NITROGEN, PHOSPHORUS, BORON):
        return 3 - bonds if bonds <= 3 else UNKNOWN
    if label == SULFUR:
        return bonds % 2 if bonds <= 6 and bonds > 2 else 2 - bonds if bonds <= 2 else UNKNOWN
    return 1 - bonds if bonds <= 1 else UNKNOWN


@kernel
def _is_phosphate(graph: Ints, atom: int, bonds: int) -> bool:
    """Whether it is a phosphorus with four neighbours, oxygen or sulfur bonded twice: five bonds."""
    if graph[LABEL + atom] != PHOSPHORUS or graph[DEGREE + atom] != 4 or bonds != 5:
        return False
    for at in range(4):
        bond = graph[BONDS + MAX_DEGREE * atom + at]
        if bond & 7 == 2:
            return graph[LABEL + (bond >> 3)] in (OXYGEN, SULFUR)
    return False


@kernel
def check_valences(graph: Ints, n: int) -> int:
    """n, `INVALID`, or `UNKNOWN`; sets HYDROGENS to the number every atom has."""
    result = n
    for atom in range(n):
        bonds = 0
        for at in range(graph[DEGREE + atom]):
            bonds += graph[BONDS + MAX_DEGREE * atom + at] & 7
        hydrogens = 0 if _is_phosphate(graph, atom, bonds) else _hydrogens(graph[LABEL + atom], bonds)
        if hydrogens == UNKNOWN:
            return UNKNOWN
        stated = graph[HYDROGENS + atom]
        if hydrogens == INVALID:
            result = INVALID
        elif stated >= 0 and stated != hydrogens:
            # a radical, or a valence that only a bracket can have
            return UNKNOWN
        graph[HYDROGENS + atom] = hydrogens
    return result


@kernel
def read_canonical(text: Bytes, start: int, end: int, graph: Ints) -> int:
    """Read a SMILES without stereo that RDKit wrote, its aromatic letters taken at their word.

    Returns the number of atoms, or `UNKNOWN` for wildcards and bonds that are none of the ordinary four.
    """
    n = read_text(text, start, end, True, graph)
    return n if n > 0 else UNKNOWN


@kernel
def is_settled(graph: Ints, n: int) -> bool:
    """Whether the graph of a molecule decides where its hydrogens are: no aromatic ring has one on an atom
    other than carbon, where it could as well be on another."""
    for atom in range(n):
        if graph[LABEL + atom] != CARBON and graph[HYDROGENS + atom] > 0:
            for at in range(graph[DEGREE + atom]):
                if graph[BONDS + MAX_DEGREE * atom + at] & 7 == AROMATIC_BOND:
                    return False
    return True
