"""Kekulé structures: single and double bonds for the atoms that a SMILES has in lower case.

Such letters only say that some Kekulé structure exists. `kekulise` finds one, as a perfect matching of the
atoms that need a double bond (Edmonds, "Paths, trees, and flowers", 1965), or that there is none. After
aromaticity has been perceived (`relfast_kernels.smiles.aromatic`), `confirm` checks that no other Kekulé
structure gives another molecule.
"""

from __future__ import annotations

from typing import Final

from relfast_kernels.bits import n_bits
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Ints
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import LISTED, VALENCES, charge_of, number_of
from relfast_kernels.smiles.layouts import (
    AROMATIC,
    AROMATIC_BOND,
    BONDS,
    BRACKET,
    BRANCHES,
    DEGREE,
    HYDROGENS,
    INVALID,
    LABEL,
    MAX_DEGREE,
    RING_BONDS,
    RINGS,
    SECTION,
)
from relfast_kernels.smiles.valence import IMPLICIT

# sections that only the parser needs are reused afterwards
_MATE: Final = BRANCHES
"""For each lower-case atom the other end of its double bond, or `_NO_DOUBLE` or `_FREE`."""
_NO_DOUBLE: Final = -1
_FREE: Final = -2
BEFORE: Final = BRANCHES + SECTION
"""Breadth-first search: the atom from which each was reached, -1 where none was."""
_BASE: Final = BRANCHES + 2 * SECTION
"""The base of the odd cycle (blossom) that an atom is in."""
QUEUE: Final = RINGS

_IS_LOWER: Final = 1
_SOFT: Final = 1
"""In the section AROMATIC of a lower-case atom, from this bit on: which of its bonds were aromatic."""

MAX_CANDIDATES: Final = 44
"""The most atoms that need a double bond; more are left to RDKit, which backtracks 100 times at most."""


@kernel
def _wants_double(graph: Ints, atom: int) -> int:
    """1 for a lower-case atom that needs a double bond in its ring, 0 for one that has none; RDKit's rule.

    Marks its aromatic bonds in the section AROMATIC.
    """
    label, degree = graph[LABEL + atom], graph[DEGREE + atom]
    marks = _IS_LOWER
    bonds = graph[HYDROGENS + atom]
    for at in range(degree):
        order = graph[BONDS + MAX_DEGREE * atom + at] & 7
        if order == AROMATIC_BOND:
            marks |= 1 << (_SOFT + at)
            order = 1
        bonds += order
    graph[AROMATIC + atom] = marks
    number, charge = number_of(label), charge_of(label)
    if number == 5 or (number == 6 and charge > 0):
        charge = -charge
    implicit = graph[IMPLICIT + atom] & 31
    valence = (graph[IMPLICIT + atom] >> 5) + implicit
    allowed = VALENCES[LISTED * number] + charge
    at = 1
    while valence > allowed and at < LISTED and VALENCES[LISTED * number + at] > 0:
        allowed = VALENCES[LISTED * number + at] + charge
        at += 1
    if degree + implicit >= allowed:
        return 0
    if allowed == bonds + 1 or (graph[BRACKET + atom] and allowed == bonds + 2):
        return 1
    return 0


@kernel
def _common_base(graph: Ints, a: int, b: int) -> int:
    """The base at which the alternating paths from two atoms back to the root meet."""
    passed = 0
    while True:
        a = graph[_BASE + a]
        passed |= 1 << a
        mate = graph[_MATE + a]
        if mate < 0:
            break
        a = graph[BEFORE + mate]
    while True:
        b = graph[_BASE + b]
        if passed >> b & 1:
            return b
        b = graph[BEFORE + graph[_MATE + b]]


@kernel
def _ring_part(graph: Ints, atom: int, base: int, child: int) -> int:
    """Half of a blossom, from an atom back to the base, as a mask of bases; reverses the path."""
    ring = 0
    while graph[_BASE + atom] != base:
        mate = graph[_MATE + atom]
        ring |= 1 << graph[_BASE + atom] | 1 << graph[_BASE + mate]
        graph[BEFORE + atom] = child
        child = mate
        atom = graph[BEFORE + mate]
    return ring


@kernel
def _find_mate(graph: Ints, root: int, n: int, a: int, b: int) -> bool:
    """Give a free atom a double bond, along an augmenting path of alternating bonds if need be, without
    the bond between a and b; False if that is impossible."""
    for atom in range(n):
        graph[BEFORE + atom] = -1
        graph[_BASE + atom] = atom
    used = 1 << root
    graph[QUEUE] = root
    done, queued = 0, 1
    while done < queued:
        atom = graph[QUEUE + done]
        done += 1
        eligible = graph[AROMATIC + atom] >> _SOFT & graph[RING_BONDS + atom]
        for at in range(graph[DEGREE + atom]):
            other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
            mate = graph[_MATE + other]
            if not eligible >> at & 1 or mate == _NO_DOUBLE or graph[_MATE + atom] == other:
                continue
            if (
                graph[_BASE + atom] == graph[_BASE + other]
                or (atom, other) == (a, b)
                or (atom, other) == (b, a)
            ):
                continue
            if other == root or (mate >= 0 and graph[BEFORE + mate] >= 0):
                base = _common_base(graph, atom, other)
                ring = _ring_part(graph, atom, base, other) | _ring_part(graph, other, base, atom)
                for member in range(n):
                    if ring >> graph[_BASE + member] & 1:
                        graph[_BASE + member] = base
                        if not used >> member & 1:
                            used |= 1 << member
                            graph[QUEUE + queued] = member
                            queued += 1
            elif graph[BEFORE + other] < 0:
                graph[BEFORE + other] = atom
                if mate == _FREE:
                    while other >= 0:
                        before = graph[BEFORE + other]
                        former = graph[_MATE + before]
                        graph[_MATE + other] = before
                        graph[_MATE + before] = other
                        other = former
                    return True
                used |= 1 << mate
                graph[QUEUE + queued] = mate
                queued += 1
    return False


@kernel
def kekulise(graph: Ints, n: int) -> int:
    """Turn the aromatic bonds into single and double ones; n, `INVALID` or `UNKNOWN`.

    Needs RING_BONDS and `IMPLICIT`. The letters determine which atoms get a double bond; `confirm` makes
    sure that it does not matter which of several Kekulé structures is found.
    """
    candidates = 0
    for atom in range(n):
        graph[_MATE + atom] = _NO_DOUBLE
        if graph[AROMATIC + atom]:
            rings = graph[RING_BONDS + atom]
            if rings == 0:
                return INVALID
            if n_bits(rings) > 3:
                return UNKNOWN
            if _wants_double(graph, atom):
                graph[_MATE + atom] = _FREE
                candidates += 1
    if candidates > MAX_CANDIDATES:
        return UNKNOWN
    for atom in range(n):
        if graph[_MATE + atom] == _FREE and not _find_mate(graph, atom, n, -1, -1):
            return INVALID
    for atom in range(n):
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            if bond & 7 == AROMATIC_BOND:
                order = 2 if graph[_MATE + atom] == bond >> 3 else 1
                graph[BONDS + MAX_DEGREE * atom + at] = (bond >> 3) * 8 + order
    return n


@kernel
def _is_certain(graph: Ints, n: int, a: int, b: int) -> bool:
    """Whether the bond between two atoms is double in all Kekulé structures, or single in all of them."""
    mate_a, mate_b = graph[_MATE + a], graph[_MATE + b]
    if mate_a == _NO_DOUBLE or mate_b == _NO_DOUBLE:
        return True
    if mate_a == b:
        graph[_MATE + a] = _FREE
        graph[_MATE + b] = _FREE
        other_way = _find_mate(graph, a, n, a, b)
    else:
        graph[_MATE + a] = _NO_DOUBLE
        graph[_MATE + b] = _NO_DOUBLE
        graph[_MATE + mate_a] = _FREE
        graph[_MATE + mate_b] = _FREE
        other_way = _find_mate(graph, mate_a, n, -1, -1)
        graph[_MATE + mate_a] = a
        graph[_MATE + mate_b] = b
    graph[_MATE + a] = mate_a
    graph[_MATE + b] = mate_b
    return not other_way


@kernel
def confirm(graph: Ints, n: int) -> int:
    """n if the molecule is the same in all Kekulé structures, else `UNKNOWN`.

    Aromatic bonds between lower-case atoms are as RDKit has them; other bonds between them must be certain.
    """
    for atom in range(n):
        marks = graph[AROMATIC + atom] >> _SOFT & graph[RING_BONDS + atom]
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            if bond & 7 == AROMATIC_BOND or not marks >> at & 1 or bond >> 3 < atom:
                continue
            if not _is_certain(graph, n, atom, bond >> 3):
                return UNKNOWN
    return n
