"""One maze as a picture: what is drawn, and drawing it as text.

Rooms are placed by their labels (``D5``: column D, row 5, rows counted from the bottom).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from relfast.errors import InputError
from relfast.tasks.seqbench.actions import as_plan
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.grid import column_letters
from relfast.tasks.seqbench.maze import Maze, Verdict, validate

Cell = tuple[int, int]
"""Column and row of a room, from 0, top left."""

MAX_CELLS: Final = 250_000
"""Cells of the largest grid that is drawn."""

_LABEL: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,4})")

GOLD_MARK, MODEL_MARK, BOTH_MARK, VIOLATION_MARK = "•", "○", "◉", "✗"


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn.

    ``passages`` maps two cells, the left or upper one first, to the key of the locked door between them,
    or None for an open one; ``keys`` maps a cell to the keys in it. ``gold_path`` and ``model_path`` are
    rooms entered, in order; the model's ends where its plan breaks a rule. ``verdict`` is None
    without a response.
    """

    columns: int
    rows: int
    top_row: int
    first_column: int
    rooms: frozenset[Cell]
    passages: dict[tuple[Cell, Cell], str | None]
    keys: dict[Cell, list[str]]
    start: Cell
    goal: Cell
    gold_path: list[Cell]
    model_path: list[Cell]
    verdict: Verdict | None
    notes: list[str]


def picture_of(
    question: object, answer: object, response: object = None, row: Mapping[str, Any] | None = None
) -> Picture:
    """The picture of a record and, if it has one, of its response.

    Raises
    ------
    InputError
        The record has no gold or no maze, or its rooms have no labels such as D5.
    """
    fields = Fields.of(answer, question, row)
    gold = [str(action) for action in fields.gold()]
    maze = Maze.of(fields)
    places = {name: _place(name) for name in maze.rooms}
    left = min(column for column, _ in places.values())
    top = max(number for _, number in places.values())
    cells = {name: (column - left, top - number) for name, (column, number) in places.items()}
    columns = max(column for column, _ in cells.values()) + 1
    rows = max(number for _, number in cells.values()) + 1
    if columns * rows > MAX_CELLS:
        raise InputError(f"a grid of {columns} × {rows} is too large to draw")
    passages: dict[tuple[Cell, Cell], str | None] = {}
    notes = []
    for (one, other), door in maze.layout.passages.items():
        pair = (min(cells[one], cells[other]), max(cells[one], cells[other]))
        passages[pair] = door.key or "?" if door.locked else None
        if door.locked:
            where = maze.layout.key_rooms.get(door.key)
            lies = f", which lies in {where}" if where else ""
            notes.append(f"door {one}-{other} takes key {door.key or '?'}{lies}")
    keys: dict[Cell, list[str]] = {}
    for key, room in maze.layout.key_rooms.items():
        keys.setdefault(cells[room], []).append(key)
    verdict = validate(maze, response) if isinstance(response, str) else None
    plan = as_plan(response) if isinstance(response, str) else None
    return Picture(
        columns,
        rows,
        top,
        left,
        frozenset(cells.values()),
        passages,
        keys,
        cells[maze.rooms[maze.start]],
        cells[maze.rooms[maze.goal]],
        _path(gold, cells, len(gold)),
        _path(plan or [], cells, verdict.n_legal if verdict else 0),
        verdict,
        notes,
    )


def _place(label: str) -> tuple[int, int]:
    match = _LABEL.fullmatch(label)
    if match is None:
        raise InputError(f"room {label[:40]!r} has no place on a grid: labels such as D5 say where to draw")
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1, int(match[2])


def _path(plan: object, cells: Mapping[str, Cell], length: int) -> list[Cell]:
    """Cells entered by the first ``length`` actions of a plan."""
    rooms = []
    for action in (as_plan(plan) or [])[:length]:
        if action is not None and action.name in ("start", "move_to") and action.parameter in cells:
            rooms.append(cells[action.parameter])
    return rooms


def describe(verdict: Verdict | None) -> str:
    """The verdict in one line; empty without one."""
    if verdict is None:
        return ""
    if verdict.valid:
        return f"the model's plan is legal: {verdict.n_actions} actions"
    if verdict.violation == "unparsable":
        return "the response holds no plan"
    return f"the model's plan breaks a rule at action {verdict.violation_index}: {verdict.violation}"


Paint = Callable[[str, str], str]
"""Colours a text: (text, colour name) → text."""

_CELL_WIDTH: Final = 6


def draw_text(picture: Picture, paint: Paint = lambda text, _: text) -> str:
    """The picture as text, six columns and two lines a room.

    A path's mark stands left in a room: gold •, model ○, both ◉; ✗ where the model's plan breaks a rule. S is
    the start, G the goal, a number a key. A gap in a wall is an open door, # a locked one.
    """
    margin = len(str(picture.top_row)) + 2
    header = "".join(
        column_letters(picture.first_column + column).center(_CELL_WIDTH + 1)
        for column in range(picture.columns)
    )
    lines = [" " * (margin + 1) + header.rstrip()]
    for row in range(picture.rows):
        lines.append(" " * margin + _wall_above(picture, row, paint))
        line = f"{picture.top_row - row:>{margin - 1}} "
        for column in range(picture.columns):
            line += _wall_left(picture, column, row, paint) + _inside(picture, (column, row), paint)
        lines.append(line + "│")
    lines.append(" " * margin + _wall_above(picture, picture.rows, paint))
    lines += picture.notes
    legend = f"S start, G goal, a number a key, # a locked door; {GOLD_MARK} gold"
    if picture.verdict is not None:
        legend += f", {MODEL_MARK} model, {BOTH_MARK} both"
        lines.append(describe(picture.verdict))
    return "\n".join([*lines, legend]) + "\n"


def _wall_above(picture: Picture, row: int, paint: Paint) -> str:
    line = ""
    for column in range(picture.columns):
        pair = ((column, row - 1), (column, row))
        line += "+"
        if pair not in picture.passages:
            line += "─" * _CELL_WIDTH
        elif picture.passages[pair] is None:
            line += " " * _CELL_WIDTH
        else:
            line += "─" + paint("#" * (_CELL_WIDTH - 2), "red") + "─"
    return line + "+"


def _wall_left(picture: Picture, column: int, row: int, paint: Paint) -> str:
    pair = ((column - 1, row), (column, row))
    if pair not in picture.passages:
        return "│"
    return " " if picture.passages[pair] is None else paint("#", "red")


def _inside(picture: Picture, cell: Cell, paint: Paint) -> str:
    if cell not in picture.rooms:
        return "·" * _CELL_WIDTH
    on_gold, on_model = cell in picture.gold_path, cell in picture.model_path
    mark, colour = " ", "green"
    if on_gold and on_model:
        mark = BOTH_MARK
    elif on_gold:
        mark = GOLD_MARK
    elif on_model:
        mark, colour = MODEL_MARK, "yellow"
    failed = picture.verdict is not None and not picture.verdict.valid
    if failed and picture.model_path and picture.model_path[-1] == cell:
        mark, colour = VIOLATION_MARK, "red"
    person = ("S" if cell == picture.start else "") + ("G" if cell == picture.goal else "")
    label = person + ",".join(picture.keys.get(cell, []))
    room = _CELL_WIDTH - 2
    label = (label if len(label) <= room else label[: room - 1] + "…").center(room)
    return paint(mark, colour) + paint(label, "cyan") + " "
