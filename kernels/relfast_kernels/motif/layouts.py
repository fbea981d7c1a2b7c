"""A molecule as a row of int32, as the search for shared motifs reads it. Imports neither numba nor numpy."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

MAX_ATOMS: Final = 62
"""The most atoms of a molecule, and bonds of the query: bits of a non-negative int64."""
MAX_DEGREE: Final = 6
"""The most bonds of an atom."""

ATOMS: Final = 1
"""Where the atoms begin, after their number."""
Atom = namedtuple("Atom", "label twin degree bonds")
ATOM: Final = Atom(*range(4))
ATOM_SIZE: Final = ATOM.bonds + MAX_DEGREE
"""Places of an atom: the label that its image must share; a number shared by atoms that can replace it in
the motif as it is written (twins); its number of bonds, and for each of those ``16 * neighbour + order``."""

RING_BOND: Final = 8
"""Bit of an order: the bond is in a ring; orders are 1, 2, 3, and 4 for aromatic bonds."""

MAX_MOTIFS: Final = 256
"""The most motifs that are listed; a group with more has no clear largest one."""

Found = namedtuple("Found", "bonds atoms motifs steps")
FOUND: Final = Found(*range(4))
FOUND_SIZE: Final = len(FOUND)
"""Result of a search: bonds and atoms of the largest motifs, how many of them there are (if none, the former
mean nothing), and the steps that it took."""

SECTION: Final = 64
"""More than the most atoms or bonds of the query."""
DEPTHS: Final = MAX_ATOMS + 2
"""The most bonds of a motif, and two more."""
FRAME_SIZE: Final = 4
WORK_SIZE: Final = 2_048
"""Places of the workspace, besides those of molecules."""
PER_MOLECULE: Final = 1_600
"""Places of the workspace for each molecule, besides its turn."""
