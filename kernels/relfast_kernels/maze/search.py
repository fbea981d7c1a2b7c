"""Mazes with locked doors as arrays, and the search for the shortest plan.

A maze is a graph of rooms; an edge may have a locked door; each door has one key, and each key lies in one
room. The search is breadth-first over states (room, doors opened, keys held). Each new pair (doors opened,
keys held) is appended to a short list, so that states are the cells of a table rooms × pairs. If the maze
is a tree, the paths between rooms determine which doors and keys every plan needs: only these are searched,
and a needed key is picked up at the first visit. In a tree, therefore, the shortest paths of the search are
exactly the shortest plans, not distinguished by when keys are picked up.

Nothing here allocates memory: callers give the work space, and if it is too small the length is NO_ROOM."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints, Ints32
from relfast_kernels.layouts import (
    MOVE,
    NO_DOOR,
    NO_KEY,
    PICK_UP,
    RESCUE,
    START,
    TOO_LARGE,
    UNLOCK,
    UNSOLVABLE,
    USE,
)
from relfast_kernels.maze.layouts import FACT, HEADER, MAX_PAIRS, NO_ROOM, Fact, Solving
from relfast_kernels.text.plans import hash_bytes


class MazeTables(NamedTuple):
    """A maze as arrays.

    The edges of room r are rows first_edge[r]:first_edge[r+1] of ``neighbors`` (the room that the edge
    leads to) and ``doors`` (door index or NO_DOOR); each passage is an edge of both its rooms.
    ``door_keys``: key of each door or NO_KEY. ``key_rooms``: room of each key or -1. ``start`` and ``goal``
    are rooms. All arrays int32.
    """

    first_edge: Ints32
    neighbors: Ints32
    doors: Ints32
    door_keys: Ints32
    key_rooms: Ints32
    start: int
    goal: int


class NameTables(NamedTuple):
    """The names of the things in a maze, for reading plans from text.

    Thing t is named text[ends[t-1]:ends[t]] (UTF-8); rooms come first, then keys, then the person to rescue.
    ``slots`` (int32, a power of two, never full) is a hash table of things by `hash_bytes` of their names,
    with linear probing; -1 = free.
    """

    text: Bytes
    ends: Ints32
    slots: Ints32


class GoldTables(NamedTuple):
    """A gold plan: action and argument of each step; both as one code (`judge.step_code`); the sorted
    distinct codes, with how often each occurs; and the index of each step's code among these. All int32."""

    kinds: Ints32
    arguments: Ints32
    codes: Ints32
    distinct: Ints32
    counts: Ints32
    places: Ints32


@kernel
def fill_slots(text: Bytes, ends: Ints32, slots: Ints32) -> None:
    """Fill the slots of `NameTables`, whose number is a power of two, at least twice that of the things."""
    slots[:] = -1
    mask = len(slots) - 1
    begin = 0
    for thing in range(len(ends)):
        slot = hash_bytes(text, begin, ends[thing]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = thing
        begin = int(ends[thing])


class MazeProblem(NamedTuple):
    """All that a plan is scored against: a maze with its names and gold.

    ``best``: number of actions of the shortest plan (of gold if the search found none); ``gold_is_best``:
    whether gold is a shortest plan; ``solved``: whether the search found a plan.
    """

    maze: MazeTables
    names: NameTables
    gold: GoldTables
    best: int
    gold_is_best: bool
    solved: bool


@kernel
def unpack(problem: Ints32) -> MazeProblem:
    """The parts of a problem that is packed as `relfast_kernels.maze.layouts` says."""
    at = HEADER
    n_rooms, n_edges, n_gold = problem[FACT.n_rooms], problem[FACT.n_edges], problem[FACT.n_gold]
    n_doors, n_keys, n_names = problem[FACT.n_doors], problem[FACT.n_keys], problem[FACT.n_names]
    n_slots, n_distinct = problem[FACT.n_slots], problem[FACT.n_distinct]
    first_edge = problem[at : at + n_rooms + 1]
    at += n_rooms + 1
    neighbors = problem[at : at + n_edges]
    at += n_edges
    doors = problem[at : at + n_edges]
    at += n_edges
    door_keys = problem[at : at + n_doors]
    at += n_doors
    key_rooms = problem[at : at + n_keys]
    at += n_keys
    kinds = problem[at : at + n_gold]
    at += n_gold
    arguments = problem[at : at + n_gold]
    at += n_gold
    ends = problem[at : at + n_names]
    at += n_names
    slots = problem[at : at + n_slots]
    at += n_slots
    codes = problem[at : at + n_gold]
    at += n_gold
    distinct = problem[at : at + n_distinct]
    at += n_gold
    counts = problem[at : at + n_distinct]
    at += n_gold
    places = problem[at : at + n_gold]
    at += n_gold
    text = problem[at:].view(np.uint8)[: problem[FACT.n_name_bytes]]
    start, goal = int(problem[FACT.start_room]), int(problem[FACT.goal_room])
    return MazeProblem(
        MazeTables(first_edge, neighbors, doors, door_keys, key_rooms, start, goal),
        NameTables(text, ends, slots),
        GoldTables(kinds, arguments, codes, distinct, counts, places),
        int(problem[FACT.best]),
        problem[FACT.gold_is_best] != 0,
        problem[FACT.shortest] > UNSOLVABLE,
    )


MAX_SWITCHES: Final = 60
"""Most doors, and most keys, of a search: each is a bit of an int64. Published mazes have at most 8."""

MAX_STATES: Final = 1 << 22
"""Most states of a search: 100 MB of tables. A 40 × 40 maze with 5 doors has some thousand."""

MAX_PAIRS_ON: Final = 256
"""Most pairs of a search for the completion of a broken plan: few, as each such plan takes a search."""

_FEW_PAIRS: Final = 32
"""Number of pairs that a search tries first: enough for a chain of 15 doors."""

_STATE_NUMBERS: Final = 6
"""Work space of a state, in int32: depth, previous state, whether several shortest ways lead to it, and a
place in each of three buckets."""


class Work(NamedTuple):
    """Work space of a search: ``numbers`` (int32) and ``pairs`` (int64, MAX_PAIRS × 2)."""

    numbers: Ints32
    pairs: Ints


@kernel
def walk_tree(maze: MazeTables, parents: Ints32, queue: Ints32) -> bool:
    """Find the parent of each room that is connected with the start, as if all doors were open; False if
    there is a cycle.

    ``parents`` (rooms, int32) receives the next room towards the start; for the start itself the start, for
    unconnected rooms -1. ``queue`` (rooms, int32) is work space.
    """
    parents[:] = -1
    parents[maze.start] = maze.start
    queue[0] = maze.start
    head, tail = 0, 1
    while head < tail:
        room = queue[head]
        head += 1
        for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
            behind = maze.neighbors[edge]
            if parents[behind] < 0:
                parents[behind] = room
                queue[tail] = behind
                tail += 1
            elif parents[room] != behind:
                return False
    return True


@kernel
def mark_needed(
    maze: MazeTables,
    parents: Ints32,
    alive: Ints32,
    needed: Ints32,
    pending: Ints32,
) -> bool:
    """In a tree, mark the needed keys, and as ``alive`` the rooms on the way to the goal and to these keys.

    Returns False if the goal or a needed key cannot be reached. ``pending`` (keys + 1) is work space.
    """
    pending[0] = maze.goal
    n_pending = 1
    alive[maze.start] = 1
    while n_pending:
        n_pending -= 1
        room = pending[n_pending]
        if parents[room] < 0:
            return False
        while not alive[room]:
            alive[room] = 1
            parent = parents[room]
            for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
                if maze.neighbors[edge] == parent and maze.doors[edge] != NO_DOOR:
                    key = maze.door_keys[maze.doors[edge]]
                    if key == NO_KEY or maze.key_rooms[key] < 0:
                        return False
                    if not needed[key]:
                        needed[key] = 1
                        pending[n_pending] = maze.key_rooms[key]
                        n_pending += 1
            room = parent
    return True


class Region(NamedTuple):
    """The part of a maze that a search visits.

    ``rooms``: its rooms; ``places``: index of each room of the maze among them, or -1; ``keys``: its keys;
    ``key_bits``, ``door_bits``: bit of each key and door of the maze, or -1 if it is not in the part.
    """

    rooms: Ints32
    places: Ints32
    keys: Ints32
    key_bits: Ints32
    door_bits: Ints32
    n_doors: int


@kernel
def select(maze: MazeTables, alive: Ints32, wanted: Ints32, room: Ints32) -> Region:
    """The part that consists of the rooms ``alive``, the keys ``wanted``, and the doors between these rooms
    that these keys open.

    ``room`` (int32, `part_size` of them) is the memory for the part.
    """
    n_rooms, n_keys, n_doors = len(alive), len(wanted), len(maze.door_keys)
    rooms = room[:n_rooms]
    places = room[n_rooms : 2 * n_rooms]
    at = 2 * n_rooms
    keys = room[at : at + n_keys]
    key_bits = room[at + n_keys : at + 2 * n_keys]
    at += 2 * n_keys
    door_bits = room[at : at + n_doors]
    n_alive = 0
    for one in range(n_rooms):
        places[one] = -1
        if alive[one]:
            places[one] = n_alive
            rooms[n_alive] = one
            n_alive += 1
    n_wanted = 0
    for key in range(n_keys):
        key_bits[key] = -1
        if wanted[key]:
            key_bits[key] = n_wanted
            keys[n_wanted] = key
            n_wanted += 1
    door_bits[:] = -1
    n_chosen = 0
    for place in range(n_alive):
        one = rooms[place]
        for edge in range(maze.first_edge[one], maze.first_edge[one + 1]):
            door = maze.doors[edge]
            if door == NO_DOOR or door_bits[door] >= 0 or places[maze.neighbors[edge]] < 0:
                continue
            if maze.door_keys[door] != NO_KEY and wanted[maze.door_keys[door]]:
                door_bits[door] = n_chosen
                n_chosen += 1
    return Region(rooms[:n_alive], places, keys[:n_wanted], key_bits, door_bits, n_chosen)


@kernel
def part_size(maze: MazeTables) -> int:
    """Most memory that a part of a maze takes, in int32."""
    return 2 * (len(maze.first_edge) - 1) + 2 * len(maze.key_rooms) + len(maze.door_keys)


class States(NamedTuple):
    """Tables with a row per state (depth, previous state, several ways), and the pairs: see `_search`."""

    depth_of: Ints32
    before: Ints32
    several: Ints32
    pairs: Ints


class Shortest(NamedTuple):
    """The result of a search in a kernel.

    ``length``: number of actions of the shortest plan, with start and rescue, or UNSOLVABLE, TOO_LARGE or
    NO_ROOM; ``last``: the state it ends with; ``tree``: whether the maze is a tree; ``part`` and ``states``:
    tables from which `_trace` writes the plan.
    """

    length: int
    last: int
    tree: bool
    part: Region
    states: States


@kernel
def _find_pair(pairs: Ints, n_pairs: int, opened: int, held: int) -> int:
    """Index of (opened, held) among the pairs met so far; n_pairs if the pair is new."""
    for pair in range(n_pairs):
        if pairs[pair, 0] == opened and pairs[pair, 1] == held:
            return pair
    return n_pairs


@kernel
def _reach(state: int, to: int, depth: int, states: States, bucket: Ints32, size: int) -> int:
    """Record a way from ``state`` to the state ``to``, which puts that into ``bucket`` if it is the
    shortest so far; return the number of states in the bucket."""
    if states.depth_of[to] == 0 or depth < states.depth_of[to]:
        states.depth_of[to] = depth
        states.before[to] = state
        states.several[to] = states.several[state]
        bucket[size] = to
        return size + 1
    if depth == states.depth_of[to]:
        states.several[to] = 1
    return size


@kernel
def _states(numbers: Ints32, n_states: int, pairs: Ints) -> States:
    return States(
        numbers[:n_states], numbers[n_states : 2 * n_states], numbers[2 * n_states : 3 * n_states], pairs
    )


@kernel
def _third(buckets: Ints32, depth: int) -> Ints32:
    """The bucket of the states at a depth."""
    size = len(buckets) // 3
    return buckets[depth % 3 * size : (depth % 3 + 1) * size]


@kernel
def _search(
    maze: MazeTables, part: Region, in_hand: int, eager: bool, max_pairs: int, states: States,
    buckets: Ints32,
) -> tuple[int, int]:  # fmt: skip
    """Breadth-first search with at most ``max_pairs`` pairs; TOO_LARGE if there are more.

    ``in_hand``: bits of the keys held at the start. ``eager``: keys are always picked up at the first visit,
    which is correct if every key of the part is needed. Returns the length and the last state.
    """
    width = len(part.rooms)
    pairs = states.pairs
    pairs[0, 0] = 0
    pairs[0, 1] = in_hand
    n_pairs = 1
    # a state is the number pair × width + place; to open a door takes two actions, hence three buckets
    states.depth_of[:] = 0
    origin = int(part.places[maze.start])
    states.depth_of[origin] = 1
    states.before[origin] = -1
    states.several[origin] = 0
    _third(buckets, 1)[0] = origin
    here, next_one, next_two = 1, 0, 0
    depth = 1
    while here + next_one + next_two > 0:
        bucket, one, two = _third(buckets, depth), _third(buckets, depth + 1), _third(buckets, depth + 2)
        for at in range(here):
            state = int(bucket[at])
            if states.depth_of[state] != depth:
                continue  # reached sooner on another way
            pair = state // width
            room = part.rooms[state - pair * width]
            if room == maze.goal:
                return depth + 1, state
            opened, held = pairs[pair, 0], pairs[pair, 1]
            picking = False
            for bit in range(len(part.keys)):
                if maze.key_rooms[part.keys[bit]] != room or held >> bit & 1 or (eager and picking):
                    continue
                picking = True
                to = _find_pair(pairs, n_pairs, opened, held | 1 << bit)
                if to == n_pairs:
                    if n_pairs == max_pairs:
                        return TOO_LARGE, 0
                    pairs[to, 0], pairs[to, 1] = opened, held | 1 << bit
                    n_pairs += 1
                next_one = _reach(state, state + (to - pair) * width, depth + 1, states, one, next_one)
            if eager and picking:
                continue
            for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
                place = int(part.places[maze.neighbors[edge]])
                if place < 0:
                    continue
                door = maze.doors[edge]
                bit = 0 if door == NO_DOOR else int(part.door_bits[door])
                if door == NO_DOOR or (bit >= 0 and opened >> bit & 1):
                    next_one = _reach(state, pair * width + place, depth + 1, states, one, next_one)
                elif bit >= 0 and held >> part.key_bits[maze.door_keys[door]] & 1:
                    to = _find_pair(pairs, n_pairs, opened | 1 << bit, held)
                    if to == n_pairs:
                        if n_pairs == max_pairs:
                            return TOO_LARGE, 0
                        pairs[to, 0], pairs[to, 1] = opened | 1 << bit, held
                        n_pairs += 1
                    next_two = _reach(state, state + (to - pair) * width, depth + 2, states, two, next_two)
        here, next_one, next_two = next_one, next_two, 0
        depth += 1
    return UNSOLVABLE, 0


@kernel
def shortest(maze: MazeTables, held: Ints32, most_pairs: int, work: Work) -> Shortest:
    """Search the shortest plan of an agent who holds the keys with 1 in ``held`` at the start;
    ``key_rooms`` has the start room for these."""
    numbers, pairs = work.numbers, work.pairs
    n_rooms, n_keys = len(maze.first_edge) - 1, len(maze.key_rooms)
    size = part_size(maze)
    first = size + 3 * n_rooms + 2 * n_keys + 1
    nothing = _states(numbers, 0, pairs)
    if len(numbers) < first:
        part = Region(numbers[:0], numbers[:0], numbers[:0], numbers[:0], numbers[:0], 0)
        return Shortest(NO_ROOM, 0, False, part, nothing)
    alive = numbers[size : size + n_rooms]
    parents = numbers[size + n_rooms : size + 2 * n_rooms]
    queue = numbers[size + 2 * n_rooms : size + 3 * n_rooms]
    at = size + 3 * n_rooms
    wanted = numbers[at : at + n_keys]
    pending = numbers[at + n_keys : first]
    alive[:] = 0
    wanted[:] = 0
    tree = walk_tree(maze, parents, queue)
    possible = True
    if tree:
        possible = mark_needed(maze, parents, alive, wanted, pending)
    else:
        alive[:] = 1
        for door in range(len(maze.door_keys)):
            key = maze.door_keys[door]
            if key != NO_KEY and maze.key_rooms[key] >= 0:
                wanted[key] = 1
    part = select(maze, alive, wanted, numbers[:size])
    if not possible:
        return Shortest(UNSOLVABLE, 0, tree, part, nothing)
    if len(part.keys) > MAX_SWITCHES or part.n_doors > MAX_SWITCHES:
        return Shortest(TOO_LARGE, 0, tree, part, nothing)
    in_hand = 0
    for bit in range(len(part.keys)):
        if held[part.keys[bit]]:
            in_hand |= 1 << bit
    most = max(min(MAX_STATES // len(part.rooms), most_pairs), 1)
    max_pairs = min(_FEW_PAIRS, most)
    while True:
        n_states = max_pairs * len(part.rooms)
        if first + _STATE_NUMBERS * n_states > len(numbers):
            return Shortest(NO_ROOM, 0, tree, part, nothing)
        states = _states(numbers[first:], n_states, pairs)
        buckets = numbers[first + 3 * n_states : first + _STATE_NUMBERS * n_states]
        length, last = _search(maze, part, in_hand, tree, max_pairs, states, buckets)
        if length != TOO_LARGE or max_pairs == most:
            return Shortest(length, last, tree, part, states)
        max_pairs = min(8 * max_pairs, most)


@kernel
def remaining(
    maze: MazeTables,
    room: int,
    key_in_use: int,
    opened: Ints32,
    held: Ints32,
    work: Work,
) -> int:
    """Number of actions of the shortest completion from a state, with the rescue; else UNSOLVABLE or
    TOO_LARGE.

    Parameters
    ----------
    room, key_in_use
        The agent's room, and the key that the last action used (or NO_KEY).
    opened, held
        For each door and key: 1 if opened or held, else 0.
    work
        Work space as for `shortest`; the result is NO_ROOM if it is too small.
    """
    room = int(room)  # as wide as the tables' start, so that nothing is compiled twice
    n_edges, n_keys = len(maze.doors), len(maze.key_rooms)
    first = 2 * n_edges + n_keys
    numbers = work.numbers
    if len(numbers) < first:
        return NO_ROOM
    doors, open_too = numbers[:n_edges], numbers[n_edges : 2 * n_edges]
    key_rooms = numbers[2 * n_edges : first]
    for edge in range(n_edges):
        door = maze.doors[edge]
        doors[edge] = NO_DOOR if door != NO_DOOR and opened[door] else door
    for key in range(n_keys):
        key_rooms[key] = room if held[key] else maze.key_rooms[key]
    work = Work(numbers[first:], work.pairs)
    rest = MazeTables(maze.first_edge, maze.neighbors, doors, maze.door_keys, key_rooms, room, maze.goal)
    best = shortest(rest, held, MAX_PAIRS_ON, work).length
    if best == NO_ROOM:
        return NO_ROOM
    if best > 0:
        best -= 1  # it counts a start
    if key_in_use == NO_KEY:
        return best
    # the key is in use already: opening its door here takes one action, while the search counts two
    for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
        door = doors[edge]
        if door == NO_DOOR or maze.door_keys[door] != key_in_use:
            continue
        for other in range(n_edges):
            open_too[other] = NO_DOOR if doors[other] == door else doors[other]
        behind = MazeTables(
            rest.first_edge, rest.neighbors, open_too, rest.door_keys, key_rooms, rest.start, rest.goal
        )
        length = shortest(behind, held, MAX_PAIRS_ON, work).length
        if length == NO_ROOM:
            return NO_ROOM
        if length > 0 and (best <= 0 or length < best):
            best = length  # one for the door, and no start
    return best


_PER_PLACE: Final = 256
"""Work space that is tried first, in int32 per room and per edge: enough for 32 pairs."""


class Search(NamedTuple):
    """The result of `shortest_plan`.

    ``length``: number of actions of the shortest plan, with start and rescue, or UNSOLVABLE or TOO_LARGE.
    ``unique``: whether all plans of that length differ only in when keys are picked up (False also if that is
    unknown: in mazes with cycles). ``kinds``, ``arguments``: the plan, as codes of actions and arguments.
    """

    length: int
    unique: bool
    kinds: list[int]
    arguments: list[int]


@kernel
def _trace(maze: MazeTables, found: Shortest, kinds: Ints32, arguments: Ints32) -> None:
    """Write the plan that leads to the last state of a search."""
    part, pairs = found.part, found.states.pairs
    width = len(part.rooms)
    length = found.length
    kinds[length - 1], arguments[length - 1] = RESCUE, 0
    kinds[0], arguments[0] = START, maze.start
    index = length - 2
    state = found.last
    while found.states.before[state] >= 0:
        previous = int(found.states.before[state])
        pair, room = state // width, part.rooms[state % width]
        pair_before, room_before = previous // width, part.rooms[previous % width]
        if room != room_before:
            kinds[index], arguments[index] = MOVE, room
        elif pairs[pair, 1] != pairs[pair_before, 1]:
            picked = pairs[pair, 1] ^ pairs[pair_before, 1]
            for bit in range(len(part.keys)):
                if picked == 1 << bit:
                    kinds[index], arguments[index] = PICK_UP, part.keys[bit]
        else:
            unlocked = pairs[pair, 0] ^ pairs[pair_before, 0]
            for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
                door = maze.doors[edge]
                if (
                    door != NO_DOOR
                    and part.door_bits[door] >= 0
                    and unlocked == 1 << int(part.door_bits[door])
                ):
                    kinds[index], arguments[index] = UNLOCK, maze.neighbors[edge]
                    kinds[index - 1], arguments[index - 1] = USE, maze.door_keys[door]
            index -= 1
        index -= 1
        state = previous


@kernel
def find_plan(maze: MazeTables, work: Work, plan: Ints32) -> tuple[int, bool]:
    """Write the shortest plan into ``plan`` (kinds and arguments); return its length and whether it is
    unique.

    The length is NO_ROOM if the work space is too small. Rows of ``plan`` must be at least half as long as
    ``work.numbers``, which then always suffices: a state takes more numbers than that.
    """
    n_keys = len(maze.key_rooms)
    held = work.numbers[:n_keys]
    held[:] = 0
    found = shortest(maze, held, MAX_PAIRS, Work(work.numbers[n_keys:], work.pairs))
    if found.length <= 0:
        return found.length, False
    _trace(maze, found, plan[0], plan[1])
    return found.length, found.tree and found.states.several[found.last] == 0


def shortest_plan(maze: Any) -> Search:
    """The shortest plan of a maze, exact within the limits. ``maze`` has the fields of `MazeTables`."""
    from relfast_kernels.compiled import native

    problem, pairs, told = _problem(maze), np.empty((MAX_PAIRS, 2), np.int64), np.empty(1, np.int64)
    size = _PER_PLACE * (len(maze.first_edge) + len(maze.neighbors) + len(maze.key_rooms) + 1)
    while True:
        numbers, plan = np.empty(size, np.int32), np.empty((2, size), np.int32)
        length = native.functions("maze")["solve"](
            Solving(problem=problem, numbers=numbers, pairs=pairs, plan=plan, is_unique=told)
        )
        if length != NO_ROOM:
            break
        size *= 8
    return Search(length, bool(told[0]), *(row[: max(length, 0)].tolist() for row in plan))


def _problem(maze: Any) -> Ints32:
    """A maze packed as a problem without names and gold, as `unpack` reads it."""
    parts = maze.first_edge, maze.neighbors, maze.doors, maze.door_keys, maze.key_rooms
    counts = len(maze.first_edge) - 1, len(maze.neighbors), len(maze.door_keys), len(maze.key_rooms)
    header = Fact._make((*counts, maze.start, maze.goal, *[0] * 9, HEADER + sum(map(len, parts))))
    return np.concatenate([header, *parts], dtype=np.int32)
