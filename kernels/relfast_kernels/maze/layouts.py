"""What the machine code of mazes and its callers both have to know; importing it loads neither numba nor
numpy."""

from __future__ import annotations

from typing import Final

# A problem: a maze, the names of its things and its gold, as one array of int32

(
    N_ROOMS,
    N_EDGES,
    N_DOORS,
    N_KEYS,
    START_ROOM,
    GOAL_ROOM,
    N_GOLD,
    N_DISTINCT,
    N_NAMES,
    N_SLOTS,
    N_NAME_BYTES,
    BEST,
    GOLD_IS_BEST,
    SHORTEST,
    SIZE,
) = range(15)
HEADER: Final = 16
"""Numbers at the beginning of a problem: rooms, entries of the list of edges, doors, keys, first room and
goal, actions of gold and how many of them are distinct, names (rooms, keys, the person), places of their
table and bytes; actions of the shortest plan, or of gold where the search found none or was given up; whether
gold is such a plan; what the search said (`UNSOLVABLE`, `TOO_LARGE` or a length); and all numbers of the
problem.

Behind them stand, one after the other: first_edge, neighbors, doors, door_keys and key_rooms of
`relfast_kernels.maze.problem.MazeTables`, kinds and arguments of gold, the ends of the names, their slots,
codes, distinct codes, counts and places of gold, and the names (bytes). Who makes a problem leaves slots,
codes and all that is said of gold and of the shortest plan to `relfast_kernels.maze.judge.settle`."""


def header_of(
    n_rooms: int, n_edges: int, n_doors: int, n_keys: int, start: int, goal: int, n_gold: int, n_names: int,
    n_slots: int, n_name_bytes: int, size: int,
) -> list[int]:  # fmt: skip
    """The header of a problem before it is settled."""
    return [
        n_rooms, n_edges, n_doors, n_keys, start, goal, n_gold, n_gold, n_names, n_slots, n_name_bytes, 0, 0,
        0, size,
    ]  # fmt: skip


# What is found in a text

(
    VIOLATION,
    VIOLATION_INDEX,
    N_ACTIONS,
    EXACT,
    OPTIMAL,
    GIVEN_UP,
    FOUND_BEGIN,
    FOUND_END,
    FOUND_VOTE,
    FOUND_CERTAIN,
) = range(10)
FOUND_COLUMNS: Final = 10
"""Columns of what is found, int64: what is wrong with the plan and at which action, how many it has, whether
it is gold's, whether it is a shortest one, whether the search for the way on from where it breaks off was
given up, so that its ``walk_score`` is 0; where it begins and ends in the text, its vote, and whether that is
all: 0 where Python has to cut the reasoning. A row of zeros is that of no plan."""

PROGRESS, PRECISION, RECALL, F1, LEGAL_RATIO, WALK_SCORE = range(6)
N_RATIOS: Final = 6
"""And what is judged in fractions, float64: ``progress_ratio``, ``precision``, ``recall``, ``f1``,
``legal_ratio`` and ``walk_score`` of a row."""

CUTS_REASONING, IS_STRICT = 1, 2
"""How a text is read: without its reasoning, as ``strict`` does."""

(
    DESK_TEXT,
    DESK_TEXT_SIZE,
    DESK_ITEMS,
    DESK_ITEMS_SIZE,
    DESK_NUMBERS,
    DESK_NUMBERS_SIZE,
    DESK_PAIRS,
    DESK_SPAN,
) = range(8)
DESK_COLUMNS: Final = 8
"""Addresses and sizes of work space: bytes, items of plans (int32, rows of ITEM_COLUMNS), numbers of a search
(int32) and its pairs (int64, MAX_PAIRS × 2), and a plan's span (3 int64)."""

NO_ROOM: Final = -2
"""Instead of a plan's length: the search wants more work space."""

SHORTEST_ITEM: Final = 3
"""Bytes of text that an item takes: two quotes and a comma."""

MAX_PAIRS: Final = 1024
"""Pairs of a search: they are looked through one by one. A maze with 6 doors has at most 2^12, of which a
tree's plan meets some 20."""
