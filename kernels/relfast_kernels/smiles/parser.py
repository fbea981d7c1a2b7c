"""The grammar of SMILES: from text to molecular graph.

A graph is one int64 array (`graph`), cut into sections of `SECTION` places
(`relfast_kernels.smiles.layouts`): the label of each atom (element and charge), its number of bonds, its
neighbours and the orders of the bonds to them. Hydrogens are counted at their neighbours, not atoms.
`read_plain` takes text that a model wrote and returns a graph only where RDKit would see exactly that graph;
`read_canonical` takes text that RDKit wrote.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
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

DOT, COLON, OPENING, CLOSING = map(ord, ".:[]")
_BLANK, _BAR, _TILDE, _STAR, _QUOTE = map(ord, " |~*'")
_PERCENT, _PARENTHESIS, _END_PARENTHESIS, _AT, _PLUS = map(ord, "%()@+")
_HYPHEN, _EQUALS, _HASH, _SLASH, _BACKSLASH, _GREATER = map(ord, "-=#/\\>")
_ZERO, _NINE, _UPPER_A, _UPPER_B, _UPPER_C, _UPPER_H, _UPPER_U, _UPPER_Z = map(ord, "09ABCHUZ")
_A, _B, _C, _E, _F, _I, _L, _N, _O, _P, _R, _S, _T, _U, _Z = map(ord, "abcefilnoprstuz")
_BEFORE_UPPER_A, _BEFORE_A, _TO_UPPER = _UPPER_A - 1, _A - 1, _A - _UPPER_A
"""Bytes. Letters count from one in `LETTERS`."""

_OTHER, _LETTER, _RING, _BOND_SYMBOL, _BRANCH, _BRANCH_END, _DOT_SYMBOL, _NEVER = range(8)
"""Kinds of bytes: what is left to RDKit; where atoms, ring closures, bonds, branches begin; the end of a
branch; the dot; and what stands nowhere in a SMILES but in brackets."""
KIND_OF: Final = np.zeros(256, np.uint8)
for _kind, _bytes in (
    (_LETTER, f"{ascii_letters}["),
    (_RING, f"{digits}%"),
    (_BOND_SYMBOL, "-=#/\\:"),
    (_BRANCH, "("),
    (_BRANCH_END, ")"),
    (_DOT_SYMBOL, "."),
    (_NEVER, "!\"&',;?@]^_`{}+"),
):
    KIND_OF[np.frombuffer(_bytes.encode(), np.uint8)] = _kind

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
    if c != _PERCENT:
        return c - _ZERO, at
    c = byte_at(text, at, end)
    if c == _PARENTHESIS:
        value, digits = 0, 0
        at += 1
        while is_digit(byte_at(text, at, end)) and digits < 6:
            value = 10 * value + int(text[at]) - _ZERO
            at += 1
            digits += 1
        if digits == 0 or digits > 5 or byte_at(text, at, end) != _END_PARENTHESIS:
            return INVALID, at
        return value if value < 100 else UNKNOWN, at + 1
    if not (_ZERO < c <= _NINE and is_digit(byte_at(text, at + 1, end))):
        return INVALID, at
    return 10 * (c - _ZERO) + int(text[at + 1]) - _ZERO, at + 2


@kernel
def _end_of_smiles(text: Bytes, start: int, end: int) -> int:
    """Where the text or the blank before a name ends the SMILES; `UNKNOWN` if more than a name may follow."""
    at = start
    while at < end and text[at] != _BLANK:
        at += 1
    for other in range(at, end):
        if text[other] == _BAR or text[other] < _BLANK or text[other] > _TILDE:
            return UNKNOWN
    return at if at > start else UNKNOWN


@kernel
def _read_letter(text: Bytes, at: int, end: int, graph: Ints, n: int) -> tuple[int, int]:
    """Read an atom without brackets, from behind its first letter, as atom n: 1, `UNKNOWN` or `INVALID`; and
    the offset after it."""
    c, following = int(text[at - 1]), byte_at(text, at, end)
    second = 0
    if (c == _UPPER_C and following == _L) or (c == _UPPER_B and following == _R):
        second = following - _BEFORE_A
        at += 1
    aromatic = c >= _A
    element = ((c - _TO_UPPER if aromatic else c) - _BEFORE_UPPER_A) * LETTERS + second
    if not UNBRACKETED[NUMBER[element]] or (aromatic and c in (_F, _I)):
        return INVALID, at
    if n >= MAX_ATOMS:
        return UNKNOWN, at
    graph[LABEL + n] = element * CHARGES + NEUTRAL
    graph[HYDROGENS + n] = 0
    graph[AROMATIC + n] = 1 if aromatic else 0
    graph[BRACKET + n] = 0
    return 1, at


@kernel
def _attach(graph: Ints, n: int, is_atom: int, previous: int, order: int, slash: bool) -> tuple[int, int]:
    """Bond atom n, just read, or a hydrogen, to the previous one: 0, `UNKNOWN` or `INVALID`; and what is now
    the previous atom."""
    if not is_atom:
        if order > 1 or slash or previous < _NOTHING:
            return UNKNOWN, previous
        if previous < 0:
            return 0, _LEADING
        graph[HYDROGENS + previous] += 1
        return 0, _LEAF
    graph[DEGREE + n] = 0
    graph[RADICALS + n] = 0
    if previous >= 0:
        bonded = _add_bond(graph, previous, n, order or _default_order(graph, previous, n))
        if bonded < 0:
            return bonded, previous
    elif previous == _LEADING:
        if order > 1 or slash:
            return UNKNOWN, previous
        graph[HYDROGENS + n] += 1
    elif previous == _LEAF:
        return UNKNOWN, previous
    return 0, n


@kernel
def _read_ring(
    text: Bytes, at: int, end: int, graph: Ints, previous: int, order: int
) -> tuple[int, int, int]:
    """Read a ring-closure number: 0, `UNKNOWN` or `INVALID`; 1 if it opens a ring, -1 if it closes one; and
    the offset after it."""
    number, at = _ring_number(text, at, end)
    if number < 0:
        return number, 0, at
    if previous < 0:
        return UNKNOWN, 0, at
    waiting = graph[RINGS + number]
    if waiting == 0:
        graph[RINGS + number] = 8 * (previous + 1) + order
        return 0, 1, at
    # where both ends have a bond symbol, the first one counts
    other = (waiting >> 3) - 1
    order = waiting & 7 or order or _default_order(graph, previous, other)
    graph[RINGS + number] = 0
    return _add_bond(graph, previous, other, order), -1, at


@kernel
def _read_bond(text: Bytes, at: int, end: int, graph: Ints, previous: int) -> tuple[int, bool, int]:
    """Read a bond, from behind its symbol: its order (0: as without a symbol), or `UNKNOWN`; whether it is a
    slash; and the offset after it."""
    c = int(text[at - 1])
    if c == _HYPHEN and byte_at(text, at, end) == _GREATER:
        return UNKNOWN, False, at
    if c == COLON and (previous < 0 or not graph[AROMATIC + previous]):
        return UNKNOWN, False, at
    if c == _BACKSLASH and byte_at(text, at, end) == _BACKSLASH:
        at += 1
    # between lower-case atoms a slash means the same as no symbol
    slash = c in (_SLASH, _BACKSLASH)
    if c == _EQUALS:
        order = 2
    elif c == _HASH:
        order = 3
    elif c == COLON:
        order = AROMATIC_BOND
    else:
        order = 0 if slash else 1
    return order, slash, at


@kernel
def _is_plain_graph(graph: Ints, n: int, by_rdkit: bool) -> bool:
    """Whether no element is left to RDKit for its bonds, and no aromatic bond is at an upper-case atom."""
    for atom in range(n):
        if graph[DEGREE + atom] and LOOSE[NUMBER[graph[LABEL + atom] // CHARGES]] and not by_rdkit:
            return False
        if graph[AROMATIC + atom] == 0:
            for at in range(graph[DEGREE + atom]):
                if graph[BONDS + MAX_DEGREE * atom + at] & 7 == AROMATIC_BOND:
                    return False
    return True


@kernel
def read_text(text: Bytes, start: int, end: int, by_rdkit: bool, graph: Ints) -> int:
    """Parse text[start:end] into ``graph``; the number of atoms, `UNKNOWN`, or `INVALID` if no SMILES.

    A bond without a symbol between lower-case atoms is aromatic here, whatever it turns out to be.
    """
    n, previous, order, slash, before = 0, _NOTHING, 0, False, _START
    depth, open_rings = 0, 0
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
        kind = KIND_OF[c]
        if kind == _LETTER:
            if c == OPENING:
                is_atom, at = read_bracket(text, at, end, by_rdkit, graph, n)
            else:
                is_atom, at = _read_letter(text, at, end, graph, n)
            if is_atom < 0:
                return is_atom
            status, previous = _attach(graph, n, is_atom, previous, order, slash)
            if status < 0:
                return status
            n += is_atom
            order, slash, before = 0, False, _ATOM
        elif kind == _RING:
            if before not in (_ATOM, _BOND):
                return INVALID
            status, opened, at = _read_ring(text, at - 1, end, graph, previous, order)
            if status < 0:
                return status
            open_rings += opened
            order, slash, before = 0, False, _ATOM
        elif kind == _BOND_SYMBOL:
            if before not in (_ATOM, _OPEN):
                return INVALID
            order, slash, at = _read_bond(text, at, end, graph, previous)
            if order < 0:
                return UNKNOWN
            before = _BOND if before == _ATOM else _FIRST_BOND
        elif kind == _OTHER:
            # wildcards, other bonds, blanks and what may follow them, anything beyond ASCII
            return UNKNOWN
        elif kind == _NEVER or before != _ATOM:
            return INVALID
        elif kind == _BRANCH:
            if depth >= MAX_BRANCHES or previous < 0:
                return UNKNOWN
            graph[BRANCHES + depth] = previous
            depth += 1
            before = _OPEN
        else:
            if kind == _BRANCH_END and depth == 0:
                return INVALID
            if previous == _LEADING:
                return UNKNOWN
            if kind == _BRANCH_END:
                depth -= 1
                previous = graph[BRANCHES + depth]
            else:
                previous, before = _NOTHING, _DOT
    if before != _ATOM:
        return UNKNOWN if before == _START else INVALID
    if depth or open_rings:
        return INVALID
    if previous == _LEADING or n == 0 or not _is_plain_graph(graph, n, by_rdkit):
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
    value = byte_at(text, at, end) - _ZERO
    at += 1
    if value == 0:
        return value, at
    digits = 1
    while is_digit(byte_at(text, at, end)):
        value = 10 * value + int(text[at]) - _ZERO
        at += 1
        digits += 1
        if digits > 6:
            return -1, at
    return value, at


@kernel
def is_digit(c: int) -> bool:
    return _ZERO <= c <= _NINE


@kernel
def _read_symbol(text: Bytes, at: int, end: int) -> tuple[int, bool, int]:
    """Read a bracket atom's symbol: its element in `LETTERS`, `UNKNOWN` or `INVALID`; whether it is in lower
    case (aromatic); and the offset after it."""
    first, following = byte_at(text, at, end), byte_at(text, at + 1, end)
    at += 1
    second = 0
    aromatic = _A <= first <= _Z
    if aromatic:
        # se, si, as, te; b, c, n, o, p, s
        if (first == _S and following in (_E, _I)) or (first in (_A, _T) and following in (_S, _E)):
            second = following
            at += 1
        elif first not in (_B, _C, _N, _O, _P, _S):
            return INVALID, aromatic, at
        first -= _TO_UPPER
    elif not _UPPER_A <= first <= _UPPER_Z:
        # a wildcard, an atomic number, an element in quotes
        is_other = first in (_STAR, _HASH, _QUOTE) or first < _BLANK or first > _TILDE
        return UNKNOWN if is_other else INVALID, aromatic, at
    elif first == _UPPER_U and following == _U:
        return UNKNOWN, aromatic, at
    elif _A <= following <= _Z and NUMBER[(first - _BEFORE_UPPER_A) * LETTERS + following - _BEFORE_A]:
        second = following
        at += 1
    element = (first - _BEFORE_UPPER_A) * LETTERS + (second - _BEFORE_A if second else 0)
    return element if NUMBER[element] else INVALID, aromatic, at


@kernel
def _skip_chirality(text: Bytes, at: int, end: int, number: int) -> tuple[int, int]:
    """Skip ``@`` and ``@@``: 0, `UNKNOWN` (a class of chirality by name follows) or `INVALID`; and the offset
    after it."""
    if byte_at(text, at, end) != _AT:
        return 0, at
    at += 1
    if byte_at(text, at, end) == _AT:
        at += 1
    c = byte_at(text, at, end)
    if c == _BLANK or (_UPPER_A <= c <= _UPPER_Z and c != _UPPER_H):
        return UNKNOWN, at
    return INVALID if number == 1 else 0, at


@kernel
def _read_hydrogens(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """A bracket atom's number of hydrogens, or `UNKNOWN`; and the offset after it."""
    if byte_at(text, at, end) != _UPPER_H:
        return 0, at
    hydrogens = 1
    at += 1
    if is_digit(byte_at(text, at, end)):
        hydrogens, at = _number(text, at, end)
    return hydrogens if 0 <= hydrogens <= _MAX_HYDROGENS else UNKNOWN, at


@kernel
def _read_charge(text: Bytes, at: int, end: int) -> tuple[int, bool, int]:
    """A bracket atom's charge, whether it can be told, and the offset after it."""
    sign = byte_at(text, at, end)
    if sign not in (_PLUS, _HYPHEN):
        return 0, True, at
    charge = 1
    at += 1
    if byte_at(text, at, end) == sign:
        charge = 2
        at += 1
    elif is_digit(byte_at(text, at, end)):
        charge, at = _number(text, at, end)
    return -charge if sign == _HYPHEN else charge, 0 <= charge <= NEUTRAL, at


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
    element, aromatic, at = _read_symbol(text, at, end)
    if element < 0:
        return element, at
    number = NUMBER[element]
    status, at = _skip_chirality(text, at, end, number)
    if status < 0:
        return status, at
    hydrogens, at = _read_hydrogens(text, at, end)
    if hydrogens < 0:
        return UNKNOWN, at
    charge, is_told, at = _read_charge(text, at, end)
    if not is_told:
        return UNKNOWN, at
    if byte_at(text, at, end) == COLON:
        at += 1
        if not is_digit(byte_at(text, at, end)):
            return INVALID, at
        mapped, at = _number(text, at, end)
        if mapped < 0:
            return UNKNOWN, at
        if mapped:
            flags |= HAS_MAP
    if byte_at(text, at, end) != CLOSING:
        c = byte_at(text, at, end)
        return UNKNOWN if at < end and (c <= _BLANK or c > _TILDE) else INVALID, at
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
