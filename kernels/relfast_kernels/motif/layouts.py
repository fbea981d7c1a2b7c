"""A molecule as one row of int32, as the search for what many molecules share reads it. Imports nothing."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

MAX_ATOMS: Final = 62
"""Atoms of a molecule, and bonds of the one that motifs are cut out of: bits of a non-negative int64."""
MAX_DEGREE: Final = 6
"""Bonds of an atom."""

ATOMS: Final = 1
"""Where the atoms begin, after their number."""
Atom = namedtuple("Atom", "label twin degree bonds")
ATOM: Final = Atom(*range(4))
ATOM_SIZE: Final = ATOM.bonds + MAX_DEGREE
"""Places of an atom: what it must have in common with its image, what with atoms that can stand for it in the
motif as it is written, its number of bonds, and for each of those ``16 * neighbour + order``."""

RING_BOND: Final = 8
"""An order's bit for a bond in a ring; orders are 1, 2, 3, and 4 for aromatic ones."""

MAX_MOTIFS: Final = 256
"""Largest motifs that are listed; a group with more has no clear one."""

Found = namedtuple("Found", "bonds atoms motifs steps")
FOUND: Final = Found(*range(4))
FOUND_SIZE: Final = len(FOUND)
"""What a search says: bonds and atoms of the largest motifs, how many of them there are (of none the former
say nothing), and the steps that it took."""

SECTION: Final = 64
"""Atoms or bonds of the query at most, and one more."""
DEPTHS: Final = MAX_ATOMS + 2
"""Bonds of a motif at most, and two more."""
FRAME_SIZE: Final = 4
WORK_SIZE: Final = 2_048
"""Places of the work space, besides those of molecules."""
PER_MOLECULE: Final = 1_600
"""Places of the work space for each molecule, besides its turn."""
