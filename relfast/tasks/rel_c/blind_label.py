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
from relfast.tasks.rel_c.measure import listed

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


def _length(smiles: str) -> float:
    return len(smiles)


STRATEGIES: Final[dict[str, BlindStrategy]] = {
    "always Yes": lambda record, numbers: "<Yes>",
    "always No": lambda record, numbers: "<No>",
    "drawn": lambda record, numbers: numbers.choice(["<Yes>", "<No>"]),
    "heteroatoms are equal": _all_equal(_elements(_HETERO)),
    "heavy atoms are equal": _all_equal(_elements(_HEAVY)),
    "number of heavy atoms is equal": _all_equal(lambda smiles: len(_HEAVY.findall(smiles))),
    "lengths are equal": _all_equal(len),
    "no odd length": _no_outlier(_length, 1),
    "lengths within 2": _spread(_length, 2),
    "lengths within 4": _spread(_length, 4),
    "lengths within 6": _spread(_length, 6),
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
