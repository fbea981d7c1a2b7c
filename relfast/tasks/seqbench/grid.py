"""A grid of rooms as SeqBench names it, with everything that all mazes of one size share.

Room ``x * rows + y`` is the room in column x and row y, counted from the top left; ``"x,y"`` is its
coordinate, and its label is the column's letters and ``rows - y``: ``"3,6"`` is D5 where there are 11 rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

OPEN: Final = "open"
LOCKED: Final = "closed and locked"


def column_letters(column: int) -> str:
    """A, B, …, Z, AA, AB, …, as spreadsheets count (column from 0)."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


class Fact(NamedTuple):
    """A fact as it stands in ``canonical_facts`` (JSON) and as a sentence of the context."""

    canonical: orjson.Fragment
    sentence: str


class Grid(NamedTuple):
    """What all mazes of ``rows`` × ``cols`` rooms share.

    ``edges`` (edges × 2, int32): rooms next to each other, the smaller coordinate first; ``edge_of`` finds
    them. Per edge: ``door_ids``, and the fact that an open door is there: ``plain_facts`` for a distracting
    one, ``used_facts`` for a supporting one. ``mappings``: the JSON of all coordinates' names.
    """

    rows: int
    cols: int
    coordinates: list[str]
    labels: list[str]
    edges: NDArray[np.int32]
    edge_of: dict[tuple[int, int], int]
    door_ids: list[str]
    plain_facts: list[Fact]
    used_facts: list[Fact]
    mappings: orjson.Fragment

    @property
    def n_rooms(self) -> int:
        return self.rows * self.cols

    def connection(self, edge: int, status: str, supporting: bool) -> Fact:
        """The fact that the rooms of an edge are connected."""
        one, other = self.edges[edge].tolist()
        article = "an" if status == OPEN else "a"
        return fact(
            "connected_rooms",
            [self.coordinates[one], self.coordinates[other], status],
            supporting,
            f"Room {self.labels[one]} and {self.labels[other]} are connected by {article} {status} door.",
        )


def fact(kind: str, args: list[str], supporting: bool, sentence: str) -> Fact:
    """A fact of that type."""
    canonical = orjson.dumps({"type": kind, "args": args, "supporting": supporting})
    return Fact(orjson.Fragment(canonical), sentence)


@lru_cache(maxsize=8)
def grid(rows: int, cols: int) -> Grid:
    """The grid of that size."""
    places = [(x, y) for x in range(cols) for y in range(rows)]
    coordinates = [f"{x},{y}" for x, y in places]
    labels = [f"{column_letters(x)}{rows - y}" for x, y in places]
    pairs = []
    for room, (x, y) in enumerate(places):
        if y + 1 < rows:
            pairs.append((room, room + 1))
        if x + 1 < cols:
            pairs.append((room, room + rows))
    cells = Grid(
        rows,
        cols,
        coordinates,
        labels,
        np.array(pairs, np.int32).reshape(-1, 2),
        {pair: edge for edge, pair in enumerate(pairs)},
        ["_".join(sorted((coordinates[one], coordinates[other]))) for one, other in pairs],
        [],
        [],
        orjson.Fragment(orjson.dumps({"coordinate_to_name": dict(zip(coordinates, labels, strict=True))})),
    )
    for edge in range(len(pairs)):
        cells.plain_facts.append(cells.connection(edge, OPEN, False))
        cells.used_facts.append(cells.connection(edge, OPEN, True))
    return cells
