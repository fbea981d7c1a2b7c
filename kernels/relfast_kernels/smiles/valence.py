"""RDKit's sanitisation of a graph: nitro groups get charges, atoms get hydrogens and unpaired electrons."""

from __future__ import annotations

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Ints
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import (
    LOWEST,
    charge_of,
    explicit_valence,
    implicit_hydrogens,
    number_of,
    radical_electrons,
)
from relfast_kernels.smiles.layouts import (
    AROMATIC,
    AROMATIC_BOND,
    BONDS,
    BRACKET,
    DEGREE,
    FLAGS,
    HYDROGENS,
    INVALID,
    IS_ORDINARY,
    IS_SPECIAL,
    KEY,
    LABEL,
    MAX_DEGREE,
    RADICALS,
)

IMPLICIT = KEY
"""For each atom, while it is read: its explicit valence, times 32, plus its implicit hydrogens."""

_RADICAL_KEY = 1 << 14
_HYDROGEN_KEY = 1 << 17


@kernel
def _twice_bonds(graph: Ints, atom: int) -> int:
    """Twice the sum of an atom's bond orders, an aromatic one being three halves."""
    twice = 0
    for at in range(graph[DEGREE + atom]):
        order = graph[BONDS + MAX_DEGREE * atom + at] & 7
        twice += 3 if order == AROMATIC_BOND else 2 * order
    return twice


@kernel
def _set_order(graph: Ints, a: int, b: int, order: int) -> None:
    """Set the order of the bond between two atoms, at both of them."""
    for at in range(graph[DEGREE + a]):
        place = BONDS + MAX_DEGREE * a + at
        if graph[place] >> 3 == b:
            graph[place] = 8 * b + order
    for at in range(graph[DEGREE + b]):
        place = BONDS + MAX_DEGREE * b + at
        if graph[place] >> 3 == a:
            graph[place] = 8 * a + order


@kernel
def _clean_nitrogen(graph: Ints, atom: int) -> int:
    """Rewrite a nitrogen with five bonds with charges, as in nitro groups and azides; 0, or `UNKNOWN`."""
    twice = _twice_bonds(graph, atom) + 2 * graph[HYDROGENS + atom]
    if explicit_valence(7, 0, twice, graph[AROMATIC + atom] != 0) != 5:
        return 0
    chosen, several = -1, False
    for at in range(graph[DEGREE + atom]):
        bond = graph[BONDS + MAX_DEGREE * atom + at]
        other, order = bond >> 3, bond & 7
        number = number_of(graph[LABEL + other])
        if charge_of(graph[LABEL + other]) == 0 and (
            (number == 8 and order == 2) or (number == 7 and order == 3)
        ):
            if chosen >= 0 and not (
                number == 8
                and number_of(graph[LABEL + chosen]) == 8
                and graph[DEGREE + other] == graph[DEGREE + chosen] == 1
                and graph[HYDROGENS + other] == graph[HYDROGENS + chosen]
                and graph[BRACKET + other] == graph[BRACKET + chosen]
            ):
                several = True
            if chosen < 0:
                chosen = other
    if several:
        return UNKNOWN
    if chosen >= 0:
        order = 2 if number_of(graph[LABEL + chosen]) == 7 else 1
        _set_order(graph, atom, chosen, order)
        graph[LABEL + atom] += 1
        graph[LABEL + chosen] -= 1
    return 0


@kernel
def _is_rewritten(graph: Ints, atom: int, number: int) -> bool:
    """Whether RDKit may rewrite this phosphorus or halogen with charges."""
    bonds = (_twice_bonds(graph, atom) + 1) // 2 + graph[HYDROGENS + atom]
    if number == 15:
        return bool(bonds == 5 and graph[DEGREE + atom] == 3)
    return bonds in (3, 5, 7)


@kernel
def give_hydrogens(graph: Ints, n: int) -> int:
    """Set HYDROGENS to all hydrogens of each atom, and set `IMPLICIT`; n, `INVALID` or `UNKNOWN`."""
    for atom in range(n):
        label = graph[LABEL + atom]
        number = number_of(label)
        if charge_of(label) == 0:
            if number == 7:
                if _clean_nitrogen(graph, atom) == UNKNOWN:
                    return UNKNOWN
            elif number in (15, 17, 35, 53) and _is_rewritten(graph, atom, number):
                return UNKNOWN
    for atom in range(n):
        label = graph[LABEL + atom]
        number, charge = number_of(label), charge_of(label)
        aromatic = graph[AROMATIC + atom] != 0
        twice = _twice_bonds(graph, atom) + 2 * graph[HYDROGENS + atom]
        explicit = explicit_valence(number, charge, twice, aromatic)
        if explicit == UNKNOWN:
            return UNKNOWN
        implicit = implicit_hydrogens(number, charge, explicit, aromatic, graph[BRACKET + atom] != 0)
        if implicit == INVALID:
            return INVALID
        graph[HYDROGENS + atom] += implicit
        graph[IMPLICIT + atom] = 32 * explicit + implicit
    return n


@kernel
def bond_orders(graph: Ints, atom: int) -> int:
    """The sum of the orders of an atom's bonds, none of them aromatic."""
    bonds = 0
    for at in range(graph[DEGREE + atom]):
        bonds += graph[BONDS + MAX_DEGREE * atom + at] & 7
    return bonds


@kernel
def give_radicals(graph: Ints, n: int) -> int:
    """Set RADICALS, `IS_ORDINARY` and, where bonds do not imply the hydrogens, `IS_SPECIAL`; n or `UNKNOWN`.

    `UNKNOWN`: the valence of a lower-case atom is another now that its bonds are single and double, which
    RDKit sometimes refuses. Needs a graph without aromatic bonds; leaves in `IMPLICIT` the hydrogens only.
    """
    ordinary, special = True, False
    for atom in range(n):
        label = graph[LABEL + atom]
        number, charge = number_of(label), charge_of(label)
        hydrogens, implicit = graph[HYDROGENS + atom], graph[IMPLICIT + atom] & 31
        bonds = bond_orders(graph, atom)
        if graph[AROMATIC + atom] and bonds + hydrogens - implicit != graph[IMPLICIT + atom] >> 5:
            return UNKNOWN
        if graph[BRACKET + atom]:
            if graph[AROMATIC + atom] and number in (7, 15) and charge == 0 and hydrogens == 1:
                implicit = 1  # it counts as one without brackets from here on
            else:
                graph[RADICALS + atom] = radical_electrons(number, charge, bonds + hydrogens)
        graph[IMPLICIT + atom] = implicit
        if charge or graph[RADICALS + atom] or bonds + hydrogens != LOWEST[number]:
            ordinary = False
            if hydrogens != max(0, implicit_hydrogens(number, charge, bonds, False, False)):
                special = True
    if ordinary:
        graph[FLAGS] |= IS_ORDINARY
    if special:
        graph[FLAGS] |= IS_SPECIAL
    return n


@kernel
def is_settled(graph: Ints, n: int) -> bool:
    """Whether a molecule's elements, charges and bonds determine where its hydrogens are: no aromatic ring
    has one on an atom other than carbon, from where it could move to another (tautomers)."""
    if graph[FLAGS] & IS_SPECIAL:
        return False
    for atom in range(n):
        if graph[HYDROGENS + atom] and number_of(graph[LABEL + atom]) != 6:
            for at in range(graph[DEGREE + atom]):
                if graph[BONDS + MAX_DEGREE * atom + at] & 7 == AROMATIC_BOND:
                    return False
    return True


@kernel
def tell_apart(graph: Ints, n: int, by_hydrogens: bool) -> None:
    """Set KEY: element, charge and unpaired electrons of each atom, and with ``by_hydrogens`` its
    hydrogens."""
    for atom in range(n):
        key = graph[LABEL + atom] + _RADICAL_KEY * graph[RADICALS + atom]
        if by_hydrogens:
            key += _HYDROGEN_KEY * (graph[HYDROGENS + atom] + 1)
        graph[KEY + atom] = key
