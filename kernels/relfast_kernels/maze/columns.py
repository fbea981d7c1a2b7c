"""What the machine code of mazes and its callers both have to know; importing it loads neither numba nor
numpy."""

from __future__ import annotations

from typing import Final

from relfast_kernels.layouts import JUDGED

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
`relfast_kernels.maze.tables.MazeTables`, kinds and arguments of gold, the ends of the names, their slots,
codes, distinct codes, counts and places of gold, and the names (bytes). Who makes a problem leaves slots,
codes and all that is said of gold and of the shortest plan to `relfast_kernels.maze.packed.settle`."""


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

GIVEN_UP: Final = len(JUDGED)
N_JUDGED: Final = len(JUDGED) + 1
"""Behind JUDGED: whether the search for the way on from where a plan breaks off was given up, so that its
``walk_score`` is 0."""

FOUND_BEGIN, FOUND_END, FOUND_VOTE, FOUND_CERTAIN = range(N_JUDGED, N_JUDGED + 4)
FOUND_COLUMNS: Final = N_JUDGED + 4
"""Columns of what is found, int64: those that are judged, where the plan begins and ends in the text, its
vote, and whether kernels can write its row: 0 where Python has to cut the reasoning, or tells that a search
was given up."""

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
    DESK_JUDGED,
) = range(9)
DESK_COLUMNS: Final = 9
"""Addresses and sizes of work space: bytes, items of plans (int32, rows of ITEM_COLUMNS), numbers of a search
(int32) and its pairs (int64, MAX_PAIRS × 2), a plan's span (3 int64) and what is judged of it (int32)."""

NO_ROOM: Final = -2
"""Instead of a plan's length: the search wants more work space."""

SHORTEST_ITEM: Final = 3
"""Bytes of text that an item takes: two quotes and a comma."""

MAX_PAIRS: Final = 1024
"""Pairs of a search: they are looked through one by one. A maze with 6 doors has at most 2^12, of which a
tree's plan meets some 20."""

# Rows

(
    PUT_INDEX,
    PUT_ID,
    PUT_SAMPLE,
    PUT_STATUS,
    PUT_CORRECT,
    PUT_REWARD,
    PUT_EXACT,
    PUT_VALID,
    PUT_OPTIMAL,
    PUT_VIOLATION,
    PUT_VIOLATION_INDEX,
    PUT_ACTIONS,
    PUT_REASON,
    PUT_PRED,
    PUT_OF_PROBLEM,
) = range(15)
PUT_RATIO: Final = 32
"""What a hole of a row is filled with. From PUT_RATIO on the ratios, from PUT_OF_PROBLEM to before it texts
that a problem has."""
PROBLEM_TEXTS: Final = 5
"""Texts of a problem: logical depth, backtracking, noise, the source of its maze, gold."""

REWARD_CORRECT, REWARD_EXACT, REWARD_VALID, REWARD_OPTIMAL, REWARD_RATIO = range(5)
"""Which measure is the reward: from REWARD_RATIO on the ratios."""

SUM_N, SUM_HIGH, SUM_LOW, SUM_FIRST = range(4)
SUM_COLUMNS: Final = 4
SUM_SHIFT: Final = 30
SUM_BITS: Final = 60
"""Columns of a sum: how many rows have it, the sum in units of 2^-60 (`relfast.stats.sums`) as high times
2^30 plus low, and the first of these rows."""

(
    SUM_REWARD,
    SUM_EXACT,
    SUM_VALID,
    SUM_OPTIMAL,
    SUM_INDEX,
    SUM_ACTIONS,
    SUM_FOUND,
    SUM_RATIOS,
) = range(8)
N_SUMS: Final = SUM_RATIOS + 6
"""What is summed up over rows; that of whole numbers is in ones, in ``low``."""

ABOUT_PROBLEM, ABOUT_CELL, ABOUT_END = range(3)
ABOUT_COLUMNS: Final = 3
"""Of a record: which problem it is of, in which cell it is counted, where its row ends."""

CELL_ROWS, CELL_EXACT, CELL_HIGH, CELL_LOW, CELL_FIRST = range(5)
CELL_COLUMNS: Final = 5
"""Columns of a cell: rows, exact ones, the sum of their progress, the first row."""

VIOLATION_COUNT, VIOLATION_FIRST = range(2)
VIOLATION_COLUMNS: Final = 2

NUMBER_SLOTS: Final = 1 << 15
MAX_NUMBERS: Final = 1 << 14
NUMBER_BYTES: Final = 32
"""A table of numbers and how they are written: slots with the bits of a float and the place of its text (0:
none); the text's length, and it."""

WRITE_AT, WRITE_ROWS, WRITE_SAMPLES, WRITE_WANTS, WRITE_BITS = range(5)
WRITE_COLUMNS: Final = 5
WANTS_OUT, WANTS_NUMBER = 1, 2
"""How far writing has come: records, bytes of rows and of samples; why it stopped, and the bits of a number
that the table lacks."""
