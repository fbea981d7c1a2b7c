"""Comparing two molecules: substructures, identity, and the largest common substructure.

A molecule is read once for many comparisons: its graph, both packed forms, and the facts that they need, a
`Molecule`, which comparisons only read (a search renumbers a copy), so that several threads can share one.

Substructures are searched in the graphs themselves, since only they have charges, unpaired electrons,
fragments and any number of bonds (`contains`), by backtracking: the query's atoms in an order in which each
(but the first of a fragment) has a bond to an earlier one, each tried on what images are left.
"""

from __future__ import annotations

from typing import Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import (
    BEST_ATOMS,
    BEST_BONDS,
    PACKED_SIZE,
    PAIR_WORK_SIZE,
    STATE_SIZE,
    STEPS,
    UNFINISHED,
    Common,
    Comparisons,
    Molecule,
    Pair,
    Parts,
    Reading,
)
from relfast_kernels.mcs.packed import pack
from relfast_kernels.mcs.search import largest_common
from relfast_kernels.smiles.graph_code import fingerprint, hydrogens_print
from relfast_kernels.smiles.layouts import (
    AROMATIC_BOND,
    BONDS,
    CHARGES,
    DEGREE,
    FINGERPRINT_MASK,
    FLAGS,
    HAS_ISOTOPE,
    LABEL,
    LETTERS,
    MATCH_SIZE,
    MAX_DEGREE,
    MAX_SMILES,
    NEUTRAL,
    RADICALS,
    SECTION,
)
from relfast_kernels.smiles.parser import read_canonical, read_plain
from relfast_kernels.smiles.valence import is_settled

MAX_IMAGES: Final = 20_000
"""Images tried before it is left to RDKit: real pairs need some hundreds; this is 0.1 ms."""

# sections of the workspace
_ORDER: Final = 0
"""The query's atoms in the order of the search."""
_ANCHOR: Final = SECTION
"""For each place in the order, an earlier neighbour of its atom, -1 for the first of a fragment."""
_IMAGE: Final = 2 * SECTION
"""For each query atom its image, -1 without."""
_TAKEN: Final = 3 * SECTION
_NEXT: Final = 4 * SECTION
"""For each place, the candidate to try next."""
assert _NEXT + SECTION == MATCH_SIZE


@kernel
def _search_order(query: Ints, n: int, work: Ints) -> None:
    """Put the query's atoms in the order of the search: fragment by fragment, breadth first."""
    for atom in range(n):
        work[_IMAGE + atom] = -1
    placed = 0
    done = 0
    for root in range(n):
        if work[_IMAGE + root] != -1:
            continue
        work[_IMAGE + root] = 0
        work[_ORDER + placed] = root
        work[_ANCHOR + placed] = -1
        placed += 1
        while done < placed:
            atom = work[_ORDER + done]
            done += 1
            for at in range(query[DEGREE + atom]):
                other = query[BONDS + MAX_DEGREE * atom + at] >> 3
                if work[_IMAGE + other] == -1:
                    work[_IMAGE + other] = 0
                    work[_ORDER + placed] = other
                    work[_ANCHOR + placed] = atom
                    placed += 1


@kernel
def _order_between(graph: Ints, a: int, b: int) -> int:
    for at in range(graph[DEGREE + a]):
        bond = graph[BONDS + MAX_DEGREE * a + at]
        if bond >> 3 == b:
            return int(bond & 7)
    return 0


@kernel
def _fits(target: Ints, query: Ints, atom: int, image: int, work: Ints) -> bool:
    """Whether an atom can be mapped to an image, given the images of the atoms before it."""
    if work[_TAKEN + image] or target[DEGREE + image] < query[DEGREE + atom]:
        return False
    label = query[LABEL + atom]
    if target[LABEL + image] != label and (
        label % CHARGES != NEUTRAL or target[LABEL + image] // CHARGES != label // CHARGES
    ):
        return False
    if query[RADICALS + atom] and query[RADICALS + atom] != target[RADICALS + image]:
        return False
    for at in range(query[DEGREE + atom]):
        bond = query[BONDS + MAX_DEGREE * atom + at]
        there = work[_IMAGE + (bond >> 3)]
        if there >= 0 and _order_between(target, image, there) != bond & 7:
            return False
    return True


@kernel
def contains(target: Ints, n_target: int, query: Ints, n_query: int, work: Ints) -> int:
    """1 if the query is a substructure of the target, 0 if not, `UNKNOWN` if it takes too long to tell.
    ``work`` is int64, `MATCH_SIZE`.
    """
    if n_query > n_target:
        return 0
    _search_order(query, n_query, work)
    for atom in range(n_query):
        work[_IMAGE + atom] = -1
    for atom in range(n_target):
        work[_TAKEN + atom] = 0
    place = 0
    work[_NEXT] = 0
    steps = 0
    while place >= 0:
        if place == n_query:
            return 1
        atom, anchor = work[_ORDER + place], work[_ANCHOR + place]
        if work[_IMAGE + atom] >= 0:
            work[_TAKEN + work[_IMAGE + atom]] = 0
            work[_IMAGE + atom] = -1
        n_candidates = n_target
        if anchor >= 0:
            n_candidates = target[DEGREE + work[_IMAGE + anchor]]
        found = -1
        while found < 0 and work[_NEXT + place] < n_candidates:
            image = work[_NEXT + place]
            if anchor >= 0:
                image = target[BONDS + MAX_DEGREE * work[_IMAGE + anchor] + image] >> 3
            work[_NEXT + place] += 1
            steps += 1
            if steps > MAX_IMAGES:
                return UNKNOWN
            if _fits(target, query, atom, image, work):
                found = image
        if found < 0:
            place -= 1
            continue
        work[_IMAGE + atom] = found
        work[_TAKEN + found] = 1
        place += 1
        if place < n_query:
            work[_NEXT + place] = 0
    return 0


_SECOND: Final = PACKED_SIZE
_STATE: Final = 2 * PACKED_SIZE
SEARCH_WORK: Final = _STATE + STATE_SIZE
assert PAIR_WORK_SIZE >= SEARCH_WORK >= MATCH_SIZE


@kernel
def largest(asked: Common) -> int:
    """`common` for the molecules of a `Common`."""
    return common(
        asked.first[0], asked.second[0], asked.whole_rings != 0, asked.limit, asked.work, asked.found
    )


@kernel
def common(first: Molecule, second: Molecule, whole_rings: bool, limit: int, work: Ints, found: Pair) -> int:
    """The largest common substructure of two molecules, as `relfast_kernels.mcs` defines it.

    Parameters
    ----------
    whole_rings
        Whether rings are only matched as wholes, and charges and aromatic bonds must agree.
    limit
        Steps that the search may take.
    work
        int64, `SEARCH_WORK`.
    found
        Out: ``bonds``, ``atoms`` and ``steps``.

    Returns
    -------
    int
        0; `UNKNOWN` if one of them has too many bonds; `UNFINISHED` if the search ran out of steps.
    """
    if first.bonds < 0 or second.bonds < 0:
        return UNKNOWN
    query, target, state = work[:PACKED_SIZE], work[_SECOND:_STATE], work[_STATE:SEARCH_WORK]
    if first.bonds > second.bonds:
        first, second = second, first
    for at in range(PACKED_SIZE):
        query[at] = first.whole[at] if whole_rings else first.loose[at]
        target[at] = second.whole[at] if whole_rings else second.loose[at]
    status = largest_common(query, target, state, limit)
    found.bonds, found.atoms, found.steps = state[BEST_BONDS], state[BEST_ATOMS], state[STEPS]
    return UNFINISHED if status == UNKNOWN else 0


@kernel
def _is_within(target: Molecule, query: Molecule, work: Ints) -> int:
    """Whether the query is a substructure of the target as RDKit has it: 1, 0 or `UNKNOWN`."""
    if query.bonds > target.bonds >= 0 or not may_contain(target, query):
        return 0
    return contains(target.graph, target.atoms, query.graph, query.atoms, work[:MATCH_SIZE])


@kernel
def first_part(asked: Parts) -> int:
    """The index of the first of the parts that is a substructure of the whole; their number if none is,
    `UNKNOWN` where only RDKit can tell."""
    whole = asked.whole[0]
    if whole.bonds < 0:
        return UNKNOWN
    for at in range(asked.n_parts):
        found = _is_within(whole, asked.parts[at], asked.work)
        if found == UNKNOWN:
            return UNKNOWN
        if found:
            return at
    return asked.n_parts


@kernel
def _is_equal_in_size(first: Molecule, second: Molecule) -> bool:
    """Whether two molecules, one of which is a substructure of the other, are substructures of each other."""
    if first.bonds < 0 or second.bonds < 0:
        return False
    if first.charged or second.charged:
        return False
    if first.radicals or second.radicals:
        return False
    return bool(first.counts == second.counts)


@kernel
def compare(asked: Comparisons) -> int:
    """`judge` for many SMILES, each with its gold; one that is too long is `UNKNOWN`. Always 0."""
    for at in range(asked.n):
        one, found = asked.asked[at], asked.found[at]
        found.bonds, found.atoms, found.steps, found.status = 0, 0, 0, UNKNOWN
        if 0 < one.end - one.start <= MAX_SMILES:
            found.status = judge(asked, asked.golds[one.gold], asked.texts[one.start : one.end], found)
    return 0


@kernel
def judge(asked: Comparisons, first: Molecule, text: Bytes, result: Pair) -> int:
    """Compare a SMILES, as a model wrote it, with a molecule.

    The common substructure is searched only if neither contains the other or, with whole rings, if they
    differ. Returns 0 if there is a result; else as `common` and `read`.
    """
    whole_rings, second, work = asked.whole_rings != 0, asked.second[0], asked.work
    n = read(text, False, not whole_rings, whole_rings, second)
    if n <= 0:
        return n
    in_first = _is_within(first, second, work)
    in_second = in_first
    if in_first == 0 or not _is_equal_in_size(first, second):
        in_second = _is_within(second, first, work)
    if UNKNOWN in (in_first, in_second):
        return UNKNOWN
    result.n_first = first.atoms
    result.n_atoms = n
    result.fingerprint = second.clean_print if whole_rings else second.fingerprint
    result.settled = second.settled
    result.in_first = in_first
    result.in_second = in_second
    if (in_first and in_second) or (not whole_rings and (in_first or in_second)):
        return 0
    return common(first, second, whole_rings, asked.limit, work, result)


_CARBON, _NITROGEN, _OXYGEN = 3 * LETTERS, 14 * LETTERS, 15 * LETTERS
_GUARDS: Final = 0x80_8080_8080_8080


@kernel
def _counts(graph: Ints, n: int) -> int:
    """The numbers of carbon, nitrogen, oxygen and other atoms, and of aromatic, double and other bonds, a
    byte each; useless if there are more bonds than can be packed."""
    counts = 0
    for atom in range(n):
        element = graph[LABEL + atom] // CHARGES
        place = 0 if element == _CARBON else 8 if element == _NITROGEN else 16 if element == _OXYGEN else 24
        counts += 1 << place
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            if bond >> 3 > atom:
                order = bond & 7
                counts += 1 << (32 if order == AROMATIC_BOND else 40 if order == 2 else 48)
    return counts


@kernel
def may_contain(target: Molecule, query: Molecule) -> bool:
    """Whether the target has at least the query's `_counts`, without which it cannot contain it."""
    if target.bonds < 0 or query.bonds < 0:
        return True
    left = (target.counts | _GUARDS) - query.counts
    return bool(left & _GUARDS == _GUARDS)


@kernel
def prepare(reading: Reading) -> int:
    """`read` for a `Reading`, with both packed forms."""
    return read(reading.text, reading.by_rdkit != 0, True, True, reading.molecules[reading.at])


@kernel
def read(text: Bytes, by_rdkit: bool, loose: bool, whole: bool, molecule: Molecule) -> int:
    """Read a SMILES for comparisons.

    Parameters
    ----------
    text
        uint8: the SMILES.
    by_rdkit
        Whether RDKit wrote it, without stereo: then it is trusted that its lower-case atoms are aromatic.
    loose, whole
        Which packed forms are wanted.
    molecule
        Out.

    Returns
    -------
    int
        The number of atoms; `INVALID` if it certainly is no molecule, `UNKNOWN` if only RDKit can tell,
        as of isotopes.
    """
    graph = molecule.graph
    n = read_canonical(text, 0, len(text), graph) if by_rdkit else read_plain(text, 0, len(text), graph)
    if n <= 0:
        return n
    if graph[FLAGS] & HAS_ISOTOPE:
        # an isotope matches the same isotope only
        return UNKNOWN
    charged, radical = False, False
    for atom in range(n):
        charged |= graph[LABEL + atom] % CHARGES != NEUTRAL
        radical |= graph[RADICALS + atom] != 0
    bonds = 0
    if loose:
        bonds = pack(graph, n, False, molecule.loose)
    if whole:
        bonds = pack(graph, n, True, molecule.whole)
    molecule.atoms = n
    molecule.bonds = bonds
    printed = fingerprint(graph, n)
    molecule.fingerprint = printed
    # the hydrogens of text that RDKit wrote are not known
    molecule.clean_print = (printed + hydrogens_print(graph, n)) & FINGERPRINT_MASK
    molecule.settled = 1 if not by_rdkit and is_settled(graph, n) else 0
    molecule.charged = 1 if charged else 0
    molecule.radicals = 1 if radical else 0
    molecule.counts = _counts(graph, n)
    return n


ENTRIES = {
    "prepare": (prepare, Reading),
    "common": (largest, Common),
    "judge": (compare, Comparisons),
    "judge_one": (compare, Comparisons),
    "part": (first_part, Parts),
}
"""Name → function and what it is given."""
