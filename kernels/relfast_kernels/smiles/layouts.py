"""What the kernels for molecules and their callers both have to know; imports neither numba nor numpy."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

# The graph of a molecule (`relfast_kernels.smiles.parser`)

INVALID: Final = -2
"""Instead of a result: no molecule, RDKit would refuse it too."""

MAX_ATOMS: Final = 60
"""Atoms of a graph; the published REL-C3 golds have 7 at most, drug-like answers 20 to 50."""
MAX_DEGREE: Final = 6
"""Bonds of an atom: as many as sulfur has."""
SECTION: Final = 64
"""Places of a section of a graph or workspace: `MAX_ATOMS`, rounded up."""

LABEL: Final = 0
"""For each atom its element and charge: ``letters * CHARGES + NEUTRAL + charge``."""
DEGREE: Final = SECTION
"""For each atom the number of its bonds."""
BONDS: Final = 2 * SECTION
"""For each atom `MAX_DEGREE` neighbours, as ``8 * neighbour + order``."""
HYDROGENS: Final = BONDS + MAX_DEGREE * SECTION
"""For each atom its hydrogens: first those that are written down, once it is read to the end all of them."""
AROMATIC: Final = HYDROGENS + SECTION
"""Not 0 for an atom in lower case."""
BRANCHES: Final = AROMATIC + SECTION
"""Atoms that open branches hang on."""
MAX_BRANCHES: Final = 4 * SECTION
RINGS: Final = BRANCHES + MAX_BRANCHES
"""For each ring number 0 (closed) or ``8 * (atom + 1) + order``."""
BRACKET: Final = RINGS + 128
"""Not 0 for an atom in brackets, which gets no hydrogens but those that it states."""
RADICALS: Final = BRACKET + SECTION
"""For each atom its unpaired electrons."""
RING_BONDS: Final = RADICALS + SECTION
"""For each atom a mask of those of its bonds that are in a ring, if any atom is in lower case or may be
aromatic."""
KEY: Final = RING_BONDS + SECTION
"""For each atom what a canonical code tells atoms apart by."""
FLAGS: Final = KEY + SECTION
"""What is known of all of the molecule, one of the following bits each."""
N_FOUND: Final = FLAGS + 1
"""The number of atoms of the graph that was read last; negative where there is none."""
GRAPH_SIZE: Final = FLAGS + 8

HAS_ISOTOPE, HAS_MAP = 1, 2
"""Isotopes, atom maps."""
IS_ORDINARY: Final = 8
"""No charge, no radical, each atom with its lowest valence: what constitutional isomers are made of."""
IS_SPECIAL: Final = 16
"""Elements, charges and bonds do not tell where the hydrogens are."""

LETTERS: Final = 27
"""An element's letters as a number: the place of the first in the alphabet times this, plus that of the
second (0: none)."""
CHARGES: Final = 17
NEUTRAL: Final = 8
"""Charges of a label, and which of them is none."""

AROMATIC_BOND: Final = 4
"""Orders of bonds are 1, 2, 3 and this."""

# Canonical codes and fingerprints (`relfast_kernels.smiles.graph_code`)

MAX_CODE: Final = 4 * MAX_ATOMS + MAX_DEGREE * MAX_ATOMS // 2
"""Bytes of the longest code."""
WORK_SIZE: Final = 6 * SECTION + 2 * SECTION * SECTION
"""Workspace of writing one."""

FINGERPRINT_MASK: Final = 0xFFFF_FFFF
ATOM_FACTOR: Final = 0x85EB_CA6B >> 1
BOND_FACTOR: Final = 0xC2B2_AE35 >> 1

# A table of texts and molecules (`relfast_kernels.smiles.table`)

MAX_SMILES: Final = 1_000
"""Bytes of a text that is looked at: as many as strict reads. The longest published gold has 90, a drug with
all its hydrogens written out 500."""

TEXT_START, TEXT_LENGTH, TEXT_CLASS, TEXT_CLEAN = range(4)
TEXT_COLUMNS: Final = 4
"""Columns of ``texts_index``: where a text is, its length, its class as published (hydrogens do not count),
and its class as strict has it, or what is wrong with it."""
Code = namedtuple("Code", "start length fingerprint clean_print first formula")
CODE: Final = Code(*range(6))
CODE_COLUMNS: Final = 6
"""Columns of ``codes_index``: where a code is, its length, its fingerprint as published and as strict has it,
a place for marks while a record is looked at, and the number of its formula, counted from one; 0 for
molecules that are isomers of none."""
Used = namedtuple("Used", "n_texts text_bytes n_codes code_bytes generation")
USED: Final = Used(*range(5))
N_COUNTERS: Final = 5
"""Counters of a table; the last one says how often it was emptied."""

TABLE_MEMORIES: Final = 9
TABLE_PARTS: Final = TABLE_MEMORIES + 4
"""What a table is handed over as: the addresses of the arrays of `relfast_kernels.smiles.table.Table`, in
their order, and how many texts, bytes of texts, codes and bytes of codes it has room for."""

SEVERAL_FRAGMENTS, NOT_PLAIN, ISOTOPE, TOO_LONG, EMPTY = -3, -4, -5, -6, -7
"""Instead of a class of strict, beside `UNKNOWN` and `INVALID`: why a text is no clean molecule."""

Result = namedtuple("Result", "decided true_positives vote n_wanted n_neutral flaw")
RESULT: Final = Result(*range(6))
RESULT_COLUMNS: Final = 6
"""Columns of a record's result. The last three are those of strict: different gold molecules, isomers that
gold lacks, and what is wrong with the first prediction that counts for nothing (0: there is none)."""

Sizes = namedtuple("Sizes", "gold predicted given")
SIZES: Final = Sizes(*range(3))
SIZE_COLUMNS: Final = 3
"""Columns of a record's sizes: its texts of each kind."""

INVALID_VOTE: Final = 0x2545F491
"""What a text that is no molecule adds to a vote."""
PLACE_FACTOR: Final = 0x9E3779B1
"""A text that found the gold at a place adds that place, counted from one, times this."""
HYDROGEN_FACTOR: Final = 0x27D4_EB2F >> 1
"""What mixes the hydrogens of a molecule into its fingerprint as strict has it."""

# Two molecules (`relfast_kernels.mcs.pairs`)

MATCH_SIZE: Final = 5 * SECTION
"""Workspace of a comparison."""
