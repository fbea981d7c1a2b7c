"""Aromaticity as RDKit's default model has it, for the molecules where that is certain.

`perceive` looks at the rings of a graph with single and double bonds: a ring whose atoms all lend 0, 1 or 2
pi electrons is aromatic if it has 4k + 2 of them (Hückel's rule), and so are rings fused by one bond each
that have them together. What depends on which smallest rings RDKit happens to choose is not decided here
(`find_rings`).
"""

from __future__ import annotations

from typing import Final

from relfast_kernels.bits import n_bits, place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Ints
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import CARBON, LISTED, OUTER, VALENCES, charge_of, number_of
from relfast_kernels.smiles.kekule import BEFORE, QUEUE
from relfast_kernels.smiles.layouts import (
    AROMATIC_BOND,
    BONDS,
    BRANCHES,
    DEGREE,
    HYDROGENS,
    LABEL,
    MAX_DEGREE,
    RADICALS,
    RING_BONDS,
    RINGS,
    SECTION,
)
from relfast_kernels.smiles.valence import IMPLICIT

MAX_RING: Final = 8
"""Atoms of the largest ring that is searched: from nine on RDKit treats oxygen and sulfur differently."""

MAX_RINGS: Final = 12
"""The most rings of potentially aromatic atoms in a molecule; drugs have four, rarely six."""

# sections that only the parser needs are reused afterwards
_FAR: Final = BRANCHES + 2 * SECTION
_WAYS: Final = BRANCHES + 3 * SECTION
FOUND_RING: Final = RINGS + SECTION
"""The rings found, each as a mask of its atoms."""


@kernel
def peeled(graph: Ints, n: int, core: int) -> int:
    """A set of atoms after removing, again and again, those that have fewer than two neighbours in it."""
    peeled = True
    while peeled and core:
        peeled = False
        for atom in range(n):
            if core >> atom & 1:
                beside = 0
                for at in range(graph[DEGREE + atom]):
                    beside += core >> (graph[BONDS + MAX_DEGREE * atom + at] >> 3) & 1
                if beside < 2:
                    core ^= 1 << atom
                    peeled = True
    return core


@kernel
def n_cycles(graph: Ints, n: int, core: int) -> int:
    """How many independent cycles the core has: bonds, less atoms, plus fragments."""
    total = 0
    left = core
    while left:
        root = place_of(left & -left)
        left ^= 1 << root
        graph[QUEUE] = root
        done, queued = 0, 1
        ends = 0
        while done < queued:
            atom = graph[QUEUE + done]
            done += 1
            for at in range(graph[DEGREE + atom]):
                other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
                ends += core >> other & 1
                if left >> other & 1:
                    left ^= 1 << other
                    graph[QUEUE + queued] = other
                    queued += 1
        total += ends // 2 - queued + 1
    return total


@kernel
def _reach(graph: Ints, a: int, b: int, blocked: int, most: int, n: int) -> int:
    """Length of the shortest path from a to b, not by their bond or ``blocked`` atoms; 0 if over ``most``.

    Leaves the number of shortest paths in `_WAYS` and one of them in `BEFORE`.
    """
    for atom in range(n):
        graph[BEFORE + atom] = -1
    graph[BEFORE + a] = a
    graph[_FAR + a] = 0
    graph[_WAYS + a] = 1
    graph[QUEUE] = a
    done, queued = 0, 1
    while done < queued:
        atom = graph[QUEUE + done]
        done += 1
        far = graph[_FAR + atom] + 1
        if atom == b or far > most:
            break
        for at in range(graph[DEGREE + atom]):
            other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
            if blocked >> other & 1 or (atom == a and other == b):
                continue
            if graph[BEFORE + other] < 0:
                graph[BEFORE + other] = atom
                graph[_FAR + other] = far
                graph[_WAYS + other] = graph[_WAYS + atom]
                graph[QUEUE + queued] = other
                queued += 1
            elif graph[_FAR + other] == far:
                graph[_WAYS + other] += graph[_WAYS + atom]
    return int(graph[_FAR + b]) if graph[BEFORE + b] >= 0 else 0


@kernel
def _is_in_a_ring(graph: Ints, a: int, b: int, found: int) -> bool:
    """Whether a bond is in one of the rings found so far."""
    for ring in range(found):
        if graph[FOUND_RING + ring] >> a & 1 and graph[FOUND_RING + ring] >> b & 1:
            return True
    return False


@kernel
def find_rings(graph: Ints, n: int, core: int) -> int:
    """Find the rings of the core; their number, or `UNKNOWN`.

    If the shortest cycle through a bond is unique, it is part of every smallest set of smallest rings (SSSR).
    If there are as many such cycles as independent ones in the core, every SSSR has the same rings there.
    """
    wanted = n_cycles(graph, n, core)
    if wanted > MAX_RINGS:
        return UNKNOWN
    found = 0
    for again in range(2):
        for a in range(n):
            if not core >> a & 1:
                continue
            for at in range(graph[DEGREE + a]):
                b = graph[BONDS + MAX_DEGREE * a + at] >> 3
                if b < a or not core >> b & 1 or _is_in_a_ring(graph, a, b, found) != (again == 1):
                    continue
                if not _reach(graph, a, b, 0, MAX_RING - 1, n) or graph[_WAYS + b] != 1:
                    continue
                ring = 1 << a
                atom = b
                while atom != a:
                    ring |= 1 << atom
                    atom = graph[BEFORE + atom]
                if ring & ~core:
                    continue
                new = True
                for other in range(found):
                    new = new and graph[FOUND_RING + other] != ring
                if new:
                    graph[FOUND_RING + found] = ring
                    found += 1
                    if found == wanted:
                        return found
    return UNKNOWN


@kernel
def is_in_a_large_ring(graph: Ints, atom: int, ring: int, n: int) -> bool:
    """Whether an oxygen, sulfur or selenium of a ring may also be in a ring of nine or more atoms."""
    if n <= MAX_RING or number_of(graph[LABEL + atom]) not in (8, 16, 34):
        return False
    a, b = -1, -1
    for at in range(graph[DEGREE + atom]):
        other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
        if ring >> other & 1:
            a, b = b, other
    return a >= 0 and _reach(graph, a, b, ring & ~(1 << a) & ~(1 << b), n, n) > 0


# sections that only the parser needs are reused afterwards
_FOUND: Final = BRANCHES
"""For each atom its discovery time in the depth-first search, counted from one; 0: not discovered."""
_LOWEST: Final = BRANCHES + SECTION
"""For each atom the earliest discovery time that its subtree reaches by one back edge (its low-link)."""
_NEXT: Final = BRANCHES + 2 * SECTION
_PATH: Final = RINGS


@kernel
def find_ring_bonds(graph: Ints, n: int) -> None:
    """Set RING_BONDS: no bridges. (Tarjan, "A note on finding the bridges of a graph", 1974.)"""
    for atom in range(n):
        graph[_FOUND + atom] = 0
        graph[RING_BONDS + atom] = (1 << graph[DEGREE + atom]) - 1
    found = 0
    for root in range(n):
        if graph[_FOUND + root]:
            continue
        depth = 0
        graph[_PATH] = root
        found += 1
        graph[_FOUND + root] = found
        graph[_LOWEST + root] = found
        graph[_NEXT + root] = 0
        while depth >= 0:
            atom = graph[_PATH + depth]
            parent = graph[_PATH + depth - 1] if depth else -1
            at = graph[_NEXT + atom]
            if at < graph[DEGREE + atom]:
                graph[_NEXT + atom] = at + 1
                other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
                if other == parent:
                    continue
                if graph[_FOUND + other]:
                    graph[_LOWEST + atom] = min(graph[_LOWEST + atom], graph[_FOUND + other])
                    continue
                found += 1
                graph[_FOUND + other] = found
                graph[_LOWEST + other] = found
                graph[_NEXT + other] = 0
                depth += 1
                graph[_PATH + depth] = other
                continue
            depth -= 1
            if depth < 0:
                break
            graph[_LOWEST + parent] = min(graph[_LOWEST + parent], graph[_LOWEST + atom])
            if graph[_LOWEST + atom] > graph[_FOUND + parent]:
                _unmark(graph, parent, atom)
                _unmark(graph, atom, parent)


@kernel
def _unmark(graph: Ints, atom: int, other: int) -> None:
    """Clear the ring bit of the bond from one atom to another."""
    for at in range(graph[DEGREE + atom]):
        if graph[BONDS + MAX_DEGREE * atom + at] >> 3 == other:
            graph[RING_BONDS + atom] &= ~(1 << at)


MAX_FUSED: Final = 6
"""The most fused rings that RDKit tests together."""

_NEUTRAL_IN_RINGS: Final = (5, 14)
"""Elements (B, Si) whose aromatic ions RDKit writes in a way that it does not read again, such as
``[bH-2]1cccc1``: to the published scorer such a molecule does not equal itself."""


@kernel
def _may_lend(graph: Ints, atom: int) -> bool:
    """Whether an atom could be part of an aromatic ring, at first glance."""
    label, neighbours = graph[LABEL + atom], graph[DEGREE + atom]
    if neighbours < 2 or neighbours + graph[HYDROGENS + atom] > 3:
        return False
    if label != CARBON:
        return True
    for at in range(neighbours):
        if graph[BONDS + MAX_DEGREE * atom + at] & 7 > 1:
            return True
    return False


@kernel
def _lends(graph: Ints, atom: int) -> int:
    """Pi electrons that an atom lends to a ring (0: it has an empty orbital), -1 if it cannot take part.

    RDKit's rules. Needs RING_BONDS.
    """
    label, neighbours, hydrogens = graph[LABEL + atom], graph[DEGREE + atom], graph[HYDROGENS + atom]
    number, charge, radicals = number_of(label), charge_of(label), graph[RADICALS + atom]
    usual = VALENCES[LISTED * number]
    if usual <= 1 or (number > 18 and number not in (34, 52)):
        return -1
    bonds, multiple, partner, in_ring = 0, 0, 0, False
    for at in range(neighbours):
        bond = graph[BONDS + MAX_DEGREE * atom + at]
        bonds += bond & 7
        if bond & 7 > 1:
            multiple += 1
            partner = number_of(graph[LABEL + (bond >> 3)])
            in_ring = graph[RING_BONDS + atom] >> at & 1 != 0
    if multiple > 1 or bonds + hydrogens > VALENCES[LISTED * (number - charge)]:
        return -1
    if radicals and (number != 6 or charge):
        return -1
    electrons = usual - neighbours - hydrogens + max(OUTER[number] - usual - charge, 0) - radicals
    if electrons > 1 and bonds + hydrogens - (graph[IMPLICIT + atom] & 31) - neighbours > 1:
        electrons = 1
    if electrons < 0:
        return -1
    # a double bond out of the ring: a more electronegative partner keeps its electrons
    drawn = multiple == 1 and not in_ring
    taken = drawn and (
        OUTER[partner] > OUTER[number] or (OUTER[partner] == OUTER[number] and partner < number)
    )
    if electrons == 0:
        return 0 if drawn else 1 if multiple else -1
    if electrons == 1:
        if multiple:
            return 0 if taken else 1
        return 0 if charge == 1 else -1
    return 1 if (electrons - taken) % 2 else 2


@kernel
def _core(graph: Ints, n: int, ring_bonds: bool) -> int:
    """A mask of the atoms that could be part of an aromatic ring, without those on no cycle of them."""
    core = 0
    for atom in range(n):
        if _may_lend(graph, atom):
            core |= 1 << atom
    core = peeled(graph, n, core)
    if core == 0:
        return 0
    if not ring_bonds:
        find_ring_bonds(graph, n)
    for atom in range(n):
        if core >> atom & 1 and (graph[RING_BONDS + atom] == 0 or _lends(graph, atom) < 0):
            core ^= 1 << atom
    return peeled(graph, n, core)


@kernel
def _is_square_with_a_cap(graph: Ints, n: int, core: int) -> bool:
    """Whether the core is a ring of four that RDKit keeps as a ring although another atom caps it.

    In ``[nH]1c2c3n1C23`` an atom beside the core is bonded to three of its atoms, and no other bond of the
    molecule is in a ring. Both rings of four through the fourth atom are equally small, so RDKit's search
    finds both; every bond of each is also in the other or in a ring of three, and such rings RDKit keeps all.
    """
    if n_bits(core) != 4:
        return False
    cap = -1
    threes = 0
    for atom in range(n):
        ring_bonds = n_bits(graph[RING_BONDS + atom])
        if core >> atom & 1:
            threes += ring_bonds == 3
        elif ring_bonds:
            if ring_bonds != 3 or cap >= 0:
                return False
            cap = atom
    return cap >= 0 and threes == 3


@kernel
def _is_aromatic(atoms: int, one: int, two: int) -> bool:
    """Hückel's rule: whether the electrons of some atoms, one or two each, are 4k + 2."""
    electrons = n_bits(atoms & one) + 2 * n_bits(atoms & two)
    return electrons == 2 or (electrons >= 6 and electrons % 4 == 2)


@kernel
def _mark(graph: Ints, n: int, rings: int, found: int) -> None:
    """Mark as aromatic the bonds that are in exactly one of these rings."""
    for a in range(n):
        for at in range(graph[DEGREE + a]):
            place = BONDS + MAX_DEGREE * a + at
            b = graph[place] >> 3
            times = 0
            for ring in range(found):
                if rings >> ring & 1:
                    times += graph[FOUND_RING + ring] >> a & graph[FOUND_RING + ring] >> b & 1
            if times == 1 and graph[place] & 7 != 3:
                graph[place] = 8 * b + AROMATIC_BOND


@kernel
def _are_all_marked(graph: Ints, n: int, rings: int, found: int) -> bool:
    """Whether all bonds of these rings are aromatic."""
    for a in range(n):
        for at in range(graph[DEGREE + a]):
            bond = graph[BONDS + MAX_DEGREE * a + at]
            b = bond >> 3
            if bond & 7 < 3:
                for ring in range(found):
                    if rings >> ring & graph[FOUND_RING + ring] >> a & graph[FOUND_RING + ring] >> b & 1:
                        return False
    return True


@kernel
def _fused_to(graph: Ints, start: int, among: int, found: int) -> int:
    """The rings of a set that are fused to the ring ``start``, directly or through others."""
    system = start
    grown = True
    while grown:
        grown = False
        for ring in range(found):
            if not among >> ring & 1 or system >> ring & 1:
                continue
            for other in range(found):
                if system >> other & 1 and graph[FOUND_RING + ring] & graph[FOUND_RING + other]:
                    system |= 1 << ring
                    grown = True
                    break
    return system


@kernel
def _mark_together(graph: Ints, n: int, system: int, found: int, one: int, two: int) -> None:
    """Test the rings of a fused system two at a time, three at a time, until all bonds are aromatic."""
    for size in range(2, min(n_bits(system), MAX_FUSED) + 1):
        if _are_all_marked(graph, n, system, found):
            return
        rings = system
        while rings:
            if n_bits(rings) == size and _fused_to(graph, rings & -rings, rings, found) == rings:
                # atoms in three of the rings are inside of the system, and lend nothing
                once, twice, thrice = 0, 0, 0
                for ring in range(found):
                    if rings >> ring & 1:
                        atoms = graph[FOUND_RING + ring]
                        thrice |= twice & atoms
                        twice |= once & atoms
                        once |= atoms
                if _is_aromatic(once & ~thrice, one, two):
                    _mark(graph, n, rings, found)
            rings = (rings - 1) & system


@kernel
def perceive(graph: Ints, n: int, ring_bonds: bool) -> int:
    """Mark the aromatic bonds of a graph whose bonds are single, double and triple; n or `UNKNOWN`.

    Needs the hydrogens of each atom. ``ring_bonds``: RING_BONDS is set already; else it is set if need be.
    """
    core = _core(graph, n, ring_bonds)
    if core == 0:
        return n
    found = find_rings(graph, n, core)
    certain = found > 0
    if not certain:
        if n_cycles(graph, n, core) != 1:
            return UNKNOWN
        # a single cycle, which RDKit may or may not take for a ring: it may be too long, or bridged
        graph[FOUND_RING] = core
        found = 1
        certain = _is_square_with_a_cap(graph, n, core)
    in_rings = 0
    for ring in range(found):
        atoms = graph[FOUND_RING + ring]
        in_rings |= atoms
        for other in range(ring):
            if n_bits(atoms & graph[FOUND_RING + other]) > 2:
                return UNKNOWN
        for atom in range(n):
            if atoms >> atom & 1 and is_in_a_large_ring(graph, atom, atoms, n):
                certain = False
    one, two = 0, 0
    for atom in range(n):
        if in_rings >> atom & 1:
            label = graph[LABEL + atom]
            if charge_of(label) and number_of(label) in _NEUTRAL_IN_RINGS:
                return UNKNOWN
            electrons = _lends(graph, atom)
            if electrons == 1:
                one |= 1 << atom
            elif electrons == 2:
                two |= 1 << atom
    aromatic = 0
    for ring in range(found):
        if _is_aromatic(graph[FOUND_RING + ring], one, two):
            aromatic |= 1 << ring
    if not certain:
        return n if aromatic == 0 and found == 1 else UNKNOWN
    for ring in range(found):
        if aromatic >> ring & 1:
            _mark(graph, n, 1 << ring, found)
    left = (1 << found) - 1
    while left:
        system = _fused_to(graph, left & -left, left, found)
        left &= ~system
        if system & ~aromatic:
            _mark_together(graph, n, system, found, one, two)
    return n
