"""The grammar of SMILES: from text to molecular graph.

A graph is one int64 array (`graph`), cut into sections of `SECTION` places
(`relfast_kernels.smiles.layouts`): the label of each atom (element and charge), its number of bonds, its
neighbours and the orders of the bonds to them. Hydrogens are counted at their neighbours, not atoms.
`read_plain` takes text that a model wrote and returns a graph only where RDKit would see exactly that graph;
`read_canonical` takes text that RDKit wrote.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.aromatic import find_ring_bonds, perceive
from relfast_kernels.smiles.elements import LOOSE, NUMBER, OUTER, UNBRACKETED
from relfast_kernels.smiles.kekule import confirm, kekulise
from relfast_kernels.smiles.layouts import (
    AROMATIC,
    AROMATIC_BOND,
    BONDS,
    BRACKET,
    BRANCHES,
    CHARGES,
    DEGREE,
    FLAGS,
    HAS_ISOTOPE,
    HAS_MAP,
    HYDROGENS,
    INVALID,
    KEY,
    LABEL,
    LETTERS,
    MAX_ATOMS,
    MAX_BRANCHES,
    MAX_DEGREE,
    N_FOUND,
    NEUTRAL,
    RADICALS,
    RINGS,
)
from relfast_kernels.smiles.valence import give_hydrogens, give_radicals, tell_apart

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

# states of the parser, by what precedes: nothing, an atom with its ring closures and branches, an open
# branch, a bond, the first bond of a branch, a dot
_START, _ATOM, _OPEN, _BOND, _FIRST_BOND, _DOT = range(6)

_NOTHING, _LEAF, _LEADING = -1, -2, -3
"""In place of the previous atom: there is none; a hydrogen that has its bond; one that waits for it."""


@kernel
def _add_bond(graph: Ints, a: int, b: int, order: int) -> int:
    """Bond two atoms: 0; `INVALID` if they are bonded already, `UNKNOWN` if an atom has no room for it."""
    n_a, n_b = graph[DEGREE + a], graph[DEGREE + b]
    if a == b:
        return INVALID
    for at in range(n_a):
        if graph[BONDS + MAX_DEGREE * a + at] >> 3 == b:
            return INVALID
    if n_a >= MAX_DEGREE or n_b >= MAX_DEGREE:
        return UNKNOWN
    graph[BONDS + MAX_DEGREE * a + n_a] = 8 * b + order
    graph[BONDS + MAX_DEGREE * b + n_b] = 8 * a + order
    graph[DEGREE + a] = n_a + 1
    graph[DEGREE + b] = n_b + 1
    return 0


@kernel
def _default_order(graph: Ints, a: int, b: int) -> int:
    """The order of a bond without a symbol."""
    return AROMATIC_BOND if graph[AROMATIC + a] and graph[AROMATIC + b] else 1


@kernel
def _ring_number(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """A ring-closure number and the offset after it; or `UNKNOWN` or `INVALID`."""
    c = int(text[at])
    at += 1
    if c != 37:
        return c - 48, at
    c = byte_at(text, at, end)
    if c == 40:
        value, digits = 0, 0
        at += 1
        while is_digit(byte_at(text, at, end)) and digits < 6:
            value = 10 * value + int(text[at]) - 48
            at += 1
            digits += 1
        if digits == 0 or digits > 5 or byte_at(text, at, end) != 41:
            return INVALID, at
        return value if value < 100 else UNKNOWN, at + 1
    if not (49 <= c <= 57 and is_digit(byte_at(text, at + 1, end))):
        return INVALID, at
    return 10 * (c - 48) + int(text[at + 1]) - 48, at + 2


@kernel
def _end_of_smiles(text: Bytes, start: int, end: int) -> int:
    """Where the text or the blank before a name ends the SMILES; `UNKNOWN` if more than a name may follow."""
    at = start
    while at < end and text[at] != 32:
        at += 1
    for other in range(at, end):
        if text[other] == 124 or text[other] < 32 or text[other] > 126:
            return UNKNOWN
    return at if at > start else UNKNOWN


@kernel
def read_text(text: Bytes, start: int, end: int, by_rdkit: bool, graph: Ints) -> int:
    """Parse text[start:end] into ``graph``; the number of atoms, `UNKNOWN`, or `INVALID` if no SMILES.

    A bond without a symbol between lower-case atoms is aromatic here, whatever it turns out to be.
    """
    n = 0
    previous = _NOTHING
    order = 0
    slash = False
    before = _START
    depth = 0
    open_rings = 0
    graph[FLAGS] = 0
    end = _end_of_smiles(text, start, end)
    if end < 0:
        return UNKNOWN
    for number in range(100):
        graph[RINGS + number] = 0
    at = start
    while at < end:
        c = int(text[at])
        at += 1
        if 65 <= c <= 90 or 97 <= c <= 122 or c == 91:
            kind = 1
            if c == 91:
                kind, at = read_bracket(text, at, end, by_rdkit, graph, n)
                if kind < 0:
                    return kind
            else:
                following = byte_at(text, at, end)
                second = 0
                if (c == 67 and following == 108) or (c == 66 and following == 114):
                    second = following - 96
                    at += 1
                aromatic = c >= 97
                element = ((c - 32 if aromatic else c) - 64) * LETTERS + second
                if not UNBRACKETED[NUMBER[element]] or (aromatic and c in (102, 105)):
                    return INVALID
                if n >= MAX_ATOMS:
                    return UNKNOWN
                graph[LABEL + n] = element * CHARGES + NEUTRAL
                graph[HYDROGENS + n] = 0
                graph[AROMATIC + n] = 1 if aromatic else 0
                graph[BRACKET + n] = 0
            if kind == 0:
                if order > 1 or slash or previous < _NOTHING:
                    return UNKNOWN
                if previous >= 0:
                    graph[HYDROGENS + previous] += 1
                    previous = _LEAF
                else:
                    previous = _LEADING
            else:
                graph[DEGREE + n] = 0
                graph[RADICALS + n] = 0
                if previous >= 0:
                    if order == 0:
                        order = _default_order(graph, previous, n)
                    bonded = _add_bond(graph, previous, n, order)
                    if bonded < 0:
                        return bonded
                elif previous == _LEADING:
                    if order > 1 or slash:
                        return UNKNOWN
                    graph[HYDROGENS + n] += 1
                elif previous == _LEAF:
                    return UNKNOWN
                previous = n
                n += 1
            order = 0
            slash = False
            before = _ATOM
        elif 48 <= c <= 57 or c == 37:
            if before not in (_ATOM, _BOND):
                return INVALID
            number, at = _ring_number(text, at - 1, end)
            if number < 0:
                return number
            if previous < 0:
                return UNKNOWN
            waiting = graph[RINGS + number]
            if waiting == 0:
                graph[RINGS + number] = 8 * (previous + 1) + order
                open_rings += 1
            else:
                # where both ends have a bond symbol, the first one counts
                other = (waiting >> 3) - 1
                order = waiting & 7 or order or _default_order(graph, previous, other)
                bonded = _add_bond(graph, previous, other, order)
                if bonded < 0:
                    return bonded
                graph[RINGS + number] = 0
                open_rings -= 1
            order = 0
            slash = False
            before = _ATOM
        elif c in (45, 61, 35, 47, 92, 58):
            if before not in (_ATOM, _OPEN):
                return INVALID
            if c == 45 and byte_at(text, at, end) == 62:
                return UNKNOWN
            if c == 58 and (previous < 0 or not graph[AROMATIC + previous]):
                return UNKNOWN
            if c == 92 and byte_at(text, at, end) == 92:
                at += 1
            slash = c in (47, 92)
            # between lower-case atoms a slash means the same as no symbol
            order = 2 if c == 61 else 3 if c == 35 else AROMATIC_BOND if c == 58 else 0 if slash else 1
            before = _BOND if before == _ATOM else _FIRST_BOND
        elif c == 40:
            if before != _ATOM:
                return INVALID
            if depth >= MAX_BRANCHES or previous < 0:
                return UNKNOWN
            graph[BRANCHES + depth] = previous
            depth += 1
            before = _OPEN
        elif c == 41:
            if before != _ATOM or depth == 0:
                return INVALID
            if previous == _LEADING:
                return UNKNOWN
            depth -= 1
            previous = graph[BRANCHES + depth]
        elif c == 46:
            if before != _ATOM:
                return INVALID
            if previous == _LEADING:
                return UNKNOWN
            previous = _NOTHING
            before = _DOT
        elif c in (33, 34, 38, 39, 44, 59, 63, 64, 93, 94, 95, 96, 123, 125, 43):
            return INVALID
        else:
            # wildcards, other bonds, blanks and what may follow them, anything beyond ASCII
            return UNKNOWN
    if before != _ATOM:
        return UNKNOWN if before == _START else INVALID
    if depth or open_rings:
        return INVALID
    if previous == _LEADING or n == 0:
        return UNKNOWN
    for atom in range(n):
        if graph[DEGREE + atom] and LOOSE[NUMBER[graph[LABEL + atom] // CHARGES]] and not by_rdkit:
            return UNKNOWN
        if graph[AROMATIC + atom] == 0:
            for at in range(graph[DEGREE + atom]):
                if graph[BONDS + MAX_DEGREE * atom + at] & 7 == AROMATIC_BOND:
                    return UNKNOWN
    return n


@kernel
def read_canonical(text: Bytes, start: int, end: int, graph: Ints) -> int:
    """Read a SMILES without stereo that RDKit wrote, trusting that its lower-case atoms are aromatic.

    Returns the number of atoms, or `UNKNOWN` for wildcards and for bonds other than the four ordinary ones.
    Does not set RADICALS.
    """
    n = read_text(text, start, end, True, graph)
    if n <= 0:
        return UNKNOWN
    for atom in range(n):
        graph[KEY + atom] = graph[LABEL + atom]
    return n


_MAX_HYDROGENS: Final = 20


@kernel
def byte_at(text: Bytes, at: int, end: int) -> int:
    """The byte at an offset, 0 from ``end`` on."""
    return int(text[at]) if at < end else 0


@kernel
def _number(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """A number of the grammar (no leading zero) and the offset after it; -1 for more than six digits."""
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
    """Read a bracket atom, from behind the opening bracket, as atom n: 1 for an atom, 0 for a hydrogen to be
    counted at its neighbour, `UNKNOWN` or `INVALID`; and the offset after it."""
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
        # a plain [H] is counted at its neighbour; what becomes of [1H], [H+] or [H:1] is left to RDKit
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


@kernel
def read_plain(text: Bytes, start: int, end: int, graph: Ints) -> int:
    """Read ``text[start:end]`` without stereo, isotopes and atom maps; FLAGS tells if the latter two occur.

    Returns the number of atoms; `INVALID` if RDKit certainly refuses it; `UNKNOWN` for what is left to RDKit:

    - names, CXSMILES and anything else beyond ASCII or behind a blank; wildcards, ``~``, ``$``, arrows;
    - metals with bonds, and other elements that answers do not have (`elements.OUTER`);
    - hydrogens that stay atoms: ``[H][H]``, isotopes, protons, those behind a ``/``;
    - more than `MAX_ATOMS` atoms, `MAX_DEGREE` bonds of one, `MAX_CANDIDATES` atoms in lower case;
    - phosphorus and halogens that RDKit may rewrite with charges (perchlorates, ylides);
    - potentially aromatic rings that depend on which smallest rings RDKit chooses (cages, large rings);
    - lower-case atoms that are not aromatic and whose Kekulé structure is not unique.
    """
    n = _read(text, start, end, graph)
    graph[N_FOUND] = n
    return n


@kernel
def _read(text: Bytes, start: int, end: int, graph: Ints) -> int:
    """`read_plain` without `N_FOUND`: parse, then do what RDKit's sanitisation does, in its order."""
    n = read_text(text, start, end, False, graph)
    if n < 0:
        return n
    lower = False
    for atom in range(n):
        lower |= graph[AROMATIC + atom] != 0
    n = give_hydrogens(graph, n)
    if lower and n > 0:
        find_ring_bonds(graph, n)
        n = kekulise(graph, n)
    if n > 0:
        n = give_radicals(graph, n)
    if n > 0:
        n = perceive(graph, n, lower)
    if lower and n > 0:
        n = confirm(graph, n)
    if n > 0:
        tell_apart(graph, n, False)
    return n
