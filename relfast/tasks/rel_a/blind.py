"""Blind strategies for REL-A: what can be answered without reading the panels' rule.

Each is ``(record, rng) -> response``; of the record it sees what the question shows: the choices and, for two
of them, the panels. ``equals a panel`` is no leak but the published tasks themselves: in A1, A3 and A4 all
panels are gold's matrix. A strategy that finds several best choices takes one of them by luck.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from relfast.tasks.modules import BlindStrategy

_Matrix = list[list[float]]
_Merit = Callable[[Sequence[_Matrix], _Matrix, Sequence[_Matrix]], float]

_PART: Final = re.compile(
    r"^(Panel|Answer) [0-9]+:(.*?)(?=^(?:Panel [0-9]+|Answer [0-9]+|Answer set):|\Z)", re.M | re.S
)
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")


@lru_cache(maxsize=16)
def _shown(question: str) -> tuple[list[_Matrix], list[_Matrix]]:
    """Panels and choices as the question shows them."""
    parts: dict[str, list[_Matrix]] = {"Panel": [], "Answer": []}
    for name, body in _PART.findall(question):
        rows = [[float(v) for v in _NUMBER.findall(line)] for line in body.strip().splitlines()]
        parts[name].append([row for row in rows if row])
    return parts["Panel"], parts["Answer"]


def _cells(matrix: _Matrix) -> list[float]:
    return [value for row in matrix for value in row]


def _distance(a: _Matrix, b: _Matrix) -> float:
    return sum(abs(x - y) for x, y in zip(_cells(a), _cells(b), strict=False))


def _common(choices: Sequence[_Matrix], choice: _Matrix) -> int:
    return sum(x == y for other in choices for x, y in zip(_cells(other), _cells(choice), strict=False))


def _in_range(panels: Sequence[_Matrix], choice: _Matrix) -> int:
    values = [v for panel in panels for v in _cells(panel)]
    return sum(min(values) <= v <= max(values) for v in _cells(choice))


_MERITS: Final[dict[str, _Merit]] = {
    "shortest choice": lambda choices, choice, panels: -len(str(choice)),
    "longest choice": lambda choices, choice, panels: len(str(choice)),
    "roundest numbers": lambda choices, choice, panels: sum(v == int(v) for v in _cells(choice)),
    "most digits": lambda choices, choice, panels: max(len(str(v)) for v in _cells(choice)),
    "fewest digits": lambda choices, choice, panels: -max(len(str(v)) for v in _cells(choice)),
    "most similar to the others": lambda choices, choice, panels: (
        -sum(_distance(choice, other) for other in choices)
    ),
    "odd one out": lambda choices, choice, panels: sum(_distance(choice, other) for other in choices),
    "most common cells": lambda choices, choice, panels: _common(choices, choice),
    "least common cells": lambda choices, choice, panels: -_common(choices, choice),
    "largest sum": lambda choices, choice, panels: sum(_cells(choice)),
    "smallest sum": lambda choices, choice, panels: -sum(_cells(choice)),
    "middle sum": lambda choices, choice, panels: (
        -abs(sum(_cells(choice)) - sorted(sum(_cells(other)) for other in choices)[len(choices) // 2])
    ),
    "most repeated values": lambda choices, choice, panels: -len(set(_cells(choice))),
    "most different values": lambda choices, choice, panels: len(set(_cells(choice))),
    "most zeros": lambda choices, choice, panels: _cells(choice).count(0.0),
    "largest value": lambda choices, choice, panels: max(_cells(choice)),
    "smallest spread": lambda choices, choice, panels: min(_cells(choice)) - max(_cells(choice)),
    "values in the panels' range": lambda choices, choice, panels: _in_range(panels, choice),
}


def _best(merit: _Merit) -> BlindStrategy:
    def respond(record: Mapping[str, Any], rng: random.Random) -> str:
        panels, choices = _shown(record["question"] or "")
        if not (choices and all(map(_cells, choices)) and any(map(_cells, panels))):
            return "Answer 1"  # a question of another form
        merits = [merit(choices, choice, panels) for choice in choices]
        return f"Answer {rng.choice([n for n, m in enumerate(merits, 1) if m == max(merits)])}"

    return respond


def _always(text: str) -> BlindStrategy:
    return lambda record, rng: text


STRATEGIES: Final[dict[str, BlindStrategy]] = {
    "nothing": _always(""),
    "always 1": _always("Answer 1"),
    "always 4": _always("Answer 4"),
    "always 8": _always("Answer 8"),
    "random": lambda record, rng: f"Answer {rng.randint(1, 8)}",
    "all eight": _always(", ".join(f"Answer {n}" for n in range(1, 9))),
    "panel 8": _always("The missing panel is Panel 8."),
    "the question again": lambda record, rng: str(record["question"]),
    **{name: _best(merit) for name, merit in _MERITS.items()},
}
"""Name to strategy."""
