"""New REL-A1…A4 records: eight context panels, eight choices, gold by construction and by `rules`.

With ``distractors="hard"``, the default, all eight choices are the true ninth panel with one element of the
rule set to eight evenly spaced values (or one row in eight orders), one of them right. With ``"random"`` the
other choices are random real matrices, as published: only one choice looks like the panels at all, and in
A2…A4 it is the shortest one. Which place in that
series is right is drawn uniformly, and no value leaves the range of the panels, so neither the choices alone
nor ranges of values tell. (In the original RAVEN a majority vote over the choices finds the answer.)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final, get_args

from relfast.errors import RelfastError, UsageError
from relfast.tasks import get_task
from relfast.tasks.generation import check_count, check_range, confirm, stream
from relfast.tasks.rel_a.parameters import Distractors, MatrixParameters
from relfast.tasks.rel_a.rules import STEPS, fitting_choices

N_CONTEXT: Final = 8
N_CHOICES: Final = 8

MAX_GRIDSIZE: Final = 20
"""A question of 16 panels of 20 × 20 has 60 kB of text; models are not asked more."""

MAX_TRIES: Final = 10_000
"""Draws until a matrix has room for hard distractors; 3 × 3 takes about five, so this many means never."""

Matrix = list[list[float]]
Series = list[Matrix]
"""Eight choices that differ in one element; the true one is drawn at the place it is told."""


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """Records of REL-A1…A4.

    Parameters
    ----------
    task, n, seed
        Task name, number of records, seed (a non-negative integer).
    tell
        Not called: nothing here takes long.
    **parameters
        Fields of `MatrixParameters`.

    Raises
    ------
    UsageError
        A parameter is out of range, or maxval leaves no room for the distractors.
    """
    name = get_task(task).name
    draw = _MATRICES.get(name)
    if draw is None:
        raise UsageError(f"{name} has no published generator; its records can be scored, not generated")
    check_count(n, seed)
    asked = MatrixParameters(**parameters)
    gridsize, maxval, distractors = asked.gridsize, asked.maxval, asked.distractors
    check_range("maxval", maxval, 10, 10**9)
    if distractors not in get_args(Distractors):
        raise UsageError(f"distractors: {' or '.join(get_args(Distractors))}, not {distractors!r}")
    check_range("gridsize", gridsize, 3 if name == "REL-A4" or distractors == "hard" else 2, MAX_GRIDSIZE)
    if name == "REL-A3" and gridsize > maxval + 1:
        raise UsageError(f"maxval {maxval} has no {gridsize} distinct values for a row")
    return _records(name, draw, n, seed, gridsize, maxval, distractors)


def _records(
    name: str, draw: _Draw, n: int, seed: int, gridsize: int, maxval: int, distractors: Distractors
) -> Iterator[dict[str, Any]]:
    for index in range(n):
        random_numbers = stream(name, seed, index, gridsize, maxval, distractors)
        target = random_numbers.randrange(N_CHOICES)
        broken: str | None = None
        if distractors == "hard":
            panels, choices, broken = _hard(name, draw, random_numbers, gridsize, maxval, target)
        else:
            panels, gold = draw(random_numbers, gridsize, maxval)
            choices = [_real_matrix(random_numbers, gridsize, maxval) for _ in range(N_CHOICES)]
            choices[target] = gold
        yield _record(name, seed, index, panels, choices, target, broken, maxval)


def _record(
    name: str,
    seed: int,
    index: int,
    panels: Series,
    choices: Series,
    target: int,
    broken: str | None,
    maxval: int,
) -> dict[str, Any]:
    fitting = fitting_choices(name, panels, choices, maxval)
    if fitting != [target]:
        raise RelfastError(f"{name} seed {seed} record {index}: choices {fitting} fit, not only {target}")
    metadata: dict[str, Any] = {"panels": panels, "choices": choices}
    if broken is not None:
        metadata |= {"distractors": "hard", "broken": broken}
    record = {
        "id": f"algebra_{name}_s{seed}_{index:05d}",
        "domain": "algebra",
        "task": name,
        "question": question(panels, choices),
        "answer": {"target": target},
        "metadata": metadata,
    }
    return confirm(get_task(name), record, f"Answer {target + 1}")


def question(panels: Series, choices: Series) -> str:
    """The text of the published records."""
    parts = ["Complete the Raven's progressive matrix. Only return the missing panel index (1-8)!\n"]
    parts += [f"Panel {i}:\n{_text(panel)}\n\n" for i, panel in enumerate(panels)]
    parts.append("Answer set:\n")
    parts.append("\n".join(f"Answer {i}: {_text(choice)}" for i, choice in enumerate(choices, 1)))
    return "".join(parts)


def _text(panel: Matrix) -> str:
    return "\n".join(map(str, panel))


# What the panels show: eight context panels and the ninth.

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
    """Panels, choices with the true one at ``target``, and which element of the rule the others break.

    Whether a series has room depends on the other cells only, never on the place of the true value in it, so
    throwing away draws without room keeps that place uniform.
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
        # the larger addend lies between the smaller one and the sum: the range of its row tells nothing
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

    The spacing is drawn from what the bounds allow at most; whether the window then fits decides. For real
    values ``value`` itself stays as it is, so that the digits of all eight look alike.
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
    """Choices with other values of one cell, all inside the range of its row and of its column."""
    across = [v for c, v in enumerate(gold[row]) if c != column]
    down = [line[column] for r, line in enumerate(gold) if r != row]
    low, high = max(min(across), min(down)), min(max(across), max(down))
    window = _window(numbers, gold[row][column], true_place, low, high, whole)
    if window is None:
        return None
    rows = ([v if c != column else new for c, v in enumerate(gold[row])] for new in window)
    return [_with_row(gold, row, values) for values in rows]


def _members(numbers: random.Random, gold: Matrix, true_place: int) -> Series | None:
    """Choices with another value of one member in all rows: each has as many different values as gold.

    The values lie between the members next to the one they stand for, so that no two members are ever equal.
    """
    members = sorted(gold[0])
    at = numbers.randrange(1, len(members) - 1)
    window = _window(numbers, members[at], true_place, members[at - 1], members[at + 1], whole=True)
    if window is None:
        return None
    return [[[new if v == members[at] else v for v in row] for row in gold] for new in window]


def _row_orders(numbers: random.Random, gold: Matrix, true_place: int) -> Series:
    """Choices with one row in other orders, each as likely as the true one."""
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
    """Choices with one row of the ninth panel, or one cell of it, moved up or down.

    All moved values lie inside the range of the other rows' panels. The moves are 4 to 8 panels long: the
    next lower or higher choice then mostly falls among the values that its row has shown, so that neither
    "inside its row's range" nor "outside" nor "closest to it" is a way to find gold.
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
