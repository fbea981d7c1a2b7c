"""What the machine code of mazes and its callers both have to know; importing it loads neither numba nor
numpy."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

# A problem: a maze, the names of its things and its gold, as one array of int32

Fact = namedtuple(
    "Fact",
    "n_rooms n_edges n_doors n_keys start_room goal_room n_gold n_distinct n_names n_slots "
    "n_name_bytes best gold_is_best shortest n_unlocks size",
)
HEADER: Final = 16
FACT: Final = Fact(*range(HEADER))
"""Numbers at the beginning of a problem: rooms, entries of the list of edges, doors, keys, first room and
goal, actions of gold and how many of them are distinct, names (rooms, keys, the person), places of their
table and bytes; actions of the shortest plan, or of gold where the search found none or was given up; whether
gold is such a plan; what the search said (`UNSOLVABLE`, `TOO_LARGE` or a length); doors that gold unlocks;
and all numbers of the problem.

Behind them stand, one after the other: first_edge, neighbors, doors, door_keys and key_rooms of
`relfast_kernels.maze.search.MazeTables`, kinds and arguments of gold, the ends of the names, their slots,
codes, distinct codes, counts and places of gold, the names (bytes), and last the passages in the order in
which the record has them: two rooms and the door or NO_DOOR. Who makes a problem leaves slots, codes and all
that is said of gold and of the shortest plan to `relfast_kernels.maze.judge.settle`."""

# What is found in a text

Found = namedtuple(
    "Found",
    "violation violation_index n_actions exact optimal given_up begin end vote certain",
)
FOUND: Final = Found(*range(10))
FOUND_COLUMNS: Final = len(FOUND)
"""Columns of what is found, int64: what is wrong with the plan and at which action, how many it has, whether
it is gold's, whether it is a shortest one, whether the search for the way on from where it breaks off was
given up, so that its ``walk_score`` is 0; where it begins and ends in the text, its vote, and whether that is
all: 0 where Python has to cut the reasoning. A row of zeros is that of no plan."""

Ratio = namedtuple("Ratio", "progress precision recall f1 legal_ratio walk_score")
RATIO: Final = Ratio(*range(6))
N_RATIOS: Final = len(RATIO)
"""And what is judged in fractions, float64: ``progress_ratio``, ``precision``, ``recall``, ``f1``,
``legal_ratio`` and ``walk_score`` of a row."""

CUTS_REASONING, IS_STRICT = 1, 2
"""How a text is read: without its reasoning, as ``strict`` does."""

Desk = namedtuple("Desk", "text text_size items items_size numbers numbers_size pairs span tape")
DESK: Final = Desk(*range(9))
DESK_COLUMNS: Final = len(DESK)
"""Addresses and sizes of work space: bytes, items of plans (int32, rows of ITEM_COLUMNS), numbers of a search
(int32) and its pairs (int64, MAX_PAIRS × 2), a plan's span (3 int64), and tokens (int64, a row of
TOKEN_COLUMNS for two bytes of text)."""

NO_ROOM: Final = -2
"""Instead of a plan's length: the search wants more work space."""

Flaw = namedtuple(
    "Flaw",
    "json gold action structure names name doors door around behind neighbor keys key start goal target",
)
FLAW: Final = Flaw(*range(-3, -19, -1))
"""Instead of a problem: what is wrong with a record."""

SHORTEST_ITEM: Final = 3
"""Bytes of text that an item takes: two quotes and a comma."""

MAX_PAIRS: Final = 1024
"""Pairs of a search: they are looked through one by one. A maze with 6 doors has at most 2^12, of which a
tree's plan meets some 20."""
