"""How reports show SeqBench: rates by doors and noise, and a drawing of a maze with gold's and the model's
plan, for the terminal and for pages.

Rooms are placed by their labels (``D5``: column D, row 5, rows counted from the bottom).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, Final

from relfast.errors import InputError
from relfast.records import Record
from relfast.tasks.display import Axis, Display, Drawing, Exhibit, Group, Mark, Measures, Shown
from relfast.tasks.seqbench.machine import Action, as_plan, last_plan
from relfast.tasks.seqbench.maze import Fields, Maze, Verdict, column_letters, validate

DISPLAY: Final = Display(
    shown=("progress_ratio", "legal_ratio"),
    axes=(
        Axis("backtracking", "locked doors on the way (B)"),
        Axis("noise", "share of distracting facts (N)"),
    ),
    measure="relfast.tasks.seqbench.display:measure",
    mistake="relfast.tasks.seqbench.display:mistake",
    exhibit="relfast.tasks.seqbench.display:exhibit",
    columns=("progress_ratio", "violation_index", "logical_depth", "n_actions"),
    section="relfast.report.seqbench_section:draw",
)

_VIOLATIONS: Final = {"unparsable": "no plan", "no_rescue": "stops before the rescue"}


def measure(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """Backtracking and noise of a record, as its output row has them."""
    known = {axis.name: metrics.get(axis.name) for axis in DISPLAY.axes}
    return Measures({name: value for name, value in known.items() if isinstance(value, int | float)})


def mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """What is wrong with a plan: the rule that it breaks, or how a legal plan differs from gold."""
    violation = metrics["violation"]
    if violation is not None:
        return _in_words(violation)
    if metrics["valid"]:
        return "legal, another plan as short" if metrics["optimal"] else "legal, but longer than needed"
    return "not gold's plan"


def _in_words(violation: object) -> str:
    return _VIOLATIONS.get(str(violation), str(violation).replace("_", " "))


def exhibit(shown: Shown) -> Exhibit:
    """A response with its plan marked, and the maze with gold's and the model's path."""
    record, response = shown.record, shown.record.response
    place = last_plan(response) if isinstance(response, str) else None
    marks = () if place is None else (Mark(*place, "plan"),)
    try:
        picture = picture_of(record.question, record.answer, response, record.row)
    except InputError as error:
        why = "" if shown.correct else mistake(shown.metrics, None)
        return Exhibit(marks, why, (Group("Maze", (), str(error)),))
    why = ""
    if not shown.correct:
        why = f"{describe(picture.verdict).capitalize()}."
        if picture.verdict is not None and picture.verdict.valid:
            why = f"The plan is legal, but {mistake(shown.metrics, None).removeprefix('legal, ')}."
    drawing = Drawing(to_svg(picture), _CAPTION)
    notes = "; ".join(picture.notes)
    notes = f"{notes[:1].upper()}{notes[1:]}." if notes else ""
    return Exhibit(marks, why, (Group("Maze", (drawing,), notes, wide=True),))


_CAPTION: Final = (
    "Gold's path is the solid line, the model's the dashed one up to the action that breaks a rule (✗)."
    " S start, G goal, a number a key; a thick line is a locked door."
)


Cell = tuple[int, int]
"""Column and row of a room, from 0, top left."""

MAX_CELLS: Final = 250_000
"""Most cells of a grid that is drawn."""

_LABEL: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class Picture:
    """A maze and its paths, ready to be drawn.

    ``passages`` maps two cells, the left or upper one first, to whether a locked door is between them;
    ``keys`` maps a cell to the keys in it. ``gold_path`` and ``model_path`` are cells entered, in
    order; the model's path ends where its plan breaks a rule. ``verdict`` is None without a response.
    """

    columns: int
    rows: int
    top_row: int
    first_column: int
    rooms: frozenset[Cell]
    passages: dict[tuple[Cell, Cell], bool]
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
    gold = fields.gold()
    maze = Maze.of(fields)
    places = {name: _place(name) for name in maze.rooms}
    left = min(column for column, _ in places.values())
    top = max(number for _, number in places.values())
    cells = {name: (column - left, top - number) for name, (column, number) in places.items()}
    columns = max(column for column, _ in cells.values()) + 1
    rows = max(number for _, number in cells.values()) + 1
    if columns * rows > MAX_CELLS:
        raise InputError(f"a grid of {columns} × {rows} is too large to draw")
    passages: dict[tuple[Cell, Cell], bool] = {}
    notes = []
    for (one, other), door in maze.layout.passages.items():
        passages[min(cells[one], cells[other]), max(cells[one], cells[other])] = door.locked
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
        cells[str(maze.layout.start)],
        cells[str(maze.layout.goal)],
        _path(gold, cells),
        _path((plan or [])[: verdict.n_legal if verdict else 0], cells),
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


def _path(plan: Sequence[Action | None], cells: Mapping[str, Cell]) -> list[Cell]:
    """The cells that a plan enters, in order."""
    return [
        cells[action.parameter]
        for action in plan
        if action is not None and action.name in ("start", "move_to") and action.parameter in cells
    ]


def describe(verdict: Verdict | None) -> str:
    """A verdict in one line; empty without a verdict."""
    if verdict is None:
        return ""
    if verdict.valid:
        return f"the model's plan is legal: {verdict.n_actions} actions"
    if verdict.violation == "unparsable":
        return "the response holds no plan"
    why = _in_words(verdict.violation)
    return f"the model's plan breaks a rule at action {verdict.violation_index}: {why}"


Line = list[tuple[str, str]]
"""A line of the drawing: texts, each with the name of its colour; "" is the default colour."""

_CELL_WIDTH: Final = 6
_GOLD, _MODEL, _BOTH, _VIOLATION = "•", "○", "◉", "✗"


def draw(picture: Picture) -> Iterator[Line]:
    """The drawing, with six columns and two lines per room.

    At the left of a room is the mark of the paths through it: gold •, model ○, both ◉; ✗ where the model's
    plan breaks a rule. S is the start, G the goal, a number a key. A gap in a wall is an open door, # a
    locked one.
    """
    margin = len(str(picture.top_row)) + 2
    header = "".join(
        column_letters(picture.first_column + column).center(_CELL_WIDTH + 1)
        for column in range(picture.columns)
    )
    yield [(" " * (margin + 1) + header.rstrip(), "")]
    for row in range(picture.rows):
        yield [(" " * margin, ""), *_wall_above(picture, row)]
        line = [(f"{picture.top_row - row:>{margin - 1}} ", "")]
        for column in range(picture.columns):
            line += [_wall_left(picture, column, row), *_inside(picture, (column, row))]
        yield [*line, ("│", "")]
    yield [(" " * margin, ""), *_wall_above(picture, picture.rows)]
    for note in picture.notes:
        yield [(note, "")]
    legend = f"S start, G goal, a number a key, # a locked door; {_GOLD} gold"
    if picture.verdict is not None:
        legend += f", {_MODEL} model, {_BOTH} both"
        yield [(describe(picture.verdict), "")]
    yield [(legend, "")]


def _wall_above(picture: Picture, row: int) -> Iterator[tuple[str, str]]:
    for column in range(picture.columns):
        locked = picture.passages.get(((column, row - 1), (column, row)))
        yield "+", ""
        if locked:
            yield "─", ""
            yield "#" * (_CELL_WIDTH - 2), "red"
            yield "─", ""
        else:
            yield ("─" if locked is None else " ") * _CELL_WIDTH, ""
    yield "+", ""


def _wall_left(picture: Picture, column: int, row: int) -> tuple[str, str]:
    locked = picture.passages.get(((column - 1, row), (column, row)))
    return ("│", "") if locked is None else ("#", "red") if locked else (" ", "")


def _inside(picture: Picture, cell: Cell) -> Line:
    """The inside of a room: the mark of the paths; start, goal and keys; a blank."""
    if cell not in picture.rooms:
        return [("·" * _CELL_WIDTH, "")]
    on_gold, on_model = cell in picture.gold_path, cell in picture.model_path
    mark, colour = " ", "green"
    if on_gold and on_model:
        mark = _BOTH
    elif on_gold:
        mark = _GOLD
    elif on_model:
        mark, colour = _MODEL, "yellow"
    failed = picture.verdict is not None and not picture.verdict.valid
    if failed and picture.model_path and picture.model_path[-1] == cell:
        mark, colour = _VIOLATION, "red"
    label = _label(picture, cell)
    room = _CELL_WIDTH - 2
    label = (label if len(label) <= room else label[: room - 1] + "…").center(room)
    return [(mark, colour), (label, "cyan"), (" ", "")]


_SIDE, _EDGE = 30, 26
"""Pixels of a room, and of the margin with the rooms' letters and numbers."""
_LABEL_CHARS: Final = 5
_GOLD_SHIFT, _MODEL_SHIFT = 3.0, 7.0
"""How far a path runs to the right of the middle of its rooms: gold's and the model's stay apart, and so do
the ways there and back."""


def to_svg(picture: Picture) -> str:
    """The drawing as an SVG document for a page, with both paths as lines: gold's solid, the model's
    dashed."""
    width, height = 2 * _EDGE + _SIDE * picture.columns, 2 * _EDGE + _SIDE * picture.rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-size="12" text-anchor="middle">'
    ]
    for cell, colour in ((picture.start, "var(--start)"), (picture.goal, "var(--goal)")):
        x, y = _middle(cell)
        at = f'x="{x - _SIDE // 2}" y="{y - _SIDE // 2}"'
        parts.append(f'<rect {at} width="{_SIDE}" height="{_SIDE}" fill="{colour}"/>')
    parts += [*_names(picture), *_walls(picture)]
    for path, shift, colour, dash in (
        (picture.gold_path, _GOLD_SHIFT, "var(--s2)", ""),
        (picture.model_path, _MODEL_SHIFT, "var(--s1)", ' stroke-dasharray="6 3"'),
    ):
        points = " ".join(f"{x:g},{y:g}" for x, y in _shifted(path, shift))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"'
            f' stroke-linejoin="round"{dash}/>'
        )
    for cell in sorted({picture.start, picture.goal, *picture.keys}):
        x, y = _middle(cell)
        label = _label(picture, cell)
        label = label if len(label) <= _LABEL_CHARS else f"{label[: _LABEL_CHARS - 1]}…"
        # on a seam of paper, so that it is read above the lines
        parts.append(_text(x, y + 4, label, "var(--ink)", _SEAM))
    if picture.verdict is not None and not picture.verdict.valid and picture.model_path:
        x, y = _middle(picture.model_path[-1])
        parts.append(_text(x + 9, y - 3, _VIOLATION, "var(--bad)", _SEAM))
    return "\n".join([*parts, "</svg>", ""])


def _middle(cell: Cell) -> tuple[int, int]:
    return _EDGE + _SIDE * cell[0] + _SIDE // 2, _EDGE + _SIDE * cell[1] + _SIDE // 2


_SEAM: Final = ' font-weight="bold" stroke="var(--paper)" stroke-width="3" paint-order="stroke"'


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{more}>{escape(text)}</text>'


def _names(picture: Picture) -> Iterator[str]:
    """The letters of the columns and the numbers of the rows."""
    for column in range(picture.columns):
        letters = column_letters(picture.first_column + column)
        yield _text(_middle((column, 0))[0], _EDGE - 8, letters, "var(--soft)")
    for row in range(picture.rows):
        yield _text(_EDGE // 2, _middle((0, row))[1] + 4, str(picture.top_row - row), "var(--soft)")


def _walls(picture: Picture) -> Iterator[str]:
    """The walls as one path, and a thick line for each locked door; nothing where a door is open."""
    walls: list[str] = []
    locked: list[str] = []
    for column in range(picture.columns + 1):
        for row in range(picture.rows + 1):
            x, y = _EDGE + _SIDE * column, _EDGE + _SIDE * row
            for other, line in (((column - 1, row), f"v{_SIDE}"), ((column, row - 1), f"h{_SIDE}")):
                if not {other, (column, row)} & picture.rooms:
                    continue
                closed = picture.passages.get((other, (column, row)))
                if closed is not False:
                    (walls if closed is None else locked).append(f"M{x} {y}{line}")
    yield f'<path d="{"".join(walls)}" stroke="var(--soft)" stroke-width="1.5" fill="none"/>'
    yield f'<path d="{"".join(locked)}" stroke="var(--bad)" stroke-width="5" fill="none"/>'


def _shifted(path: Sequence[Cell], shift: float) -> Iterator[tuple[float, float]]:
    """The points of a path that runs on the right of the middle of its rooms."""
    for here, there in pairwise(path):
        (x, y), (u, v) = _middle(here), _middle(there)
        length = math.hypot(u - x, v - y) or 1.0
        right_x, right_y = shift * (y - v) / length, shift * (u - x) / length
        yield x + right_x, y + right_y
        yield u + right_x, v + right_y


def _label(picture: Picture, cell: Cell) -> str:
    """What is in a room: S for the start, G for the goal, and the keys."""
    person = ("S" if cell == picture.start else "") + ("G" if cell == picture.goal else "")
    return person + ",".join(picture.keys.get(cell, []))
