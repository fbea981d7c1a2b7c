"""What ``strict`` finds wrong with a SMILES before anybody reads it as a molecule."""

from __future__ import annotations

import re
from typing import Final

# letters, digits, bonds, branches, rings, charges and chirality; no '~', '*', '$', '.', ':', '?'
_ALPHABET: Final = re.compile(r"[A-Za-z0-9@+\-\[\]()=#/\\%]+")
_ISOTOPE: Final = re.compile(r"\[[0-9]")
_MAP: Final = re.compile(r"\[[^\]]*:")


def flaw_of_text(smiles: str) -> str | None:
    """``empty``, ``too_long``, ``several_fragments`` or ``not_plain_smiles``; None where its letters do."""
    if not smiles:
        return "empty"
    if len(smiles) > MAX_CHARS:
        return "too_long"
    if "." in smiles:
        return "several_fragments"
    # an aromatic bond may be written out as ':'; an atom map is a ':' with a number inside brackets
    plain = smiles.replace(":", "") if ":" in smiles else smiles
    if not _ALPHABET.fullmatch(plain) or (plain is not smiles and _MAP.search(smiles)):
        return "not_plain_smiles"
    return None


def has_isotope(smiles: str) -> bool:
    """Whether its letters say that an atom is an isotope, be it of mass 0."""
    return "[" in smiles and _ISOTOPE.search(smiles) is not None


def is_clean_text(smiles: str) -> bool:
    """Whether a text is a clean molecule if a kernel reads it as one, which reads neither wildcards nor atoms
    of hydrogen."""
    return flaw_of_text(smiles) is None and not has_isotope(smiles)


# How long a SMILES may be.


MAX_CHARS: Final = 1_000
"""Longest SMILES that strict reads; the longest published gold has 90 characters."""
