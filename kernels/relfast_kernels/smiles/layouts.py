"""Constants that the kernels for molecules and their callers share; imports neither numba nor numpy."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

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

TEXT_START, TEXT_LENGTH, TEXT_CLASS, TEXT_CLEAN = range(4)
TEXT_COLUMNS: Final = 4
"""Columns of ``texts_index``: start and length of a text, its class as published (hydrogens do not count),
and its class under ``strict``, or its flaw there."""
Code = namedtuple("Code", "start length fingerprint clean_print first formula")
CODE: Final = Code(*range(6))
CODE_COLUMNS: Final = 6
"""Columns of ``codes_index``: start and length of a code, its fingerprint as published and under ``strict``,
a place for marks while a record is compared, and the number of its molecular formula, counted from one; 0 for
molecules that are not `IS_ORDINARY`."""
Used = namedtuple("Used", "n_texts text_bytes n_codes code_bytes generation")
USED: Final = Used(*range(5))
N_COUNTERS: Final = 5
"""Counters of a table; the last one counts how often it was emptied."""

TABLE_MEMORIES: Final = 9
TABLE_PARTS: Final = TABLE_MEMORIES + 4
"""How a table is passed: the addresses of the arrays of `relfast_kernels.smiles.table.Table`, in
their order, and how many texts, bytes of texts, codes and bytes of codes it has room for."""

SEVERAL_FRAGMENTS, NOT_PLAIN, ISOTOPE, TOO_LONG, EMPTY = -3, -4, -5, -6, -7
"""In place of a class under ``strict``, as `UNKNOWN` and `INVALID`: why a text is no clean molecule."""

Result = namedtuple("Result", "decided true_positives vote n_wanted n_neutral flaw")
RESULT: Final = Result(*range(6))
RESULT_COLUMNS: Final = 6
"""Columns of a record's result. The last three are for ``strict``: distinct gold molecules, predictions that
count for nothing (repeats, isomers that gold lacks), and the flaw of the first unclean one (0: none)."""

Sizes = namedtuple("Sizes", "gold predicted given")
SIZES: Final = Sizes(*range(3))
SIZE_COLUMNS: Final = 3
"""Columns of a record's sizes: how many gold, predicted and given texts it has."""

INVALID_VOTE: Final = 0x2545F491
"""What an invalid text adds to a vote."""
PLACE_FACTOR: Final = 0x9E3779B1
"""A prediction that matches the gold at a place adds that place, counted from one, times this to the vote."""
HYDROGEN_FACTOR: Final = 0x27D4_EB2F >> 1
"""The factor that mixes a molecule's hydrogens into its fingerprint under ``strict``."""

# Two molecules (`relfast_kernels.mcs.pairs`)

MATCH_SIZE: Final = 5 * SECTION
"""Workspace of a comparison."""
