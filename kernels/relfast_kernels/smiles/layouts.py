"""What the kernels for molecules and their callers share; imports neither numba nor numpy."""

from __future__ import annotations

from typing import Final

from relfast_kernels.entry import Array, Byte, Bytes, Const, Inner, Int, Int32, Ints, Ints32, Rows, Struct

# The graph of a molecule (`relfast_kernels.smiles.parser`)

INVALID: Final = -2
"""Result for a text that is no molecule: RDKit would refuse it too."""

MAX_ATOMS: Final = 60
"""The most atoms of a graph; the published REL-C3 golds have 7 at most, drug-like answers 20 to 50."""
MAX_DEGREE: Final = 6
"""The most bonds of an atom: as many as sulfur has."""
SECTION: Final = 64
"""Places of a section of a graph or workspace: `MAX_ATOMS`, rounded up."""

LABEL: Final = 0
"""For each atom its element and charge: ``letters * CHARGES + NEUTRAL + charge``."""
DEGREE: Final = SECTION
"""For each atom the number of its bonds."""
BONDS: Final = 2 * SECTION
"""For each atom `MAX_DEGREE` neighbours, as ``8 * neighbour + order``."""
HYDROGENS: Final = BONDS + MAX_DEGREE * SECTION
"""For each atom its number of hydrogens: first those that the text states, in the end all of them."""
AROMATIC: Final = HYDROGENS + SECTION
"""Not 0 for an atom written in lower case (aromatic)."""
BRANCHES: Final = AROMATIC + SECTION
"""A stack of the atoms at which the open branches begin."""
MAX_BRANCHES: Final = 4 * SECTION
RINGS: Final = BRANCHES + MAX_BRANCHES
"""For each ring-closure number 0 (closed) or, once opened, ``8 * (atom + 1) + order``."""
BRACKET: Final = RINGS + 128
"""Not 0 for an atom in brackets, which gets no hydrogens but those that it states."""
RADICALS: Final = BRACKET + SECTION
"""For each atom its unpaired electrons."""
RING_BONDS: Final = RADICALS + SECTION
"""For each atom a mask of those of its bonds that are in a ring; set if any atom is in lower case or may be
aromatic."""
KEY: Final = RING_BONDS + SECTION
"""For each atom the key by which a canonical code tells atoms apart."""
FLAGS: Final = KEY + SECTION
"""Facts about the whole molecule: the bits below."""
N_FOUND: Final = FLAGS + 1
"""The number of atoms of the graph that was read last; `INVALID` or `UNKNOWN` where there is none."""
GRAPH_SIZE: Final = FLAGS + 8

HAS_ISOTOPE, HAS_MAP = 1, 2
"""The text has isotopes; it has atom maps."""
IS_ORDINARY: Final = 8
"""No charge, no radical, each atom with its lowest valence, as constitutional isomers have it."""
IS_SPECIAL: Final = 16
"""Elements, charges and bonds do not determine where the hydrogens are."""

LETTERS: Final = 27
"""An element's symbol as a number: the first letter's place in the alphabet times this, plus that of the
second (0: none)."""
CHARGES: Final = 17
NEUTRAL: Final = 8
"""How many charges a label can have, and which of them stands for none."""

AROMATIC_BOND: Final = 4
"""Bond orders are 1, 2, 3 and this."""

# Canonical codes and fingerprints (`relfast_kernels.smiles.graph_code`)

MAX_CODE: Final = 4 * MAX_ATOMS + MAX_DEGREE * MAX_ATOMS // 2
"""Bytes of the longest code."""
WORK_SIZE: Final = 6 * SECTION + 2 * SECTION * SECTION
"""Workspace in which one code is computed."""

FINGERPRINT_MASK: Final = 0xFFFF_FFFF
ATOM_FACTOR: Final = 0x85EB_CA6B >> 1
BOND_FACTOR: Final = 0xC2B2_AE35 >> 1

# A table of texts and molecules (`relfast_kernels.smiles.table`)

MAX_SMILES: Final = 1_000
"""Characters of the longest SMILES that kernels, ``strict`` and the check of gold read: huge ones hang RDKit.
The longest published gold has 90, a molecule of a question 119, a drug with all its hydrogens written out
500."""


class KnownText(Struct):
    """A text of a table: where it is; its class as published (hydrogens do not count); and its class under
    ``strict``, or its flaw there."""

    start: int = Int
    length: int = Int
    published: int = Int
    clean: int = Int


class KnownCode(Struct):
    """A code of a table, numbered by its class: where it is; its fingerprint as published and under
    ``strict``; a place for marks while a record is compared; and the number of its molecular formula, counted
    from one (0 for molecules that are not `IS_ORDINARY`)."""

    start: int = Int
    length: int = Int
    fingerprint: int = Int
    clean_print: int = Int
    first: int = Int
    formula: int = Int


class Used(Struct):
    """How much of a table is used, and how often it was emptied."""

    n_texts: int = Int
    text_bytes: int = Int
    n_codes: int = Int
    code_bytes: int = Int
    generation: int = Int


class MoleculeTable(Struct):
    """A table (`relfast_kernels.smiles.table`).

    ``text_slots`` and ``code_slots`` are hash tables with open addressing, a power of two long: 0, or the
    number of a text or code, counted from one. ``texts`` and ``codes`` have the bytes of all; ``graph`` and
    ``work`` are workspace for one molecule.
    """

    n_text_slots: int = Int
    n_code_slots: int = Int
    most_texts: int = Int
    most_codes: int = Int
    text_room: int = Int
    code_room: int = Int
    text_slots: Ints32 = Array(Int32, "n_text_slots")
    texts_index: Rows[KnownText] = Array(KnownText, "most_texts")
    texts: Bytes = Array(Byte, "text_room")
    code_slots: Ints32 = Array(Int32, "n_code_slots")
    codes_index: Rows[KnownCode] = Array(KnownCode, "most_codes")
    codes: Bytes = Array(Byte, "code_room")
    used: Used = Inner(Used)
    graph: Ints = Array(Int, GRAPH_SIZE)
    work: Ints = Array(Int, WORK_SIZE)


SEVERAL_FRAGMENTS, NOT_PLAIN, ISOTOPE, TOO_LONG, EMPTY = -3, -4, -5, -6, -7
"""In place of a class under ``strict``, as `UNKNOWN` and `INVALID`: why a text is no clean molecule."""


class Result(Struct):
    """What comparing a record's lists gave (`relfast_kernels.smiles.table.match_lists`). The last three are
    for ``strict``: distinct gold molecules, predictions that count for nothing (repeats, isomers that gold
    lacks), and the flaw of the first unclean one (0: none)."""

    decided: int = Int
    true_positives: int = Int
    vote: int = Int
    n_wanted: int = Int
    n_neutral: int = Int
    flaw: int = Int


class Sizes(Struct):
    """How many texts of gold, of predictions and of the question a record has."""

    gold: int = Int
    predicted: int = Int
    given: int = Int


class Lists(Struct):
    """Records whose predictions are matched with gold (`relfast_kernels.smiles.table.match_lists`).

    ``data`` has all texts, each ended by a newline: for each of ``n_records`` its gold, its predictions, and
    what the question gave. ``classes`` receives the class of each text, `UNKNOWN`, `INVALID` or another flaw;
    ``links`` is workspace.
    """

    strict: int = Int
    n_records: int = Int
    n_bytes: int = Int
    n_sizes: int = Int
    n_texts: int = Int
    n_results: int = Int
    data: Bytes = Const(Byte, "n_bytes")
    sizes: Rows[Sizes] = Const(Sizes, "n_sizes")
    classes: Ints = Array(Int, "n_texts")
    links: Ints = Array(Int, "n_texts")
    results: Rows[Result] = Array(Result, "n_results")
    table: MoleculeTable = Inner(MoleculeTable)


class Lesson(Struct):
    """A text, and what RDKit says of it: its molecule's code (empty: it is none) and fingerprint."""

    n_bytes: int = Int
    code_length: int = Int
    fingerprint: int = Int
    text: Bytes = Const(Byte, "n_bytes")
    code: Bytes = Const(Byte, "code_length")
    table: MoleculeTable = Inner(MoleculeTable)


class Coding(Struct):
    """A text whose code is asked for, and room for it. ``by_rdkit``: RDKit wrote the text, without stereo."""

    n_bytes: int = Int
    by_rdkit: int = Int
    text: Bytes = Const(Byte, "n_bytes")
    code: Bytes = Array(Byte, 2 * MAX_CODE)
    table: MoleculeTable = Inner(MoleculeTable)


INVALID_VOTE: Final = 0x2545F491
"""What an invalid text adds to a vote."""
PLACE_FACTOR: Final = 0x9E3779B1
"""A prediction that matches the gold at a place adds that place, counted from one, times this to the vote."""
HYDROGEN_FACTOR: Final = 0x27D4_EB2F >> 1
"""The factor that mixes a molecule's hydrogens into its fingerprint under ``strict``."""

# Two molecules (`relfast_kernels.mcs.pairs`)

MATCH_SIZE: Final = 5 * SECTION
"""Workspace of a comparison."""
