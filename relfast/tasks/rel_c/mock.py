"""A stand-in for a model, without a server."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

_SKILL: Final = 0.5


def isomer_set(row: Mapping[str, Any], luck: random.Random) -> str:
    """C1: the right label, or any."""
    label = row["answer"]["label"] if luck.random() < _SKILL else luck.choice(("Yes", "No"))
    return f"I compared the formulas. <{label}>"


def motif(row: Mapping[str, Any], luck: random.Random) -> str:
    """C2: the motif, or benzene."""
    return f"<smiles>{row['answer']['smiles'] if luck.random() < _SKILL else 'c1ccccc1'}</smiles>"


def missing_isomers(row: Mapping[str, Any], luck: random.Random) -> str:
    """C3: some of the missing isomers."""
    missing = row["answer"]["missing_smiles"]
    if luck.random() >= _SKILL:
        missing = missing[: luck.randrange(len(missing)) + 1]
    return "\n".join(f"<smiles>{smiles}</smiles>" for smiles in missing)
