"""Layouts of arrays that maze kernels share with their callers. Importing this loads no numba or numpy."""

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
"""Header of a problem: numbers of rooms, edges (each passage is two), doors and keys; start and goal room;
numbers of gold's actions and of distinct ones among them; number of names (rooms, keys, the person to
rescue), slots of their hash table and their bytes; ``best``: length of the shortest plan, or of gold if the
search found none or was given up; whether gold is a shortest plan; the result of the search (a length,
`UNSOLVABLE` or `TOO_LARGE`); number of doors that gold unlocks; and the size of the whole problem in int32.

After the header come, in this order: first_edge, neighbors, doors, door_keys and key_rooms of
`relfast_kernels.maze.search.MazeTables`; kinds and arguments of gold; ends and slots of the names; codes,
distinct codes, counts and places of gold; the names (bytes); and the passages in the order of the record,
each as two rooms and the door or NO_DOOR. `relfast_kernels.maze.building.build` fills in the maze, the
names and gold's actions; `relfast_kernels.maze.judge.settle` computes the rest."""

# The result for a response

Found = namedtuple(
    "Found",
    "violation violation_index n_actions exact optimal given_up begin end vote certain",
)
FOUND: Final = Found(*range(10))
FOUND_COLUMNS: Final = len(FOUND)
"""Columns of a result, int64: the plan's first violation and at which action it is; number of actions;
whether the plan equals gold; whether it is a shortest one; whether the search for the rest of a broken plan
was given up, so that its ``walk_score`` is 0; where the plan begins and ends in the text; its vote; and
whether the result holds: 0 if Python must cut the reasoning first. Without a plan, the row is zeros."""

Ratio = namedtuple("Ratio", "progress precision recall f1 legal_ratio walk_score")
RATIO: Final = Ratio(*range(6))
N_RATIOS: Final = len(RATIO)
"""Columns of a result that are fractions, float64: the metrics ``progress_ratio``, ``precision``, ``recall``,
``f1``, ``legal_ratio`` and ``walk_score``."""

CUTS_REASONING, IS_STRICT = 1, 2
"""Bits of how a text is read: reasoning is cut first; plans are read as under ``strict``."""

Desk = namedtuple("Desk", "text text_size items items_size numbers numbers_size pairs span tape")
DESK: Final = Desk(*range(9))
DESK_COLUMNS: Final = len(DESK)
"""Addresses and sizes of a thread's work space: text (bytes), items of plans (int32, rows of ITEM_COLUMNS),
numbers of a search (int32) and its pairs (int64, MAX_PAIRS × 2), the span of a plan (3 int64), and tokens
(int64, a row of TOKEN_COLUMNS per two bytes of text)."""

NO_ROOM: Final = -2
"""Result in place of a plan's length or a problem's size: the work space is too small."""

Flaw = namedtuple(
    "Flaw",
    "json gold action structure names name doors door around behind neighbor keys key start goal target",
)
FLAW: Final = Flaw(*range(-3, -19, -1))
"""Results in place of a problem's size: what is wrong with the record."""

SHORTEST_ITEM: Final = 3
"""Fewest bytes of text that an item takes: two quotes and a comma."""

MAX_PAIRS: Final = 1024
"""Most pairs (doors opened, keys held) of a search, which looks them up one by one. A maze with 6 doors has
at most 2^12; the search in a tree meets some 20 of them."""
