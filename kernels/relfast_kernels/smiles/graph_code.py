"""A canonical code of a molecular graph: isomorphic graphs have equal bytes, all others different ones.

Colour refinement (as in Morgan's algorithm) splits the atoms into classes; where symmetry leaves a class of
several, each is singled out in turn (of atoms with the same bonds to the same neighbours only one), and the
smallest code of all complete orders is the graph's. The whole tree is searched, so that its size,
and with it the decision to give up, depends on the graph and not on how it was written. (McKay and Piperno,
"Practical graph isomorphism, II", 2014, without their pruning: REL's molecules have seven atoms.)
"""

from __future__ import annotations

from typing import Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.smiles.layouts import (
    ATOM_FACTOR,
    BOND_FACTOR,
    BONDS,
    DEGREE,
    FINGERPRINT_MASK,
    HYDROGEN_FACTOR,
    HYDROGENS,
    KEY,
    LABEL,
    MAX_DEGREE,
    SECTION,
    WORK_SIZE,
)

MAX_REFINEMENTS: Final = 512
"""Nodes of the search tree after which it is given up; cubane needs 49, C60 more."""

# sections of the workspace
_ORDER: Final = 0
"""Atoms, class by class."""
_COLOUR: Final = SECTION
"""For each atom its colour: where its class starts in the order."""
_SIGNATURE: Final = 2 * SECTION
_PLACE: Final = 3 * SECTION
_CELL: Final = 4 * SECTION
"""For each depth: the start of the class that is split, and the place of its member to single out next."""
_SAVED: Final = 6 * SECTION
assert _SAVED + 2 * SECTION * SECTION == WORK_SIZE


def _random_table() -> Ints:
    """Pseudo-random numbers below 2^50 for (colour, bond order): six of them add up without overflow."""
    state, table = 88172645463325252, []
    for _ in range(8 * SECTION):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        table.append(state >> 14)
    return np.array(table, np.int64)


_MIX: Final = _random_table()


@kernel
def _refine(graph: Ints, n: int, work: Ints) -> int:
    """Split classes by the neighbours' colours and bonds until nothing changes; the number of classes.

    If sums of different neighbourhoods collide, a class only stays whole that could be split: the same one
    however the graph is written, so that the code stays canonical.
    """
    classes = 0
    while True:
        for atom in range(n):
            total = 0
            for at in range(graph[DEGREE + atom]):
                bond = graph[BONDS + MAX_DEGREE * atom + at]
                total += _MIX[8 * work[_COLOUR + (bond >> 3)] + (bond & 7)]
            work[_SIGNATURE + atom] = total
        for at in range(1, n):
            atom = work[_ORDER + at]
            colour, signature = work[_COLOUR + atom], work[_SIGNATURE + atom]
            to = at
            while to > 0:
                before = work[_ORDER + to - 1]
                if work[_COLOUR + before] != colour or work[_SIGNATURE + before] <= signature:
                    break
                work[_ORDER + to] = before
                to -= 1
            work[_ORDER + to] = atom
        found = 0
        last_colour, last_signature, start = -1, 0, 0
        for at in range(n):
            atom = work[_ORDER + at]
            colour, signature = work[_COLOUR + atom], work[_SIGNATURE + atom]
            if colour != last_colour or signature != last_signature:
                last_colour, last_signature, start = colour, signature, at
                found += 1
            work[_COLOUR + atom] = start
        if found in (n, classes):
            return found
        classes = found


@kernel
def _first_colours(graph: Ints, n: int, work: Ints) -> None:
    """Order the atoms by key and degree: the initial colours."""
    for atom in range(n):
        key = graph[KEY + atom] * 8 + graph[DEGREE + atom]
        work[_SIGNATURE + atom] = key
        to = atom
        while to > 0 and work[_SIGNATURE + work[_ORDER + to - 1]] > key:
            work[_ORDER + to] = work[_ORDER + to - 1]
            to -= 1
        work[_ORDER + to] = atom
    start = 0
    for at in range(n):
        atom = work[_ORDER + at]
        if work[_SIGNATURE + atom] != work[_SIGNATURE + work[_ORDER + start]]:
            start = at
        work[_COLOUR + atom] = start


@kernel
def _are_twins(graph: Ints, a: int, b: int) -> bool:
    """Whether two atoms of one class have the same bonds to the same neighbours."""
    degree = graph[DEGREE + a]
    for at in range(degree):
        bond, there = graph[BONDS + MAX_DEGREE * a + at], False
        for other in range(degree):
            there |= graph[BONDS + MAX_DEGREE * b + other] == bond
        if not there:
            return False
    return True


@kernel
def _write(graph: Ints, n: int, work: Ints, code: Bytes, to: int) -> int:
    """Write the code of the present order at ``code[to:]``; its length.

    For each atom: its key (three bytes), how many of its bonds go to atoms before it, and those bonds in
    ascending order, a byte each: ``4 * place + order - 1`` (`MAX_ATOMS` times four fit into a byte).
    """
    at = to
    for atom in range(n):
        work[_PLACE + work[_ORDER + atom]] = atom
    for place in range(n):
        atom = work[_ORDER + place]
        key = graph[KEY + atom]
        code[at] = key >> 16
        code[at + 1] = key >> 8 & 255
        code[at + 2] = key & 255
        counted = at + 3
        at += 4
        first = at
        for k in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + k]
            other = work[_PLACE + (bond >> 3)]
            if other < place:
                value = 4 * other + (bond & 7) - 1
                slot = at
                while slot > first and code[slot - 1] > value:
                    code[slot] = code[slot - 1]
                    slot -= 1
                code[slot] = value
                at += 1
        code[counted] = at - first
    return at - to


@kernel
def _keep_smaller(code: Bytes, to: int, length: int, best: int) -> int:
    """Keep the smaller of two codes, the best at ``code[to:]`` and the new one behind it; its length."""
    new = to + best
    smaller = best == 0
    for at in range(length):
        if smaller or code[new + at] != code[to + at]:
            smaller = smaller or code[new + at] < code[to + at]
            break
    if smaller:
        for at in range(length):
            code[to + at] = code[new + at]
    return length


@kernel
def write_code(graph: Ints, n: int, work: Ints, code: Bytes, to: int) -> int:
    """Write the canonical code of a graph of n atoms at ``code[to:]``; its length, 0 if given up.

    ``code`` needs room for twice `MAX_CODE` there.
    """
    _first_colours(graph, n, work)
    classes = _refine(graph, n, work)
    if classes == n:
        return _write(graph, n, work, code, to)
    best = 0
    depth = 0
    spent = 1
    while True:
        if classes == n:
            best = _keep_smaller(code, to, _write(graph, n, work, code, to + best), best)
        else:
            # the first of the smallest classes that have several members
            start, size, at = 0, n + 1, 0
            while at < n:
                end = at + 1
                while end < n and work[_COLOUR + work[_ORDER + end]] == at:
                    end += 1
                if 1 < end - at < size:
                    start, size = at, end - at
                at = end
            work[_CELL + 2 * depth] = start
            work[_CELL + 2 * depth + 1] = start
            for at in range(n):
                work[_SAVED + 2 * SECTION * depth + at] = work[_ORDER + at]
                work[_SAVED + 2 * SECTION * depth + SECTION + at] = work[_COLOUR + at]
            depth += 1
        # the next member to single out, here or further up
        while depth:
            saved = _SAVED + 2 * SECTION * (depth - 1)
            start, member = work[_CELL + 2 * depth - 2], work[_CELL + 2 * depth - 1]
            chosen = -1
            while member < n and chosen < 0:
                atom = work[saved + member]
                if work[saved + SECTION + atom] != start:
                    break
                chosen = atom
                for earlier in range(start, member):
                    if _are_twins(graph, atom, work[saved + earlier]):
                        chosen = -1
                        break
                member += 1
            if chosen >= 0:
                work[_CELL + 2 * depth - 1] = member
                break
            depth -= 1
        if depth == 0:
            return best
        spent += 1
        if spent > MAX_REFINEMENTS:
            return 0
        for at in range(n):
            work[_ORDER + at] = work[saved + at]
            work[_COLOUR + at] = work[saved + SECTION + at]
        at = start
        while work[_ORDER + at] != chosen:
            at += 1
        work[_ORDER + at] = work[_ORDER + start]
        work[_ORDER + start] = chosen
        at = start + 1
        while at < n and work[_COLOUR + work[_ORDER + at]] == start:
            work[_COLOUR + work[_ORDER + at]] = start + 1
            at += 1
        classes = _refine(graph, n, work)


@kernel
def scramble(value: int, factor: int) -> int:
    """Hash 32 bits to 32 bits: multiply by a ``factor`` below 2^31 and fold."""
    value = (value * factor) & 0x7FFF_FFFF_FFFF_FFFF
    return (value ^ (value >> 29)) & FINGERPRINT_MASK


@kernel
def fingerprint(graph: Ints, n: int) -> int:
    """A hash of 32 bits, equal for equal graphs: labels, degrees and bonds as far as two bonds away.

    Different graphs may share one (it only tells wrong answers apart in majority votes). Simple
    enough to be computed from RDKit's molecule too (`relfast.chem.molecule`), bit for bit.
    """
    total = 0
    for atom in range(n):
        around = 0
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            other = bond >> 3
            far = 0
            for other_at in range(graph[DEGREE + other]):
                far += graph[BONDS + MAX_DEGREE * other + other_at] & 7
            far += 64 * graph[LABEL + other]
            around += scramble(8 * far + (bond & 7), BOND_FACTOR)
        total += scramble((around + graph[LABEL + atom]) & FINGERPRINT_MASK, ATOM_FACTOR)
    return total & FINGERPRINT_MASK


@kernel
def hydrogens_print(graph: Ints, n: int) -> int:
    """What hydrogens add to the fingerprint under ``strict``; `relfast.chem.molecule` computes it from
    RDKit's molecule, bit for bit."""
    total = 0
    for atom in range(n):
        label, hydrogens = graph[LABEL + atom], graph[HYDROGENS + atom]
        value = 64 * label + 8 * graph[DEGREE + atom] + hydrogens
        total += scramble(scramble(value, HYDROGEN_FACTOR), HYDROGEN_FACTOR)
    return total
