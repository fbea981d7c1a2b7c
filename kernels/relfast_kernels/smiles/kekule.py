"""Letters in lower case: places for the double bonds that they stand for.

Such letters only say that some way to place double bonds exists. `kekulise` finds one, as a matching of the
atoms that need one; `confirm` sees, when `relfast_kernels.smiles.aromatic` has looked at the rings, that all
of what was written in lower case is aromatic.
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
    COLON_BOND,
    DEGREE,
    HYDROGENS,
    LABEL,
    MAX_DEGREE,
    RINGS,
    SECTION,
    UNKNOWN,
)
from relfast_kernels.smiles.parser import CARBON, NITROGEN

Ints = npt.NDArray[np.int64]

# what reading a text needed is free for other use afterwards
_MATE: Final = BRANCHES
"""Lower case: the atom at the other end of the double bond, or one of these."""
_NO_DOUBLE: Final = -1
_FREE: Final = -2
BEFORE: Final = BRANCHES + SECTION
"""Breadth first: the atom from which one was reached, -1 where none was."""
QUEUE: Final = RINGS

# the section AROMATIC of an atom in lower case, once its double bonds are placed: which of its bonds had no
# sign or a colon, and which had a colon
_IS_LOWER: Final = 1
_SOFT: Final = 1
_COLON: Final = 1 + MAX_DEGREE


@kernel
def _wants_double(graph: Ints, atom: int) -> int:
    """1 for a lower-case atom that needs a double bond in its ring, 0 for one that has none, or `UNKNOWN`.

    Marks its bonds in the section AROMATIC.
    """
    label, degree = graph[LABEL + atom], graph[DEGREE + atom]
    soft = 0
    doubles = 0
    marks = _IS_LOWER
    for at in range(degree):
        bond = graph[BONDS + MAX_DEGREE * atom + at]
        order = bond & 7
        if order >= AROMATIC_BOND:
            soft += 1
            marks |= 1 << (_SOFT + at)
            if order == COLON_BOND:
                marks |= 1 << (_COLON + at)
        elif order > 1:
            if order > 2 or graph[AROMATIC + (bond >> 3)]:
                return UNKNOWN
            doubles += 1
    if soft < 2 or degree > 3:
        return UNKNOWN
    graph[AROMATIC + atom] = marks
    if label == CARBON:
        return 1 - doubles
    if doubles:
        return UNKNOWN
    if label == NITROGEN:
        return 1 if degree == 2 and graph[HYDROGENS + atom] <= 0 else 0
    return 0 if degree == 2 else UNKNOWN


@kernel
def _find_mate(graph: Ints, root: int, n: int) -> bool:
    """Give a free atom a double bond, moving others along a path of alternating bonds if need be.

    Odd rings are not contracted, so that a way may be missed; one that is found is right.
    """
    for atom in range(n):
        graph[BEFORE + atom] = -1
    graph[BEFORE + root] = root
    graph[QUEUE] = root
    done, queued = 0, 1
    while done < queued:
        atom = graph[QUEUE + done]
        done += 1
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            other = bond >> 3
            mate = graph[_MATE + other]
            if bond & 7 < AROMATIC_BOND or mate == _NO_DOUBLE or graph[BEFORE + other] >= 0:
                continue
            graph[BEFORE + other] = atom
            if mate == _FREE:
                while True:
                    atom = graph[BEFORE + other]
                    former = graph[_MATE + atom]
                    graph[_MATE + atom] = other
                    graph[_MATE + other] = atom
                    if atom == root:
                        return True
                    other = former
            graph[BEFORE + mate] = other
            graph[QUEUE + queued] = mate
            queued += 1
    return False


@kernel
def kekulise(graph: Ints, n: int) -> int:
    """Turn the bonds between lower-case letters into single and double ones; n or `UNKNOWN`.

    Which atoms get a double bond is settled by the letters; which of several ways to pair them is taken does
    not matter for what lends how many electrons. `confirm` sees to the bonds for which it does matter.
    """
    for atom in range(n):
        if graph[AROMATIC + atom]:
            wants = _wants_double(graph, atom)
            if wants < 0:
                return UNKNOWN
            graph[_MATE + atom] = _FREE if wants else _NO_DOUBLE
        else:
            graph[_MATE + atom] = _NO_DOUBLE
            for at in range(graph[DEGREE + atom]):
                if graph[BONDS + MAX_DEGREE * atom + at] & 7 >= AROMATIC_BOND:
                    return UNKNOWN
    for atom in range(n):
        if graph[_MATE + atom] == _FREE and not _find_mate(graph, atom, n):
            return UNKNOWN
    for atom in range(n):
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            if bond & 7 >= AROMATIC_BOND:
                order = 2 if graph[_MATE + atom] == bond >> 3 else 1
                graph[BONDS + MAX_DEGREE * atom + at] = (bond >> 3) * 8 + order
    return n


@kernel
def _is_soft_bridge(graph: Ints, a: int, b: int, n: int) -> bool:
    """Whether bonds between lower-case letters connect two atoms only through the one between them."""
    for atom in range(n):
        graph[BEFORE + atom] = -1
    graph[BEFORE + a] = a
    graph[QUEUE] = a
    done, queued = 0, 1
    while done < queued:
        atom = graph[QUEUE + done]
        done += 1
        for at in range(graph[DEGREE + atom]):
            other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
            soft = graph[AROMATIC + atom] >> (_SOFT + at) & 1
            if not soft or graph[BEFORE + other] >= 0 or (atom == a and other == b):
                continue
            if other == b:
                return False
            graph[BEFORE + other] = atom
            graph[QUEUE + queued] = other
            queued += 1
    return True


@kernel
def confirm(graph: Ints, n: int) -> int:
    """n where what was written in lower case is aromatic, else `UNKNOWN`.

    A bond without a sign between two aromatic rings is single, as in biphenyl; where it is the only way from
    one side to the other, the number of atoms on a side says that no other way to pair them makes it double.
    """
    for atom in range(n):
        marks = graph[AROMATIC + atom]
        if not marks:
            continue
        aromatic = 0
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            order = bond & 7
            if order == AROMATIC_BOND:
                aromatic += 1
            elif marks >> (_SOFT + at) & 1:
                if order != 1 or marks >> (_COLON + at) & 1:
                    return UNKNOWN
                if atom < bond >> 3 and not _is_soft_bridge(graph, atom, bond >> 3, n):
                    return UNKNOWN
        if aromatic < 2:
            return UNKNOWN
    return n
