"""Answers to REL-C1 that compute no formula: what they earn is what a reward pays for nothing.

Each gets a record without its gold, and random numbers of its own. To count carbons, hydrogens (from
bonds and rings) and heteroatoms of every molecule is no leak but the task.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from relfast.tasks.modules import BlindStrategy
from relfast.tasks.rel_c.display import listed

_HETERO: Final = re.compile(r"Cl|Br|[NOSFPI]|[nos]")
_HEAVY: Final = re.compile(r"Cl|Br|[A-Z]|[cnos]")

Record = Mapping[str, Any]


def _molecules(record: Record) -> list[str]:
    return listed(record.get("question"))


def _all_equal(of: Callable[[str], Hashable]) -> BlindStrategy:
    """Yes where a feature is the same in all molecules."""

    def respond(record: Record, numbers: random.Random) -> str:
        return "<Yes>" if len({of(smiles) for smiles in _molecules(record)}) <= 1 else "<No>"

    return respond


def _no_outlier(of: Callable[[str], float], least: float) -> BlindStrategy:
    """Yes where no molecule's number is further than ``least`` from its nearest neighbour's."""

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
"""Name → response to a record without gold."""


# Responses to REL-C2 and C3 that look at the question without solving it: what they earn proves nothing.


def _tag(smiles: str) -> str:
    return f"<smiles>{smiles}</smiles>"


def given(record: Record) -> list[str]:
    """The molecules that a question lists."""
    return listed(record.get("question")) or ["C"]


def _constant(smiles: str) -> BlindStrategy:
    return lambda record, rng: _tag(smiles)


def _by_size(record: Record, rng: random.Random) -> str:
    """A constant for each kind of question."""
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
"""REL-C2: name → response."""


def _all_given(record: Record, rng: random.Random) -> str:
    return "\n".join(map(_tag, given(record)))


def _shuffled_letters(record: Record, rng: random.Random) -> str:
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


# A stand-in for a model, without a server.


_SKILL: Final = 0.5


def isomer_set(row: Mapping[str, Any], luck: random.Random) -> str:
    """C1: the right label, or any."""
    label = row["answer"]["label"] if luck.random() < _SKILL else luck.choice(("Yes", "No"))
    return f"I compared the formulas. <{label}>"


def motif(row: Mapping[str, Any], luck: random.Random) -> str:
    """C2: the motif, or benzene."""
    return _tag(row["answer"]["smiles"] if luck.random() < _SKILL else "c1ccccc1")


def missing_isomers(row: Mapping[str, Any], luck: random.Random) -> str:
    """C3: some of the missing isomers."""
    missing = row["answer"]["missing_smiles"]
    if luck.random() >= _SKILL:
        missing = missing[: luck.randrange(len(missing)) + 1]
    return "\n".join(map(_tag, missing))
