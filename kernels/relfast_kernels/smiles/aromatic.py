"""Which bonds RDKit calls aromatic, for the molecules where that is certain.

`perceive` looks at the rings of a graph with single and double bonds as RDKit's default model does: atoms
that lend 0, 1 or 2 electrons, rings of nothing else, 4k + 2 electrons in a ring or in rings fused by one bond
each. What depends on which smallest rings RDKit happens to choose is not decided here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.bits import n_bits
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.cycles import (
    FOUND_RING,
    find_ring_bonds,
    find_rings,
    is_in_a_large_ring,
    n_cycles,
    peeled,
)
from relfast_kernels.smiles.elements import CARBON, LISTED, OUTER, VALENCES, charge_of, number_of
from relfast_kernels.smiles.layouts import (
    AROMATIC_BOND,
    BONDS,
    DEGREE,
    HYDROGENS,
    LABEL,
    MAX_DEGREE,
    RADICALS,
    RING_BONDS,
)
from relfast_kernels.smiles.valence import IMPLICIT

Ints = npt.NDArray[np.int64]

MAX_FUSED: Final = 6
"""Rings that RDKit looks at together."""


@kernel
def _may_lend(graph: Ints, atom: int) -> bool:
    """Whether an atom could be part of an aromatic ring, as far as a look at it tells."""
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
    """Electrons that an atom lends to a ring (0: it has room for two), -1 for one that keeps out.

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
    # an atom outside of all rings that draws electrons more than this one does keeps those of their bond
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
    """The atoms that could be part of an aromatic ring, as a mask, without what is in no cycle of them."""
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
    """Whether the core is a ring of four that RDKit takes for one although another atom caps it.

    In ``[nH]1c2c3n1C23`` an atom beside the core is bonded to three of its atoms, and no other bond of the
    molecule is in a ring. Both rings of four through the fourth atom are as small as any, so RDKit's search
    finds both; each has no bond that neither the other nor a ring of three has, and of such it keeps all.
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
    electrons = n_bits(atoms & one) + 2 * n_bits(atoms & two)
    return electrons == 2 or (electrons >= 6 and electrons % 4 == 2)


@kernel
def _mark(graph: Ints, n: int, rings: int, found: int) -> None:
    """Make aromatic the bonds that are in one of these rings only."""
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
    """The rings of a set that are fused to one of them, directly or through others."""
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
    """Look at the rings of a fused system two at a time, three at a time, until all bonds are aromatic."""
    for size in range(2, min(n_bits(system), MAX_FUSED) + 1):
        if _are_all_marked(graph, n, system, found):
            return
        rings = system
        while rings:
            if n_bits(rings) == size and _fused_to(graph, rings & -rings, rings, found) == rings:
                # atoms in three of the rings are inside, and lend nothing
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

    Needs the hydrogens of each atom, and sets RING_BONDS if that has not been done.
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
