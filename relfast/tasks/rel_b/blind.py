"""Answers to REL-B1 that solve nothing: what they earn is what a reward pays for nothing.

Each gets a record without its gold, and random numbers of its own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from relfast.tasks.modules import BlindStrategy

_FASTA: Final = re.compile(r"^[ \t]*>[ \t]*(\S+)[^\n]*\n[ \t]*([A-Za-z-]+)", re.MULTILINE)

Record = Mapping[str, Any]


def _rows(record: Record) -> list[tuple[str, str]]:
    return _FASTA.findall(str(record.get("question", "")))


def _names(record: Record) -> list[str]:
    return [name for name, _ in _rows(record)]


def _yes(taxa: Sequence[str]) -> str:
    return f"Yes: {', '.join(taxa)}"


def _random_share(share: float) -> BlindStrategy:
    def respond(record: Record, numbers: random.Random) -> str:
        names = _names(record)
        return _yes(numbers.sample(names, round(share * len(names))))

    return respond


def _random_few(n: int) -> BlindStrategy:
    def respond(record: Record, numbers: random.Random) -> str:
        names = _names(record)
        return _yes(numbers.sample(names, min(n, len(names))))

    return respond


def _same(one: str, other: str) -> int:
    return sum(a == b for a, b in zip(one, other, strict=False))


def _most_alike(record: Record, numbers: random.Random) -> str:
    """The two taxa with the most equal columns: siblings, mostly."""
    rows = _rows(record)
    pairs = list(combinations(rows, 2))
    if not pairs:
        return "No"
    (one, _), (other, _) = max(pairs, key=lambda pair: _same(pair[0][1], pair[1][1]))
    return _yes([one, other])


def _ends(record: Record, numbers: random.Random) -> str:
    names = _names(record)
    return _yes([*names[:1], *names[-1:]])


def _neighbours(record: Record, numbers: random.Random) -> str:
    return _yes(_names(record)[:2])


STRATEGIES: Final[dict[str, BlindStrategy]] = {
    "always No": lambda record, numbers: "No",
    "always Yes": lambda record, numbers: "Yes",
    "Yes, all taxa": lambda record, numbers: _yes(_names(record)),
    "Yes, 74 % of the taxa": _random_share(0.74),
    "Yes, half of the taxa": _random_share(0.5),
    "Yes, a quarter of the taxa": _random_share(0.25),
    "Yes, two random taxa": _random_few(2),
    "Yes, three random taxa": _random_few(3),
    "Yes, five random taxa": _random_few(5),
    "Yes, the first two taxa": _neighbours,
    "Yes, the first and the last": _ends,
    "Yes, the most similar two": _most_alike,
    "yes or no, drawn": lambda record, numbers: numbers.choice(["No", _random_few(2)(record, numbers)]),
    "both": lambda record, numbers: f"{_yes(_names(record))}\nNo",
    "the question": lambda record, numbers: str(record.get("question", "")),
}
"""Name → response to a record without gold."""
