"""Generate REL-A1…A4 records: eight context panels and eight choices. Gold is known by construction, and
`relfast.tasks.rel_a.rules` confirms it.

With ``distractors="hard"``, the default, all eight choices are copies of the true ninth panel in which one
element of the rule has eight evenly spaced values (or one row has eight orders), one of them right. The
right one is at a uniformly drawn place of that series, and no value leaves the range of the panels, so
neither the choices alone nor ranges of values reveal gold. (In the original RAVEN a majority vote over the
choices finds the answer.) With ``"random"`` the other choices are random real matrices, as published: only
one choice looks like the panels at all, and in A2…A4 it is the shortest one.

At the end are blind strategies and the mock model. A strategy sees only the question: the choices and, for
one strategy, the panels. If several choices are equally good, it takes a random one of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_args

from relfast_kernels.layouts import N_CHOICES

from relfast.errors import RelfastError, UsageError
from relfast.parameters import Choice, Whole, declared, parameter
from relfast.tasks import get_task
from relfast.tasks.base import BlindStrategy
from relfast.tasks.generation import check_count, record_of, stream
from relfast.tasks.rel_a.rules import STEPS, fitting_choices

MAX_GRIDSIZE: Final = 20
"""Maximum rows of a panel: 16 panels of 20 × 20 are a question of 60 kB."""

MAX_VALUE: Final = 10**9

Distractors = Literal["random", "hard"]


@dataclass(frozen=True, slots=True)
class MatrixParameters:
    """Parameters of REL-A1…A4. ``gridsize`` is 2 to 20; at least 3 for REL-A4 and for hard distractors."""

    gridsize: int = parameter(3, Whole(2, MAX_GRIDSIZE), "Rows and columns of a panel.")
    maxval: int = parameter(1000, Whole(10, MAX_VALUE), "Largest value.")
    distractors: Distractors = parameter(
        "hard",
        Choice(get_args(Distractors)),
        "Other choices: near misses that break one element of the rule, or random matrices, as published.",
    )


N_CONTEXT: Final = 8

MAX_TRIES: Final = 10_000
"""Maximum draws until a matrix has room for hard distractors: 3 × 3 takes about five, so more are
hopeless."""

Matrix = list[list[float]]
Series = list[Matrix]
"""Matrices: the context panels, or eight choices of which the right one is at a given place."""


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """Records of REL-A1…A4 (`relfast.tasks.base.Generator`) with the fields of `MatrixParameters`.

    Raises
    ------
    UsageError
        A parameter is out of range, or maxval leaves no room for the distractors.
    """
    name = get_task(task).name
    draw = _MATRICES[name]
    check_count(n, seed)
    params = declared(MatrixParameters, parameters)
    if name == "REL-A4" or params.distractors == "hard":
        Whole(3, MAX_GRIDSIZE).check("gridsize", params.gridsize)
    if name == "REL-A3" and params.gridsize > params.maxval + 1:
        raise UsageError(f"maxval {params.maxval} has no {params.gridsize} distinct values for a row")
    return (_record(name, draw, seed, index, params) for index in range(n))


def _record(name: str, draw: _Draw, seed: int, index: int, params: MatrixParameters) -> dict[str, Any]:
    gridsize, maxval = params.gridsize, params.maxval
    random_numbers = stream(name, seed, index, gridsize, maxval, params.distractors)
    target = random_numbers.randrange(N_CHOICES)
    kind: dict[str, Any] = {}
    if params.distractors == "hard":
        panels, choices, broken = _hard(name, draw, random_numbers, gridsize, maxval, target)
        kind = {"distractors": "hard", "broken": broken}
    else:
        panels, gold = draw(random_numbers, gridsize, maxval)
        choices = [_real_matrix(random_numbers, gridsize, maxval) for _ in range(N_CHOICES)]
        choices[target] = gold
    fitting = fitting_choices(name, panels, choices, maxval)
    if fitting != [target]:
        raise RelfastError(f"{name} seed {seed} record {index}: choices {fitting} fit, not only {target}")
    id = f"algebra_{name}_s{seed}_{index:05d}"
    metadata = {"panels": panels, "choices": choices, **kind}
    text = question(panels, choices)
    return record_of(get_task(name), id, text, {"target": target}, metadata, f"Answer {target + 1}")


def question(panels: Series, choices: Series) -> str:
    """The text of the published records."""
    parts = ["Complete the Raven's progressive matrix. Only return the missing panel index (1-8)!\n"]
    parts += [f"Panel {i}:\n{_text(panel)}\n\n" for i, panel in enumerate(panels)]
    parts.append("Answer set:\n")
    parts.append("\n".join(f"Answer {i}: {_text(choice)}" for i, choice in enumerate(choices, 1)))
    return "".join(parts)


def _text(panel: Matrix) -> str:
    return "\n".join(map(str, panel))


# Drawing the eight context panels and the true ninth panel.

_Draw = Callable[[random.Random, int, int], tuple[Series, Matrix]]


def _real_matrix(numbers: random.Random, size: int, maxval: int) -> Matrix:
    return [[numbers.random() * maxval for _ in range(size)] for _ in range(size)]


def _all_alike(matrix: Matrix) -> tuple[Series, Matrix]:
    return [matrix] * N_CONTEXT, matrix


def _constant(numbers: random.Random, size: int, maxval: int) -> tuple[Series, Matrix]:
    return _all_alike(_real_matrix(numbers, size, maxval))


def _progression(numbers: random.Random, size: int, maxval: int) -> tuple[Series, Matrix]:
    step = numbers.choice(STEPS)
    bases = [numbers.randint(0, maxval) for _ in range(size)]
    *context, ninth = (
        [[float(min(max(base + (k * size + c) * step, 0), maxval)) for c in range(size)] for base in bases]
        for k in range(N_CONTEXT + 1)
    )
    return context, ninth


def _distribute_three(numbers: random.Random, size: int, maxval: int) -> tuple[Series, Matrix]:
    first = [float(v) for v in numbers.sample(range(maxval + 1), size)]
    turn = numbers.choice((1, -1))
    return _all_alike([[first[(c - turn * r) % size] for c in range(size)] for r in range(size)])


def _arithmetic(numbers: random.Random, size: int, maxval: int) -> tuple[Series, Matrix]:
    matrix = []
    for _ in range(size):
        a, b = (numbers.randint(0, maxval // 2) for _ in range(2))
        row = [a, b, a + b, *(numbers.randint(0, maxval) for _ in range(size - 3))]
        matrix.append([float(v) for v in row])
    return _all_alike(matrix)


_MATRICES: Final[dict[str, _Draw]] = {
    "REL-A1": _constant,
    "REL-A2": _progression,
    "REL-A3": _distribute_three,
    "REL-A4": _arithmetic,
}


# Hard distractors.


def _hard(
    name: str, draw: _Draw, numbers: random.Random, size: int, maxval: int, target: int
) -> tuple[Series, Series, str]:
    """(panels, choices with the true one at ``target``, the element of the rule that the others break).

    Whether a series has room depends only on the other cells, never on the place of the true value in it. So
    that place stays uniform although draws without room are thrown away.
    """
    for _ in range(MAX_TRIES):
        panels, gold = draw(numbers, size, maxval)
        made = _series(name, numbers, panels, gold, size, maxval)
        if made is None:
            continue
        series, true_place, broken = made
        if fitting_choices(name, panels, series, maxval) != [true_place]:
            continue
        others = [choice for place, choice in enumerate(series) if place != true_place]
        numbers.shuffle(others)
        others.insert(target, series[true_place])
        return panels, others, broken
    raise UsageError(f"{name}: maxval {maxval} leaves no room for hard distractors; take a larger one")


def _series(
    name: str, numbers: random.Random, panels: Series, gold: Matrix, size: int, maxval: int
) -> tuple[Series, int, str] | None:
    """Choices that differ in one element of the rule, the place of the true one, and the element."""
    place = numbers.randrange(N_CHOICES)
    if name == "REL-A2":
        whole_row = numbers.random() < 0.5
        broken = "start of a row" if whole_row else "value of a cell"
        made = _elsewhere_in_progression(numbers, panels, gold, place, maxval, whole_row)
    elif name == "REL-A3" and size > 3 and numbers.random() < 0.5:
        broken, made = "order of a row", _row_orders(numbers, gold, place)
    elif name == "REL-A3":
        broken, made = "member of the rows", _members(numbers, gold, place)
    else:
        row = numbers.randrange(size)
        # change the larger addend, which lies between the smaller one and the sum, so that the range of its
        # row reveals nothing
        column = int(gold[row][1] > gold[row][0]) if name == "REL-A4" else numbers.randrange(size)
        broken = {"REL-A1": "value of a cell", "REL-A4": "sum of a row"}[name]
        made = _cell_values(numbers, gold, row, column, place, whole=name != "REL-A1")
    return None if made is None else (made, place, broken)


def _with_row(matrix: Matrix, row: int, values: list[float]) -> Matrix:
    return [values if r == row else list(old) for r, old in enumerate(matrix)]


def _window(
    numbers: random.Random, value: float, true_place: int, low: float, high: float, whole: bool
) -> list[float] | None:
    """Eight evenly spaced values strictly between ``low`` and ``high``, ``value`` at ``true_place``; or None.

    The spacing is drawn up to the largest that the bounds can hold; None if the values then do not fit. Real
    values are not rounded, so that the digits of all eight look alike.
    """
    room = (high - low) / N_CHOICES
    if room < (1 if whole else 0):
        return None
    step: float = numbers.randint(1, int(room)) if whole else (0.02 + 0.98 * numbers.random()) * room
    values = [value + (place - true_place) * step for place in range(N_CHOICES)]
    return values if low < values[0] and values[-1] < high else None


def _cell_values(
    numbers: random.Random, gold: Matrix, row: int, column: int, true_place: int, whole: bool
) -> Series | None:
    """Choices that differ in one cell, with all values inside the range of the cell's row and column."""
    across = [v for c, v in enumerate(gold[row]) if c != column]
    down = [line[column] for r, line in enumerate(gold) if r != row]
    low, high = max(min(across), min(down)), min(max(across), max(down))
    window = _window(numbers, gold[row][column], true_place, low, high, whole)
    if window is None:
        return None
    rows = ([v if c != column else new for c, v in enumerate(gold[row])] for new in window)
    return [_with_row(gold, row, values) for values in rows]


def _members(numbers: random.Random, gold: Matrix, true_place: int) -> Series | None:
    """Choices in which one member of the rows has another value in every row.

    The values lie between the next smaller and the next larger member, so that members stay distinct and
    every choice has as many different values as gold.
    """
    members = sorted(gold[0])
    at = numbers.randrange(1, len(members) - 1)
    window = _window(numbers, members[at], true_place, members[at - 1], members[at + 1], whole=True)
    if window is None:
        return None
    return [[[new if v == members[at] else v for v in row] for row in gold] for new in window]


def _row_orders(numbers: random.Random, gold: Matrix, true_place: int) -> Series:
    """Choices in which one row has its values in another order; all orders are equally likely."""
    row = numbers.randrange(1, len(gold))
    orders: list[list[float]] = [gold[row]]
    while len(orders) < N_CHOICES:
        order = numbers.sample(gold[row], len(gold))
        if order not in orders:
            orders.append(order)
    orders.insert(true_place, orders.pop(0))
    return [_with_row(gold, row, order) for order in orders]


def _elsewhere_in_progression(
    numbers: random.Random, panels: Series, gold: Matrix, true_place: int, maxval: int, whole_row: bool
) -> Series | None:
    """Choices in which one row of the ninth panel, or one cell of it, is shifted up or down.

    All shifted values lie inside the range of the other rows in all panels. Neighbouring choices are 4 to
    8 panels' progress apart: the next lower or higher choice then mostly falls among the values that its
    row has shown, so that neither "inside its row's range" nor "outside" nor "closest to it" is a way to
    find gold.
    """
    size = len(gold)
    row, column = (numbers.randrange(size) for _ in range(2))
    line = gold[row]
    if not all(0 < v < maxval for v in line):
        return None
    step = abs(int(line[1] - line[0]))
    spacing = numbers.randint((4 * size + 1) * step, (8 * size - 1) * step)
    moves = [(place - true_place) * spacing for place in range(N_CHOICES)]
    moved = range(size) if whole_row else (column,)
    others = [v for panel in panels for r, values in enumerate(panel) if r != row for v in values]
    first, last = line[min(moved)], line[max(moved)]
    if min(first, last) + moves[0] <= min(others) or max(first, last) + moves[-1] >= max(others):
        return None
    return [_with_row(gold, row, [v + m if c in moved else v for c, v in enumerate(line)]) for m in moves]


_Merit = Callable[[Sequence[Matrix], Matrix, Sequence[Matrix]], float]

_PART: Final = re.compile(
    r"^(Panel|Answer) [0-9]+:(.*?)(?=^(?:Panel [0-9]+|Answer [0-9]+|Answer set):|\Z)", re.M | re.S
)
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")


@lru_cache(maxsize=16)
def _shown(question: str) -> tuple[list[Matrix], list[Matrix]]:
    """The panels and choices read from a question's text."""
    parts: dict[str, list[Matrix]] = {"Panel": [], "Answer": []}
    for name, body in _PART.findall(question):
        rows = [[float(v) for v in _NUMBER.findall(line)] for line in body.strip().splitlines()]
        parts[name].append([row for row in rows if row])
    return parts["Panel"], parts["Answer"]


def _cells(matrix: Matrix) -> list[float]:
    return [value for row in matrix for value in row]


def _distance(a: Matrix, b: Matrix) -> float:
    return sum(abs(x - y) for x, y in zip(_cells(a), _cells(b), strict=False))


def _common(choices: Sequence[Matrix], choice: Matrix) -> int:
    return sum(x == y for other in choices for x, y in zip(_cells(other), _cells(choice), strict=False))


def _in_range(panels: Sequence[Matrix], choice: Matrix) -> int:
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
"""Name → strategy."""


_SKILL: Final = 0.6
"""Share of questions that the mock model knows the answer to."""


def answer(row: Mapping[str, Any], luck: random.Random) -> str:
    """The mock model: the right choice with probability `_SKILL`, else a random one."""
    target = row["answer"]["target"] if luck.random() < _SKILL else luck.randrange(N_CHOICES)
    return f"The panels follow one rule. Answer {target + 1}"
