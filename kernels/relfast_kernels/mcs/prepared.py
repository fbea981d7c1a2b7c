"""A molecule read once for many comparisons: its graph, both ways it is packed, and what is asked of it.

One int64 array of `PREPARED_SIZE`; whoever compares only reads it (what a search numbers anew it copies
first), so that several threads can share one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import (
    PREPARED_ATOMS,
    PREPARED_BONDS,
    PREPARED_CHARGED,
    PREPARED_CLEAN_PRINT,
    PREPARED_COUNTS,
    PREPARED_FACTS,
    PREPARED_FINGERPRINT,
    PREPARED_RADICALS,
    PREPARED_RINGS,
    PREPARED_SETTLED,
    PREPARED_SIZE,
)
from relfast_kernels.mcs.packed import LABELS, PACKED_SIZE, pack
from relfast_kernels.smiles.graph_code import fingerprint, hydrogens_print
from relfast_kernels.smiles.layouts import (
    AROMATIC_BOND,
    BONDS,
    CHARGES,
    DEGREE,
    FINGERPRINT_MASK,
    FLAGS,
    GRAPH_SIZE,
    HAS_ISOTOPE,
    LABEL,
    LETTERS,
    MAX_DEGREE,
    NEUTRAL,
    RADICALS,
)
from relfast_kernels.smiles.parser import read_canonical
from relfast_kernels.smiles.plain import read_plain
from relfast_kernels.smiles.valence import is_settled

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

GRAPH: Final = PREPARED_FACTS
LOOSE: Final = GRAPH + GRAPH_SIZE
"""Packed for rings broken at will."""
WHOLE: Final = LOOSE + PACKED_SIZE
"""Packed for whole rings."""
assert WHOLE + PACKED_SIZE <= PREPARED_SIZE


_CARBON, _NITROGEN, _OXYGEN = 3 * LETTERS, 14 * LETTERS, 15 * LETTERS
_GUARDS: Final = 0x80_8080_8080_8080


@kernel
def _counts(graph: Ints, n: int) -> int:
    """The atoms of carbon, nitrogen, oxygen and others, and the aromatic, double and other bonds, a byte
    each; of no use where there are more bonds than are packed."""
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
def may_contain(target: Ints, query: Ints) -> bool:
    """Whether one prepared molecule has as many of each as another, without which it cannot contain it."""
    if target[PREPARED_BONDS] < 0 or query[PREPARED_BONDS] < 0:
        return True
    left = (target[PREPARED_COUNTS] | _GUARDS) - query[PREPARED_COUNTS]
    return bool(left & _GUARDS == _GUARDS)


@kernel
def prepare(text: Bytes, by_rdkit: bool, loose: bool, whole: bool, prepared: Ints) -> int:
    """Read a SMILES for comparisons.

    Parameters
    ----------
    text
        uint8: the SMILES.
    by_rdkit
        Whether RDKit wrote it, without stereo: its aromatic letters are taken at their word then.
    loose, whole
        Which ways of packing are wanted.
    prepared
        int64, `PREPARED_SIZE`, out. `PREPARED_BONDS` is `UNKNOWN` where there are too many for a search.

    Returns
    -------
    int
        The number of atoms; `INVALID` where it certainly is no molecule, `UNKNOWN` where only RDKit can say,
        which goes for isotopes, too.
    """
    graph = prepared[GRAPH : GRAPH + GRAPH_SIZE]
    n = read_canonical(text, 0, len(text), graph) if by_rdkit else read_plain(text, 0, len(text), graph)
    if n <= 0:
        return n
    if graph[FLAGS] & HAS_ISOTOPE:
        # an isotope lies in the same one only
        return UNKNOWN
    charged, radical = False, False
    for atom in range(n):
        charged |= graph[LABEL + atom] % CHARGES != NEUTRAL
        radical |= graph[RADICALS + atom] != 0
    bonds = 0
    if loose:
        bonds = pack(graph, n, False, prepared[LOOSE : LOOSE + PACKED_SIZE])
    rings = 0
    if whole:
        packed = prepared[WHOLE : WHOLE + PACKED_SIZE]
        bonds = pack(graph, n, True, packed)
        for atom in range(n):
            rings |= (packed[LABELS + atom] & 1) << atom
    prepared[PREPARED_RINGS] = rings
    prepared[PREPARED_ATOMS] = n
    prepared[PREPARED_BONDS] = bonds
    printed = fingerprint(graph, n)
    prepared[PREPARED_FINGERPRINT] = printed
    # of what RDKit wrote hydrogens are not known
    prepared[PREPARED_CLEAN_PRINT] = (printed + hydrogens_print(graph, n)) & FINGERPRINT_MASK
    prepared[PREPARED_SETTLED] = 1 if not by_rdkit and is_settled(graph, n) else 0
    prepared[PREPARED_CHARGED] = 1 if charged else 0
    prepared[PREPARED_RADICALS] = 1 if radical else 0
    prepared[PREPARED_COUNTS] = _counts(graph, n)
    return n
