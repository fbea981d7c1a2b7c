"""Blind strategies for REL-C1, C2 and C3, which answer without solving: what they earn, a reward pays for
nothing. Also the mock models.

Each strategy gets a record without gold, and random numbers. Strategies for C1 compute no formula: counting
carbons, hydrogens (from bonds and rings) and heteroatoms of every molecule is not a leak but the task.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from relfast.tasks.base import BlindStrategy
from relfast.tasks.generation import MOCK_SKILL
from relfast.tasks.rel_c.display import listed

_HETERO: Final = re.compile(r"Cl|Br|[NOSFPI]|[nos]")
_HEAVY: Final = re.compile(r"Cl|Br|[A-Z]|[cnos]")

Record = Mapping[str, Any]


def _molecules(record: Record) -> list[str]:
    return listed(record.get("question"))


def _all_equal(of: Callable[[str], Hashable]) -> BlindStrategy:
    """Say yes if a feature is the same in all molecules."""

    def respond(record: Record, numbers: random.Random) -> str:
        return "<Yes>" if len({of(smiles) for smiles in _molecules(record)}) <= 1 else "<No>"

    return respond


def _no_outlier(of: Callable[[str], float], least: float) -> BlindStrategy:
    """Say yes if every molecule's number is within ``least`` of another molecule's."""

    def respond(record: Record, numbers: random.Random) -> str:
        found = sorted(of(smiles) for smiles in _molecules(record))
        inner = [min(b - a, c - b) for a, b, c in zip(found, found[1:], found[2:], strict=False)]
        gaps = [*inner, *(found[1:2] and [found[1] - found[0], found[-1] - found[-2]])]
        return "<No>" if max(gaps, default=0) > least else "<Yes>"

    return respond


def _spread(of: Callable[[str], float], most: float) -> BlindStrategy:
    def respond(record: Record, numbers: random.Random) -> str:
        found = [of(smiles) for smiles in _molecules(record)]
        return "<Yes>" if max(found, default=0) - min(found, default=0) <= most else "<No>"

    return respond


def _elements(pattern: re.Pattern[str]) -> Callable[[str], Hashable]:
    return lambda smiles: frozenset(Counter(map(str.capitalize, pattern.findall(smiles))).items())


STRATEGIES: Final[dict[str, BlindStrategy]] = {
    "always Yes": lambda record, numbers: "<Yes>",
    "always No": lambda record, numbers: "<No>",
    "drawn": lambda record, numbers: numbers.choice(["<Yes>", "<No>"]),
    "heteroatoms are equal": _all_equal(_elements(_HETERO)),
    "heavy atoms are equal": _all_equal(_elements(_HEAVY)),
    "number of heavy atoms is equal": _all_equal(lambda smiles: len(_HEAVY.findall(smiles))),
    "lengths are equal": _all_equal(len),
    "no odd length": _no_outlier(len, 1),
    "lengths within 2": _spread(len, 2),
    "lengths within 4": _spread(len, 4),
    "lengths within 6": _spread(len, 6),
    "double bonds are equal": _all_equal(lambda smiles: smiles.count("=")),
    "rings are equal": _all_equal(lambda smiles: sum(map(str.isdigit, smiles))),
    "all are unsaturated": lambda record, numbers: (
        "<Yes>" if all(set(smiles) & set("=#123456789") for smiles in _molecules(record)) else "<No>"
    ),
    "short lists are isomers": lambda record, numbers: "<Yes>" if len(_molecules(record)) <= 25 else "<No>",
    "both tags": lambda record, numbers: "<Yes> <No>",
    "the question": lambda record, numbers: str(record.get("question", "")),
}
"""REL-C1: name → strategy."""


# Strategies for REL-C2 and C3, which use the question without solving it.


def _tag(smiles: str) -> str:
    return f"<smiles>{smiles}</smiles>"


def given(record: Record) -> list[str]:
    """The molecules that a record's question lists; methane if there are none."""
    return listed(record.get("question")) or ["C"]


def _constant(smiles: str) -> BlindStrategy:
    return lambda record, rng: _tag(smiles)


def _by_size(record: Record, rng: random.Random) -> str:
    """Answer with a constant for each kind of question."""
    molecules = given(record)
    if all("c" in smiles for smiles in molecules):
        if all("S" in smiles for smiles in molecules):
            return _tag("O=[SH](=O)c1ccccc1")
        return _tag("COc1ccccc1" if all("O" in smiles for smiles in molecules) else "CCc1ccccc1")
    if all("O" in smiles for smiles in molecules) and min(map(len, molecules)) > 30:
        return _tag("CC1(C)CCCC2C1CCC1(C)C(C=O)CCC21")
    return _tag("CCCCCCCC")


def _first_half(record: Record, rng: random.Random) -> str:
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
"""REL-C2: name → strategy."""


def _all_given(record: Record, rng: random.Random) -> str:
    return "\n".join(map(_tag, given(record)))


def _shuffled_letters(record: Record, rng: random.Random) -> str:
    """Name chains made of each given molecule's atoms in random order."""
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
"""REL-C3: name → strategy."""


# Mock models (`Task.mock`), which need no server.


def isomer_set(row: Mapping[str, Any], luck: random.Random) -> str:
    """Mock model of C1: the right label with probability `MOCK_SKILL`, else a random one."""
    label = row["answer"]["label"] if luck.random() < MOCK_SKILL else luck.choice(("Yes", "No"))
    return f"I compared the formulas. <{label}>"


def motif(row: Mapping[str, Any], luck: random.Random) -> str:
    """Mock model of C2: the motif with probability `MOCK_SKILL`, else benzene."""
    return _tag(row["answer"]["smiles"] if luck.random() < MOCK_SKILL else "c1ccccc1")


def missing_isomers(row: Mapping[str, Any], luck: random.Random) -> str:
    """Mock model of C3: all missing isomers with probability `MOCK_SKILL`, else the first few."""
    missing = row["answer"]["missing_smiles"]
    if luck.random() >= MOCK_SKILL:
        missing = missing[: luck.randrange(len(missing)) + 1]
    return "\n".join(map(_tag, missing))
