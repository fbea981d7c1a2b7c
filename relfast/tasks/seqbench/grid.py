"""A grid of rooms as SeqBench names it, with everything that all mazes of one size share.

Room ``x * rows + y`` is the room in column x and row y, counted from the top left; ``"x,y"`` is its
coordinate, and its label is the column's letters and ``rows - y``: ``"3,6"`` is D5 where there are 11 rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
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


class Grid(NamedTuple):
    """What all mazes of ``rows`` × ``cols`` rooms share.

    ``edges`` (edges × 2, int32): rooms next to each other, the smaller coordinate first. Per edge:
    ``door_ids``, and the fact that an open door is there, as an object and as a sentence.
    """

    rows: int
    cols: int
    coordinates: list[str]
    labels: list[str]
    edges: NDArray[np.int32]
    door_ids: list[str]
    open_facts: list[dict[str, Any]]
    open_sentences: list[str]
    edge_of: dict[tuple[int, int], int]

    @property
    def n_rooms(self) -> int:
        return self.rows * self.cols


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
    return Grid(
        rows,
        cols,
        coordinates,
        labels,
        np.array(pairs, np.int32).reshape(-1, 2),
        ["_".join(sorted((coordinates[one], coordinates[other]))) for one, other in pairs],
        [connection(coordinates[one], coordinates[other], OPEN) for one, other in pairs],
        [connection_sentence(labels[one], labels[other], OPEN) for one, other in pairs],
        {pair: edge for edge, pair in enumerate(pairs)},
    )


def connection(one: str, other: str, status: str) -> dict[str, Any]:
    """The canonical fact that two rooms are connected; never supporting by itself."""
    return {"type": "connected_rooms", "args": [one, other, status], "supporting": False}


def connection_sentence(one: str, other: str, status: str) -> str:
    """The same in a context."""
    article = "an" if status == OPEN else "a"
    return f"Room {one} and {other} are connected by {article} {status} door."
