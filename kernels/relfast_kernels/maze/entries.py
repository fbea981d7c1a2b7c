"""Entry points of the maze kernels: functions that take pointers, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray, kernel, pointer
from relfast_kernels.layouts import ITEM_COLUMNS, TOKEN_COLUMNS
from relfast_kernels.maze.building import build
from relfast_kernels.maze.growth import PLACING, join, place
from relfast_kernels.maze.layouts import DESK, DESK_COLUMNS, FACT, FOUND_COLUMNS, HEADER, MAX_PAIRS, N_RATIOS
from relfast_kernels.maze.reading import Desk, read_response
from relfast_kernels.maze.search import Work, find_plan, unpack
from relfast_kernels.text.plans import scan


@kernel
def _desk(address: Any) -> Desk:
    about = carray(address, DESK_COLUMNS, np.int64)
    rows = about[DESK.items_size] // 2
    return Desk(
        carray(pointer(about[DESK.text]), about[DESK.text_size], np.uint8),
        carray(pointer(about[DESK.items]), (2, rows, ITEM_COLUMNS), np.int32),
        Work(
            carray(pointer(about[DESK.numbers]), about[DESK.numbers_size], np.int32),
            carray(pointer(about[DESK.pairs]), (MAX_PAIRS, 2), np.int64),
        ),
        carray(pointer(about[DESK.span]), (1, 3), np.int64),
    )


def _build(structure: int, gold: int, end: int, about: Any, desk: Any) -> int:
    """Build a problem from the texts in the work space ``desk``; return its size, or a `FLAW` or NO_ROOM."""
    space, addresses = _desk(desk), carray(desk, DESK_COLUMNS, np.int64)
    tape = carray(pointer(addresses[DESK.tape]), (addresses[DESK.text_size] // 4, TOKEN_COLUMNS), np.int64)
    known = carray(about, 3, np.int64)
    return build(space.text, structure, gold, end, tape, space.items, space.span, space.work, known)


def _judge(
    texts: Any, sizes: Any, problems: Any, start: int, n: int, how: int, found: Any, ratios: Any, desk: Any
) -> int:
    """Score responses ``start`` to ``n``; return the index of the first that is not done: ``n``, or less if a
    response needs more work space."""
    space = _desk(desk)
    at, lengths, of_mazes = (
        carray(texts, n, np.int64),
        carray(sizes, n, np.int64),
        carray(problems, n, np.int64),
    )
    said, shares = carray(found, (n, FOUND_COLUMNS), np.int64), carray(ratios, (n, N_RATIOS), np.float64)
    for row in range(start, n):
        header = carray(pointer(of_mazes[row]), HEADER, np.int32)
        problem = unpack(carray(pointer(of_mazes[row]), int(header[FACT.size]), np.int32))
        text = carray(pointer(at[row]), lengths[row], np.uint8)
        if not read_response(text, problem, how, space, said[row], shares[row]):
            return row
    return n


def _scan(text: Any, size: int, spans: Any, n_spans: int, result: Any, desk: Any) -> int:
    """Find all plans in a text and return their number. Behind the text there is as much room again. The
    items of the last plan are put into the second half of the items, their number into ``result``."""
    items = _desk(desk).items
    n_items, n_plans = scan(
        carray(text, 2 * size, np.uint8), 0, size, items[0], items[1], carray(spans, (n_spans, 3), np.int64)
    )
    carray(result, 1, np.int64)[0] = n_items
    return n_plans


def _solve(problem: Any, size: int, numbers: Any, n: int, pairs: Any, plan: Any, told: Any) -> int:
    """Put a maze's shortest plan into ``plan``, and whether it is unique into ``told``; return its length."""
    work = Work(carray(numbers, n, np.int32), carray(pairs, (MAX_PAIRS, 2), np.int64))
    maze = unpack(carray(problem, size, np.int32)).maze
    length, unique = find_plan(maze, work, carray(plan, (2, n), np.int32))
    carray(told, 1, np.int64)[0] = 1 if unique else 0
    return length


def _tree(
    edges: Any, n_edges: int, order: Any, n: int, above: Any, n_rooms: int, chosen: Any, most: int
) -> int:
    return join(
        carray(edges, (n_edges, 2), np.int32),
        carray(order, n, np.int64),
        carray(above, n_rooms, np.int32),
        carray(chosen, most, np.int32),
    )


def _rewind(
    first_edge: Any, n_rooms: int, neighbors: Any, n_edges: int, n_doors: int, fewest: int, most: int,
    draws: Any, n_draws: int, points: Any, doors: Any, work: Any,
) -> int:  # fmt: skip
    return place(
        carray(first_edge, n_rooms + 1, np.int32),
        carray(neighbors, n_edges, np.int32),
        fewest,
        most,
        carray(draws, n_draws, np.float64),
        carray(points, n_doors + 2, np.int32),
        carray(doors, (n_doors, 2), np.int32),
        carray(work, (PLACING, n_rooms), np.int32),
    )


ENTRIES = {
    "solve": (_solve, "pipippp"),
    "tree": (_tree, "pipipipi"),
    "rewind": (_rewind, "pipiiiipippp"),
    "build": (_build, "iiipp"),
    "judge": (_judge, "pppiiippp"),
    "scan": (_scan, "pipipp"),
}
"""Name → function, and the types of its arguments (``p`` pointer, ``i`` int64)."""
