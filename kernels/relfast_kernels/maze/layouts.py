"""What the kernels for mazes and their callers share; imports neither numba nor numpy."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

from relfast_kernels.entry import (
    Array,
    Byte,
    Bytes,
    Const,
    Doubles,
    Float,
    Inner,
    Int,
    Int32,
    Ints,
    Ints32,
    Rows,
    Struct,
)
from relfast_kernels.layouts import ITEM_COLUMNS, TOKEN_COLUMNS

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


class Score(Struct):
    """The result for a response: the plan's first violation and at which action it is; number of actions;
    whether the plan equals gold; whether it is a shortest one; whether the search for the rest of a broken
    plan was given up, so that its ``walk_score`` is 0; where the plan begins and ends in the text; its vote;
    whether the result holds (0: Python must cut the reasoning first); and the metrics of these names, the
    first being ``progress_ratio``. Without a plan, all are zeros."""

    violation: int = Int
    violation_index: int = Int
    n_actions: int = Int
    exact: int = Int
    optimal: int = Int
    given_up: int = Int
    begin: int = Int
    end: int = Int
    vote: int = Int
    certain: int = Int
    progress: float = Float
    precision: float = Float
    recall: float = Float
    f1: float = Float
    legal_ratio: float = Float
    walk_score: float = Float


CUTS_REASONING, IS_STRICT = 1, 2
"""Bits of how a text is read: reasoning is cut first; plans are read as under ``strict``."""

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


class Desk(Struct):
    """A thread's work space: ``text``, of twice the size of a response; ``items`` of plans, an item per three
    bytes and two more, in two tables; ``numbers`` and ``pairs`` of a search; the ``span`` of a plan; and
    tokens, one per two bytes of text."""

    text_size: int = Int
    n_items: int = Int
    n_numbers: int = Int
    n_tokens: int = Int
    text: Bytes = Array(Byte, "text_size")
    items: Ints32 = Array(Int32, 2, "n_items", ITEM_COLUMNS)
    numbers: Ints32 = Array(Int32, "n_numbers")
    pairs: Ints = Array(Int, MAX_PAIRS, 2)
    span: Ints = Array(Int, 1, 3)
    tape: Ints = Array(Int, "n_tokens", TOKEN_COLUMNS)


class Response(Struct):
    """Where in the texts a response is, and the address of the problem (int32, completed by
    `relfast_kernels.maze.judge.settle`) that its caller keeps alive."""

    start: int = Int
    end: int = Int
    problem: int = Int


class Judging(Struct):
    """Responses that are scored: of ``responses`` those from ``start`` to ``stop``. ``how``: `CUTS_REASONING`
    and `IS_STRICT`. ``scores`` come in as zeros."""

    start: int = Int
    stop: int = Int
    how: int = Int
    n_bytes: int = Int
    n: int = Int
    texts: Bytes = Const(Byte, "n_bytes")
    responses: Rows[Response] = Const(Response, "n")
    scores: Rows[Score] = Array(Score, "n")
    desk: Desk = Inner(Desk)


class Told(Struct):
    """What else building a problem or reading a plan tells: the offset of the problem in the numbers of the
    desk; where in its text a name is; an index of an item of gold; how many items a plan has."""

    offset: int = Int
    begin: int = Int
    end: int = Int
    index: int = Int
    n_items: int = Int


class Building(Struct):
    """A problem that is built of the text of a desk: ``text[:structure]`` is the maze,
    ``text[structure:gold]`` the gold plan, and ``text[gold:end]`` the name of the person to rescue, for a
    plan that has none. Behind it there is as much room again."""

    structure: int = Int
    gold: int = Int
    end: int = Int
    told: Told = Inner(Told)
    desk: Desk = Inner(Desk)


class Scanning(Struct):
    """The text of a desk, of so many bytes, whose plans are found. Behind it there is as much room again."""

    size: int = Int
    told: Told = Inner(Told)
    desk: Desk = Inner(Desk)


class Solving(Struct):
    """A maze, packed as a problem, whose shortest plan is sought; room for the plan (kinds and arguments),
    and whether it is the only one."""

    n_problem: int = Int
    n: int = Int
    problem: Ints32 = Const(Int32, "n_problem")
    numbers: Ints32 = Array(Int32, "n")
    pairs: Ints = Array(Int, MAX_PAIRS, 2)
    plan: Ints32 = Array(Int32, 2, "n")
    is_unique: Ints = Array(Int, 1)


class Joining(Struct):
    """Arguments of `relfast_kernels.maze.growth.spanning_tree`, its result and work space."""

    n_edges: int = Int
    n_tried: int = Int
    n_rooms: int = Int
    most: int = Int
    edges: Ints32 = Const(Int32, "n_edges", 2)
    order: Ints = Const(Int, "n_tried")
    above: Ints32 = Array(Int32, "n_rooms")
    chosen: Ints32 = Array(Int32, "most")


PLACING: Final = 7
"""Rows of work space for placing doors and keys."""


class Placing(Struct):
    """Arguments of `relfast_kernels.maze.growth.rewind`, its results and work space."""

    fewest: int = Int
    most: int = Int
    n_ends: int = Int
    n_edges: int = Int
    n_draws: int = Int
    n_points: int = Int
    n_doors: int = Int
    n_rooms: int = Int
    first_edge: Ints32 = Const(Int32, "n_ends")
    neighbors: Ints32 = Const(Int32, "n_edges")
    draws: Doubles = Const(Float, "n_draws")
    points: Ints32 = Array(Int32, "n_points")
    doors: Ints32 = Array(Int32, "n_doors", 2)
    work: Ints32 = Array(Int32, PLACING, "n_rooms")
