"""What the letters of a SMILES tell: is it certainly a clean molecule, or a settled one?"""

from __future__ import annotations

import re
from typing import Any, Final

from relfast_kernels.layouts import MAX_SMILES

MAX_CHARS: Final = 1_000
"""Longest SMILES that strict reads; the longest published gold has 90 characters."""

# no brackets but those that state hydrogens or stereo
_CLEAN: Final = re.compile(
    r"(?:Cl|Br|[BCNOPSFIcnos()=#\-/\\%0-9]|\[(?:Cl|Br|[BCNOPSFIcnos])@{0,2}H?[0-9]?\])++"
)

CLEAN_LINES: Final = re.compile(
    rb"(?:Cl|Br|[BCNOPSFIcnos()=#\-/\\%0-9\n]|\[(?:Cl|Br|[BCNOPSFIcnos])@{0,2}H?[0-9]?\])++"
)
"""Such texts as bytes, each ended by a newline."""

_SETTLED_KEY: Final = re.compile(
    r"(?:Cl|Br|[BCNOPSFIbcnops()=#\-/\\%0-9]|\[(?:Cl|Br|[BCNOPSFI])@{0,2}H?[0-9]?\])++"
)


def is_settled(key: str) -> bool:
    """Whether the graph of a molecule without radicals, of which this is the canonical SMILES, decides where
    its hydrogens are: the kernel's rule, seen from RDKit (which writes ``[nH]``)."""
    return _SETTLED_KEY.fullmatch(key) is not None


def certainly_clean(smiles: Any) -> bool:
    """Whether a text, if it is a molecule at all, is a clean one, without charges."""
    return isinstance(smiles, str) and len(smiles) <= MAX_SMILES and _CLEAN.fullmatch(smiles) is not None
