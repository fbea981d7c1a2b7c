"""The length of the shortest plan through a maze, by breadth-first search over (room, doors opened, keys
held).

Pairs of (doors opened, keys held) are met one by one and kept in a short list, so that the states are
rows of a table rooms × pairs. In a tree, the doors and keys that any plan needs follow from the paths
between rooms: only these are searched, and a needed key is picked up at the first visit. There the
number of shortest paths is the number of shortest plans up to the time of picking keys up.

Nothing here takes memory: the work is done where the caller says, and where that does not suffice the length
is NO_ROOM."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import NO_DOOR, NO_KEY, TOO_LARGE, UNSOLVABLE
from relfast_kernels.maze.columns import NO_ROOM
from relfast_kernels.maze.part import Part, mark_needed, part_size, select, walk_tree
from relfast_kernels.maze.tables import MazeTables

MAX_SWITCHES: Final = 60
"""Doors, and keys, that a search keeps apart (bits of an int64; published mazes have at most 8)."""

MAX_STATES: Final = 1 << 22
"""States of a search: 100 MB of tables. A 40 × 40 maze with 5 doors has some thousand."""

MAX_PAIRS_ON: Final = 256
"""Pairs of a search for the way on from a state: there are as many such searches as plans that fail."""

_FEW_PAIRS: Final = 32
"""Pairs that are tried first: enough for a chain of 15 doors."""

_STATE_NUMBERS: Final = 6
"""Of a state: depth, the state before, whether several ways lead to it, and its places in three buckets."""


class States(NamedTuple):
    """Tables of states, and the pairs that they are of: see `_search`."""

    depth_of: NDArray[np.int32]
    before: NDArray[np.int32]
    several: NDArray[np.int32]
    pairs: NDArray[np.int64]


class Found(NamedTuple):
    """What a search found.

    ``length``: actions of the shortest plan, start and rescue included, or UNSOLVABLE, TOO_LARGE or NO_ROOM;
    the state it ends with; whether the maze is a tree; and what the way can be traced in.
    """

    length: int
    last: int
    tree: bool
    part: Part
    states: States


@kernel
def _find_pair(pairs: NDArray[np.int64], n_pairs: int, opened: int, held: int) -> int:
    """Row of (opened, held) among the pairs met so far; n_pairs if it is new."""
    for pair in range(n_pairs):
        if pairs[pair, 0] == opened and pairs[pair, 1] == held:
            return pair
    return n_pairs


@kernel
def _reach(
    state: int,
    to: int,
    depth: int,
    states: States,
    buckets: NDArray[np.int32],
    width: int,
    bucket: int,
    size: int,
) -> int:
    """Note a way from one state to another, whose depth it may lower; how many are in the bucket then."""
    if states.depth_of[to] == 0 or depth < states.depth_of[to]:
        states.depth_of[to] = depth
        states.before[to] = state
        states.several[to] = states.several[state]
        buckets[bucket * width + size] = to
        return size + 1
    if depth == states.depth_of[to]:
        states.several[to] = 1
    return size


@kernel
def _states(numbers: NDArray[np.int32], n_states: int, pairs: NDArray[np.int64]) -> States:
    return States(
        numbers[:n_states], numbers[n_states : 2 * n_states], numbers[2 * n_states : 3 * n_states], pairs
    )


@kernel
def _search(
    maze: MazeTables, part: Part, in_hand: int, eager: bool, max_pairs: int, states: States,
    buckets: NDArray[np.int32],
) -> tuple[int, int]:  # fmt: skip
    """Breadth-first search that meets at most ``max_pairs`` pairs; TOO_LARGE if there are more.

    ``in_hand``: bits of the keys held from the start. ``eager``: keys are picked up at the first visit
    (right where every key of the part is needed). Returns the length and the last state.
    """
    width = len(part.rooms)
    n_states = max_pairs * width
    pairs = states.pairs
    pairs[0, 0] = 0
    pairs[0, 1] = in_hand
    n_pairs = 1
    # a state is pair × width + place; opening a door takes two actions, hence three buckets
    states.depth_of[:] = 0
    origin = int(part.places[maze.start])
    states.depth_of[origin] = 1
    states.before[origin] = -1
    states.several[origin] = 0
    buckets[n_states] = origin
    here, next_one, next_two = 1, 0, 0
    depth = 1
    while here + next_one + next_two > 0:
        bucket, one, two = depth % 3, (depth + 1) % 3, (depth + 2) % 3
        for at in range(here):
            state = int(buckets[bucket * n_states + at])
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
                next_one = _reach(
                    state, state + (to - pair) * width, depth + 1, states, buckets, n_states, one, next_one
                )
            if eager and picking:
                continue
            for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
                place = int(part.places[maze.neighbors[edge]])
                if place < 0:
                    continue
                door = maze.doors[edge]
                bit = 0 if door == NO_DOOR else int(part.door_bits[door])
                if door == NO_DOOR or (bit >= 0 and opened >> bit & 1):
                    next_one = _reach(
                        state, pair * width + place, depth + 1, states, buckets, n_states, one, next_one
                    )
                elif bit >= 0 and held >> part.key_bits[maze.door_keys[door]] & 1:
                    to = _find_pair(pairs, n_pairs, opened | 1 << bit, held)
                    if to == n_pairs:
                        if n_pairs == max_pairs:
                            return TOO_LARGE, 0
                        pairs[to, 0], pairs[to, 1] = opened | 1 << bit, held
                        n_pairs += 1
                    next_two = _reach(
                        state,
                        state + (to - pair) * width,
                        depth + 2,
                        states,
                        buckets,
                        n_states,
                        two,
                        next_two,
                    )
        here, next_one, next_two = next_one, next_two, 0
        depth += 1
    return UNSOLVABLE, 0


@kernel
def shortest(
    maze: MazeTables,
    held: NDArray[np.int32],
    most_pairs: int,
    numbers: NDArray[np.int32],
    pairs: NDArray[np.int64],
) -> Found:
    """The shortest plan of who holds the keys with 1 in ``held``, which lie in the first room.

    ``numbers`` (int32) and ``pairs`` (int64, MAX_PAIRS × 2) are work space.
    """
    n_rooms, n_keys = len(maze.first_edge) - 1, len(maze.key_rooms)
    size = part_size(maze)
    first = size + 3 * n_rooms + 2 * n_keys + 1
    nothing = _states(numbers, 0, pairs)
    if len(numbers) < first:
        part = Part(numbers[:0], numbers[:0], numbers[:0], numbers[:0], numbers[:0], 0)
        return Found(NO_ROOM, 0, False, part, nothing)
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
        return Found(UNSOLVABLE, 0, tree, part, nothing)
    if len(part.keys) > MAX_SWITCHES or part.n_doors > MAX_SWITCHES:
        return Found(TOO_LARGE, 0, tree, part, nothing)
    in_hand = 0
    for bit in range(len(part.keys)):
        if held[part.keys[bit]]:
            in_hand |= 1 << bit
    most = max(min(MAX_STATES // len(part.rooms), most_pairs), 1)
    max_pairs = min(_FEW_PAIRS, most)
    while True:
        n_states = max_pairs * len(part.rooms)
        if first + _STATE_NUMBERS * n_states > len(numbers):
            return Found(NO_ROOM, 0, tree, part, nothing)
        states = _states(numbers[first:], n_states, pairs)
        buckets = numbers[first + 3 * n_states : first + _STATE_NUMBERS * n_states]
        length, last = _search(maze, part, in_hand, tree, max_pairs, states, buckets)
        if length != TOO_LARGE or max_pairs == most:
            return Found(length, last, tree, part, states)
        max_pairs = min(8 * max_pairs, most)


@kernel
def remaining(
    maze: MazeTables,
    room: int,
    key_in_use: int,
    opened: NDArray[np.int32],
    held: NDArray[np.int32],
    stamp: int,
    numbers: NDArray[np.int32],
    pairs: NDArray[np.int64],
) -> int:
    """Actions of the shortest way on from a state, the rescue included; UNSOLVABLE or TOO_LARGE without one.

    Parameters
    ----------
    room, key_in_use
        Where the agent is, and the key (or NO_KEY) that the action before put to use.
    opened, held
        Doors and keys: an entry equal to ``stamp`` says opened or held.
    numbers, pairs
        Work space as `shortest` has it; NO_ROOM where it does not suffice.
    """
    room = int(room)  # as wide as the tables' start, so that nothing is compiled twice
    n_edges, n_keys = len(maze.doors), len(maze.key_rooms)
    first = 2 * n_edges + 2 * n_keys
    if len(numbers) < first:
        return NO_ROOM
    doors, open_too = numbers[:n_edges], numbers[n_edges : 2 * n_edges]
    key_rooms, in_hand = numbers[2 * n_edges : 2 * n_edges + n_keys], numbers[2 * n_edges + n_keys : first]
    for edge in range(n_edges):
        door = maze.doors[edge]
        doors[edge] = NO_DOOR if door != NO_DOOR and opened[door] == stamp else door
    for key in range(n_keys):
        has = held[key] == stamp
        key_rooms[key] = room if has else maze.key_rooms[key]
        in_hand[key] = 1 if has else 0
    work = numbers[first:]
    rest = MazeTables(maze.first_edge, maze.neighbors, doors, maze.door_keys, key_rooms, room, maze.goal)
    best = shortest(rest, in_hand, MAX_PAIRS_ON, work, pairs).length
    if best == NO_ROOM:
        return NO_ROOM
    if best > 0:
        best -= 1  # it counts a start
    if key_in_use == NO_KEY:
        return best
    # the key is in use: a door here takes one action where the search counts two
    for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
        door = doors[edge]
        if door == NO_DOOR or maze.door_keys[door] != key_in_use:
            continue
        for other in range(n_edges):
            open_too[other] = NO_DOOR if doors[other] == door else doors[other]
        behind = MazeTables(
            rest.first_edge, rest.neighbors, open_too, rest.door_keys, key_rooms, rest.start, rest.goal
        )
        length = shortest(behind, in_hand, MAX_PAIRS_ON, work, pairs).length
        if length == NO_ROOM:
            return NO_ROOM
        if length > 0 and (best <= 0 or length < best):
            best = length  # one for the door, and no start
    return best
