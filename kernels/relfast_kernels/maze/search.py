"""The shortest plan through a maze, by breadth-first search over (room, doors opened, keys held).

Pairs of (doors opened, keys held) are met one by one and kept in a short list, so that the states are
rows of a table rooms × pairs. In a tree, the doors and keys that any plan needs follow from the paths
between rooms: only these are searched, and a needed key is picked up at the first visit. There the
number of shortest paths is the number of shortest plans up to the time of picking keys up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
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
from relfast_kernels.maze.tables import MazeTables, corridor

MAX_SWITCHES: Final = 60
"""Doors, and keys, that a search keeps apart (bits of an int64; published mazes have at most 8)."""

MAX_PAIRS: Final = 1024
"""Pairs of a search: they are looked through one by one. A maze with 6 doors has at most 2^12, of which a
tree's plan meets some 20."""

MAX_STATES: Final = 1 << 22
"""States of a search: 90 MB of tables. A 40 × 40 maze with 5 doors has some thousand."""

MAX_PAIRS_ON: Final = 256
"""Pairs of a search for the way on from a state: there are as many such searches as plans that fail."""

_FEW_PAIRS: Final = 32
"""Pairs that are tried first: enough for a chain of 15 doors."""


class Search(NamedTuple):
    """What a search found.

    ``length``: actions of the shortest plan, start and rescue included, or UNSOLVABLE or TOO_LARGE.
    ``unique``: whether every plan of that length is the same up to the time of picking keys up (False
    where that is not known: mazes with cycles). ``kinds``, ``arguments`` (int32): the plan.
    """

    length: int
    unique: bool
    kinds: NDArray[np.int32]
    arguments: NDArray[np.int32]


@kernel
def walk_tree(maze: MazeTables, parents: NDArray[np.int32]) -> bool:
    """Parents of all rooms connected with the start, locked doors ignored; False if there is a cycle.

    ``parents`` (rooms, int32) receives the next room towards the start, the start itself for the start,
    -1 for rooms elsewhere.
    """
    parents[:] = -1
    parents[maze.start] = maze.start
    queue = np.empty(len(parents), np.int32)
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
def _mark_needed(
    maze: MazeTables, parents: NDArray[np.int32], alive: NDArray[np.uint8], needed: NDArray[np.uint8]
) -> bool:
    """In a tree: rooms on the way to the goal and to each needed key, and these keys.

    Returns False where something needed cannot be had.
    """
    pending = np.empty(len(maze.key_rooms) + 1, np.int32)
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


@kernel
def _failure(length: int) -> Search:
    nothing = np.empty(0, np.int32)
    return Search(length, False, nothing, nothing)


class _Part(NamedTuple):
    """The part of a maze that a search looks at.

    ``rooms``: its rooms; ``places``: place of each room among them or -1; ``keys``: its keys;
    ``key_bits``, ``door_bits``: bit of each key and door of the maze, or -1 where it does not matter.
    """

    rooms: NDArray[np.int64]
    places: NDArray[np.int32]
    keys: NDArray[np.int64]
    key_bits: NDArray[np.int32]
    door_bits: NDArray[np.int32]
    n_doors: int


@kernel
def _select(maze: MazeTables, alive: NDArray[np.uint8], wanted: NDArray[np.uint8]) -> _Part:
    """The part with these rooms and keys, and the doors between these rooms that these keys open."""
    rooms = np.flatnonzero(alive)
    places = np.full(len(alive), -1, np.int32)
    for place in range(len(rooms)):
        places[rooms[place]] = place
    keys = np.flatnonzero(wanted)
    key_bits = np.full(len(wanted), -1, np.int32)
    for bit in range(len(keys)):
        key_bits[keys[bit]] = bit
    door_bits = np.full(len(maze.door_keys), -1, np.int32)
    n_doors = 0
    for room in rooms:
        for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
            door = maze.doors[edge]
            if door == NO_DOOR or door_bits[door] >= 0 or places[maze.neighbors[edge]] < 0:
                continue
            if maze.door_keys[door] != NO_KEY and wanted[maze.door_keys[door]]:
                door_bits[door] = n_doors
                n_doors += 1
    return _Part(rooms, places, keys, key_bits, door_bits, n_doors)


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
    depth_of: NDArray[np.int32],
    before: NDArray[np.int32],
    several: NDArray[np.uint8],
    buckets: NDArray[np.int32],
    sizes: NDArray[np.int64],
) -> None:
    """Note a way from one state to another, whose depth it may lower."""
    if depth_of[to] == 0 or depth < depth_of[to]:
        depth_of[to] = depth
        before[to] = state
        several[to] = several[state]
        bucket = depth % 3
        buckets[bucket, sizes[bucket]] = to
        sizes[bucket] += 1
    elif depth == depth_of[to]:
        several[to] = 1


@kernel
def _trace(
    maze: MazeTables,
    part: _Part,
    pairs: NDArray[np.int64],
    depth_of: NDArray[np.int32],
    before: NDArray[np.int32],
    several: NDArray[np.uint8],
    last: int,
) -> Search:
    """The plan that leads to the last state."""
    width = len(part.rooms)
    length = depth_of[last] + 1
    kinds = np.empty(length, np.int32)
    arguments = np.empty(length, np.int32)
    kinds[length - 1], arguments[length - 1] = RESCUE, 0
    kinds[0], arguments[0] = START, maze.start
    index = length - 2
    state = last
    while before[state] >= 0:
        previous = before[state]
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
                if door != NO_DOOR and part.door_bits[door] >= 0 and unlocked == 1 << part.door_bits[door]:
                    kinds[index], arguments[index] = UNLOCK, maze.neighbors[edge]
                    kinds[index - 1], arguments[index - 1] = USE, maze.door_keys[door]
            index -= 1
        index -= 1
        state = previous
    return Search(length, several[last] == 0, kinds, arguments)


@kernel
def _search(maze: MazeTables, part: _Part, in_hand: int, eager: bool, max_pairs: int) -> Search:
    """Breadth-first search that meets at most ``max_pairs`` pairs; TOO_LARGE if there are more.

    ``in_hand``: bits of the keys held from the start. ``eager``: keys are picked up at the first visit
    (right where every key of the part is needed).
    """
    width = len(part.rooms)
    pairs = np.zeros((max_pairs, 2), np.int64)
    pairs[0, 1] = in_hand
    n_pairs = 1
    # a state is pair × width + place; opening a door takes two actions, hence three buckets
    depth_of = np.zeros(max_pairs * width, np.int32)
    before = np.full(max_pairs * width, -1, np.int32)
    several = np.zeros(max_pairs * width, np.uint8)
    buckets = np.empty((3, max_pairs * width), np.int32)
    sizes = np.zeros(3, np.int64)
    origin = part.places[maze.start]
    depth_of[origin] = 1
    buckets[1, 0] = origin
    sizes[1] = 1
    depth = 1
    state = -1
    while sizes.sum() > 0:
        bucket = depth % 3
        for at in range(sizes[bucket]):
            state = buckets[bucket, at]
            if depth_of[state] != depth:
                continue  # reached sooner on another way
            pair = state // width
            room = part.rooms[state - pair * width]
            if room == maze.goal:
                return _trace(maze, part, pairs, depth_of, before, several, state)
            opened, held = pairs[pair, 0], pairs[pair, 1]
            picking = False
            for bit in range(len(part.keys)):
                if maze.key_rooms[part.keys[bit]] != room or held >> bit & 1 or (eager and picking):
                    continue
                picking = True
                to = _find_pair(pairs, n_pairs, opened, held | 1 << bit)
                if to == n_pairs:
                    if n_pairs == max_pairs:
                        return _failure(TOO_LARGE)
                    pairs[to, 0], pairs[to, 1] = opened, held | 1 << bit
                    n_pairs += 1
                _reach(
                    state, state + (to - pair) * width, depth + 1, depth_of, before, several, buckets, sizes
                )
            if eager and picking:
                continue
            for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
                place = part.places[maze.neighbors[edge]]
                if place < 0:
                    continue
                door = maze.doors[edge]
                bit = 0 if door == NO_DOOR else part.door_bits[door]
                if door == NO_DOOR or (bit >= 0 and opened >> bit & 1):
                    _reach(state, pair * width + place, depth + 1, depth_of, before, several, buckets, sizes)
                elif bit >= 0 and held >> part.key_bits[maze.door_keys[door]] & 1:
                    to = _find_pair(pairs, n_pairs, opened | 1 << bit, held)
                    if to == n_pairs:
                        if n_pairs == max_pairs:
                            return _failure(TOO_LARGE)
                        pairs[to, 0], pairs[to, 1] = opened | 1 << bit, held
                        n_pairs += 1
                    to_state = state + (to - pair) * width
                    _reach(state, to_state, depth + 2, depth_of, before, several, buckets, sizes)
        sizes[bucket] = 0
        depth += 1
    return _failure(UNSOLVABLE)


@kernel
def _shortest(maze: MazeTables, held: NDArray[np.uint8], most_pairs: int) -> Search:
    """The shortest plan of who holds the keys with 1 in ``held``, which lie in the first room."""
    n_rooms = len(maze.first_edge) - 1
    alive = np.zeros(n_rooms, np.uint8)
    wanted = np.zeros(len(maze.key_rooms), np.uint8)
    parents = np.empty(n_rooms, np.int32)
    tree = walk_tree(maze, parents)
    if tree:
        if not _mark_needed(maze, parents, alive, wanted):
            return _failure(UNSOLVABLE)
    else:
        alive[:] = 1
        for key in maze.door_keys:
            if key != NO_KEY and maze.key_rooms[key] >= 0:
                wanted[key] = 1
    part = _select(maze, alive, wanted)
    if len(part.keys) > MAX_SWITCHES or part.n_doors > MAX_SWITCHES:
        return _failure(TOO_LARGE)
    in_hand = 0
    for bit in range(len(part.keys)):
        if held[part.keys[bit]]:
            in_hand |= 1 << bit
    most = max(min(MAX_STATES // len(part.rooms), most_pairs), 1)
    max_pairs = min(_FEW_PAIRS, most)
    while True:
        found = _search(maze, part, in_hand, tree, max_pairs)
        if found.length != TOO_LARGE or max_pairs == most:
            break
        max_pairs = min(8 * max_pairs, most)
    if tree:
        return found
    return Search(found.length, False, found.kinds, found.arguments)


@kernel
def shortest_plan(maze: MazeTables) -> Search:
    """The shortest plan, exact for any maze within the limits."""
    return _shortest(maze, np.zeros(len(maze.key_rooms), np.uint8), MAX_PAIRS)


@kernel
def remaining_actions(
    maze: MazeTables,
    room: int,
    key_in_use: int,
    opened: NDArray[np.int32],
    held: NDArray[np.int32],
    stamp: int,
) -> int:
    """Actions of the shortest way on from a state, the rescue included; UNSOLVABLE or TOO_LARGE without one.

    Parameters
    ----------
    room, key_in_use
        Where the agent is, and the key (or NO_KEY) that the action before put to use.
    opened, held
        Doors and keys: an entry equal to ``stamp`` says opened or held.
    """
    room = int(room)  # as wide as the tables' start, so that nothing is compiled twice
    doors = maze.doors.copy()
    for edge in range(len(doors)):
        if doors[edge] != NO_DOOR and opened[doors[edge]] == stamp:
            doors[edge] = NO_DOOR
    key_rooms = maze.key_rooms.copy()
    in_hand = np.zeros(len(key_rooms), np.uint8)
    for key in range(len(key_rooms)):
        if held[key] == stamp:
            key_rooms[key] = room
            in_hand[key] = 1
    rest = MazeTables(maze.first_edge, maze.neighbors, doors, maze.door_keys, key_rooms, room, maze.goal)
    best = _shortest(rest, in_hand, MAX_PAIRS_ON).length
    if best > 0:
        best -= 1  # it counts a start
    if key_in_use == NO_KEY:
        return best
    # the key is in use: a door here takes one action where the search counts two
    for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
        door = doors[edge]
        if door == NO_DOOR or maze.door_keys[door] != key_in_use:
            continue
        open_too = doors.copy()
        for other in range(len(doors)):
            if doors[other] == door:
                open_too[other] = NO_DOOR
        behind = MazeTables(
            rest.first_edge, rest.neighbors, open_too, rest.door_keys, key_rooms, rest.start, rest.goal
        )
        length = _shortest(behind, in_hand, MAX_PAIRS_ON).length
        if length > 0 and (best <= 0 or length < best):
            best = length  # one for the door, and no start
    return best


def warm_up() -> None:
    """Compile everything here for the types that callers use."""
    shortest_plan(corridor())
    nothing = np.zeros(1, np.int32)
    remaining_actions(corridor(), 0, NO_KEY, nothing, nothing, 1)
