"""Responses to REL-C2 and C3 that look at the question without solving it: what they earn proves nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.tasks.modules import BlindStrategy
from relfast.tasks.rel_c.measure import listed


def _tag(smiles: str) -> str:
    return f"<smiles>{smiles}</smiles>"


def given(record: Mapping[str, Any]) -> list[str]:
    """The molecules that a question lists."""
    return listed(record.get("question")) or ["C"]


def _constant(smiles: str) -> BlindStrategy:
    return lambda record, rng: _tag(smiles)


def _by_size(record: Mapping[str, Any], rng: random.Random) -> str:
    """A constant for each kind of question."""
    molecules = given(record)
    if all("c" in smiles for smiles in molecules):
        if all("S" in smiles for smiles in molecules):
            return _tag("O=[SH](=O)c1ccccc1")
        return _tag("COc1ccccc1" if all("O" in smiles for smiles in molecules) else "CCc1ccccc1")
    if all("O" in smiles for smiles in molecules) and min(map(len, molecules)) > 30:
        return _tag("CC1(C)CCCC2C1CCC1(C)C(C=O)CCC21")
    return _tag("CCCCCCCC")


def _first_half(record: Mapping[str, Any], rng: random.Random) -> str:
    shortest = min(given(record), key=len)
    return _tag(shortest[: max(1, len(shortest) // 2)])


MOTIF: Final[dict[str, BlindStrategy]] = {
    "benzene": _constant("c1ccccc1"),
    "ethylbenzene": _constant("CCc1ccccc1"),
    "anisole": _constant("COc1ccccc1"),
    "octane": _constant("CCCCCCCC"),
    "a constant a kind of question": _by_size,
    "the shortest given molecule": lambda record, rng: _tag(min(given(record), key=len)),
    "a given molecule": lambda record, rng: _tag(rng.choice(given(record))),
    "half of the shortest given molecule": _first_half,
    "copies the question": lambda record, rng: str(record.get("question") or ""),
}
"""REL-C2: name → response."""


def _all_given(record: Mapping[str, Any], rng: random.Random) -> str:
    return "\n".join(map(_tag, given(record)))


def _shuffled_letters(record: Mapping[str, Any], rng: random.Random) -> str:
    """Chains of the letters of the given molecules in another order."""
    chains = set()
    for smiles in given(record):
        atoms = re.findall(r"Cl|Br|[A-Z]", smiles)
        rng.shuffle(atoms)
        chains.add("".join(atoms))
    return "\n".join(map(_tag, sorted(chains)))


ISOMERS: Final[dict[str, BlindStrategy]] = {
    "all given molecules": _all_given,
    "a given molecule": lambda record, rng: _tag(rng.choice(given(record))),
    "the given molecules, one atom longer": lambda record, rng: "\n".join(
        _tag(smiles + "C") for smiles in given(record)
    ),
    "alkanes": lambda record, rng: "\n".join(_tag("C" * n) for n in range(1, 9)),
    "shuffled letters of the given molecules": _shuffled_letters,
    "copies the question": lambda record, rng: str(record.get("question") or ""),
}
"""REL-C3: name → response."""
