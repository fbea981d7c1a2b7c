"""What the search for shared motifs and its callers share; imports neither numba nor numpy."""

from __future__ import annotations

from typing import Final

from relfast_kernels.entry import (
    Array,
    Const,
    Doubles,
    Float,
    Inner,
    Int,
    Int8,
    Int32,
    Ints,
    Ints8,
    Ints32,
    Rows,
    Struct,
    Word,
    Words,
)

MAX_ATOMS: Final = 62
"""The most atoms of a molecule, and bonds of the query: bits of a non-negative int64."""
MAX_DEGREE: Final = 6
"""The most bonds of an atom."""


class Atom(Struct):
    """An atom of a molecule: the label that its image must share; a number shared by atoms that can replace
    it in the motif as it is written (twins); its number of bonds, and for each of those ``16 * neighbour +
    order``."""

    label: int = Int32
    twin: int = Int32
    degree: int = Int32
    bonds: Ints32 = Int32 * MAX_DEGREE


RING_BOND: Final = 8
"""Bit of an order: the bond is in a ring; orders are 1, 2, 3, and 4 for aromatic bonds."""

MAX_MOTIFS: Final = 256
"""The most motifs that are listed; a group with more has no clear largest one."""


class Largest(Struct):
    """Result of a search: bonds and atoms of the largest motifs, how many of them there are (if none, the
    former mean nothing), and the steps that it took."""

    bonds: int = Int
    atoms: int = Int
    motifs: int = Int
    steps: int = Int


SECTION: Final = 64
"""More than the most atoms or bonds of the query."""
DEPTHS: Final = MAX_ATOMS + 2
"""The most bonds of a motif, and two more."""
FRAME_SIZE: Final = 4
WORK_SIZE: Final = 2_048
"""Places of the workspace, besides those of molecules."""
PER_MOLECULE: Final = 1_600
"""Places of the workspace for each molecule, besides its turn."""


class Search(Struct):
    """A search for the largest motifs of a group (`relfast_kernels.motif.grow.largest_motifs`).

    ``atoms``: those of the query, which motifs are cut out of, of at most `MAX_ATOMS` bonds; then of the
    ``k`` other molecules. ``starts``: where those of each begin, and the last ones end. ``min_atoms``:
    smaller motifs are not sought; a motif of most bonds that has fewer atoms may or may not be found.
    ``limit``: steps after which the search is given up.

    ``motifs``, out: their bonds as bits, numbered by their first atoms and, at one atom, in the order of its
    bonds.
    """

    min_atoms: int = Int
    limit: int = Int
    found: Largest = Inner(Largest)
    n_atoms: int = Int
    n_starts: int = Int
    n_work: int = Int
    k: int = Int
    atoms: Rows[Atom] = Const(Atom, "n_atoms")
    starts: Ints = Const(Int, "n_starts")
    work: Ints = Array(Int, "n_work")
    known: Ints = Array(Int, "k", PER_MOLECULE)
    images: Ints8 = Array(Int8, DEPTHS, "k", SECTION)
    frames: Ints = Array(Int, DEPTHS, FRAME_SIZE)
    motifs: Ints = Array(Int, MAX_MOTIFS)


class Prints(Struct):
    """Fingerprints as bits and how many bits of each are set; the one of them with which the others are
    compared, and bounds of the similarity. Out: numbers of those within, ascending, and their
    similarities."""

    index: int = Int
    lowest: float = Float
    highest: float = Float
    n: int = Int
    n_words: int = Int
    prints: Words = Const(Word, "n", "n_words")
    counts: Ints = Const(Int, "n")
    places: Ints = Array(Int, "n")
    shares: Doubles = Array(Float, "n")
