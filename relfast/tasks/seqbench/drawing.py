"""A maze as SVG or PNG: the same strokes, written by two hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from relfast.errors import MissingExtraError, OutputError, UsageError
from relfast.tasks.seqbench.grid import column_letters
from relfast.tasks.seqbench.picture import Cell, Picture, describe

SIDE: Final = 40.0  # pixels of a room
MARGIN: Final = 30.0
WALL, FLOOR, TEXT = "#444444", "#ffffff", "#222222"
GOLD, MODEL, LOCK, KEY, START, GOAL = "#2a9d5c", "#e08a1e", "#c0392b", "#8a6d00", "#cfe8ff", "#ffd9d9"
_VARIABLES: Final = {
    WALL: "var(--soft)",
    FLOOR: "var(--paper)",
    TEXT: "var(--ink)",
    GOLD: "var(--s2)",
    MODEL: "var(--s4)",
    LOCK: "var(--bad)",
    KEY: "var(--soft)",
    START: "var(--start)",
    GOAL: "var(--goal)",
}
"""The colours of a page by ours."""
OFFSET: Final = 4.0  # between the two paths, so that neither hides the other
LINE_HEIGHT: Final = 18.0

Point = tuple[float, float]


class Box(NamedTuple):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


class Line(NamedTuple):
    """A line through points."""

    points: Sequence[Point]
    colour: str
    width: float


class Label(NamedTuple):
    """A text; ``centred`` on its point, else starting there."""

    x: float
    y: float
    text: str
    colour: str
    size: float = 12.0
    centred: bool = True


Stroke = Box | Line | Label


def save(picture: Picture, output: str) -> None:
    """Write the picture as ``.svg`` or ``.png``.

    Raises
    ------
    UsageError
        The name ends otherwise.
    MissingExtraError
        PNG without matplotlib.
    OutputError
        The file cannot be written.
    """
    kind = Path(output).suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"{output}: the picture's name must end in .svg or .png")
    try:
        if kind == ".svg":
            Path(output).write_text(to_svg(picture), encoding="utf-8")
        else:
            _save_png(picture, output)
    except OSError as error:
        raise OutputError(output, error.strerror or str(error)) from None


def size(picture: Picture) -> tuple[float, float]:
    """Width and height in pixels."""
    lines = len(_legend(picture))
    width = max(2 * MARGIN + SIDE * picture.columns, 420.0)
    return width, 2 * MARGIN + SIDE * picture.rows + LINE_HEIGHT * lines


def strokes(picture: Picture) -> Iterator[Stroke]:
    """Everything there is to draw, bottom first."""
    yield Box(0, 0, *size(picture), FLOOR)
    yield Box(*_corner(picture.start), SIDE, SIDE, START)
    yield Box(*_corner(picture.goal), SIDE, SIDE, GOAL)
    yield from _walls(picture)
    yield from _path(picture.gold_path, GOLD, -OFFSET)
    yield from _path(picture.model_path, MODEL, OFFSET)
    if picture.verdict is not None and not picture.verdict.valid and picture.model_path:
        x, y = _centre(picture.model_path[-1])
        yield Line([(x - 9, y - 9), (x + 9, y + 9)], LOCK, 3)
        yield Line([(x - 9, y + 9), (x + 9, y - 9)], LOCK, 3)
    for (one, other), key in picture.passages.items():
        if key is not None:
            (x, y), (u, v) = _centre(one), _centre(other)
            x, y, width = (x + u) / 2, (y + v) / 2, 6.0 + 7.0 * len(key)
            yield Box(x - width / 2, y - 7, width, 14, LOCK)
            yield Label(x, y + 4, key, FLOOR, 11)
    for cell, text in ((picture.start, "S"), (picture.goal, "G")):
        x, y = _corner(cell)
        yield Label(x + 8, y + 13, text, TEXT, 13)
    for cell, keys in picture.keys.items():
        x, y = _centre(cell)
        yield Label(x, y + SIDE / 2 - 5, f"key {','.join(keys)}", KEY, 10)
    for column in range(picture.columns):
        x = MARGIN + SIDE * (column + 0.5)
        yield Label(x, MARGIN - 8, column_letters(picture.first_column + column), TEXT)
    for row in range(picture.rows):
        yield Label(MARGIN / 2, MARGIN + SIDE * (row + 0.5) + 4, str(picture.top_row - row), TEXT)
    top = MARGIN + SIDE * picture.rows + LINE_HEIGHT
    for line, (text, colour) in enumerate(_legend(picture)):
        yield Label(MARGIN, top + LINE_HEIGHT * line, text, colour, centred=False)


def _legend(picture: Picture) -> list[tuple[str, str]]:
    lines = [("the gold plan", GOLD)]
    if picture.verdict is not None:
        lines.append((describe(picture.verdict), MODEL))
    return lines + [(note, LOCK) for note in picture.notes]


def _corner(cell: Cell) -> Point:
    return MARGIN + SIDE * cell[0], MARGIN + SIDE * cell[1]


def _centre(cell: Cell) -> Point:
    x, y = _corner(cell)
    return x + SIDE / 2, y + SIDE / 2


def _walls(picture: Picture) -> Iterator[Stroke]:
    for column in range(picture.columns):
        for row in range(picture.rows + 1):
            x, y = _corner((column, row))
            yield from _wall(picture, (column, row - 1), (column, row), (x, y), (x + SIDE, y))
    for column in range(picture.columns + 1):
        for row in range(picture.rows):
            x, y = _corner((column, row))
            yield from _wall(picture, (column - 1, row), (column, row), (x, y), (x, y + SIDE))


def _wall(picture: Picture, one: Cell, other: Cell, begin: Point, end: Point) -> Iterator[Stroke]:
    if (one, other) not in picture.passages:
        yield Line([begin, end], WALL, 2)
        return
    if picture.passages[one, other] is not None:
        yield Line([begin, end], LOCK, 5)


def _path(cells: Sequence[Cell], colour: str, offset: float) -> Iterator[Stroke]:
    if cells:
        points = [(x + offset, y + offset) for x, y in map(_centre, cells)]
        yield Line(points, colour, 3)


def to_svg(picture: Picture, *, page: bool = False) -> str:
    """The picture as an SVG document; for a ``page``, in colours that follow its dark mode."""
    width, height = size(picture)
    colours = _VARIABLES if page else {}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
        f' viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">'
    ]
    for stroke in strokes(picture):
        colour = colours.get(stroke.colour, stroke.colour)
        if isinstance(stroke, Box):
            x, y, box_width, box_height, _ = stroke
            parts.append(
                f'<rect x="{x:g}" y="{y:g}" width="{box_width:g}" height="{box_height:g}" fill="{colour}"/>'
            )
        elif isinstance(stroke, Line):
            points = " ".join(f"{x:g},{y:g}" for x, y in stroke.points)
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}"'
                f' stroke-width="{stroke.width:g}" stroke-linecap="round" stroke-linejoin="round"/>'
            )
        else:
            anchor = ' text-anchor="middle"' if stroke.centred else ""
            parts.append(
                f'<text x="{stroke.x:g}" y="{stroke.y:g}" font-size="{stroke.size:g}" fill="{colour}"'
                f"{anchor}>{escape(stroke.text)}</text>"
            )
    return "\n".join([*parts, "</svg>", ""])


def _save_png(picture: Picture, output: str) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
        from matplotlib.patches import Rectangle
    except ImportError:
        raise MissingExtraError("drawing a PNG", "report") from None
    width, height = size(picture)
    dpi, points_per_pixel = 100, 72 / 100
    figure = Figure(figsize=(width / dpi, height / dpi), dpi=dpi)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    for order, stroke in enumerate(strokes(picture)):
        if isinstance(stroke, Box):
            corner = (stroke.x, stroke.y)
            patch = Rectangle(corner, stroke.width, stroke.height, color=stroke.colour, lw=0, zorder=order)
            axes.add_patch(patch)
        elif isinstance(stroke, Line):
            xs, ys = zip(*stroke.points, strict=True)
            style = {"solid_capstyle": "round", "solid_joinstyle": "round", "zorder": order}
            axes.add_line(Line2D(xs, ys, color=stroke.colour, lw=stroke.width * points_per_pixel, **style))
        else:
            axes.text(
                stroke.x,
                stroke.y,
                stroke.text.replace("$", r"\$"),
                color=stroke.colour,
                fontsize=stroke.size * points_per_pixel,
                ha="center" if stroke.centred else "left",
                va="baseline",
                zorder=order,
            )
    FigureCanvasAgg(figure).print_png(output)
