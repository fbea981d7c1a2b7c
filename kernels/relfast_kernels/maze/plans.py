"""Shortest plans, for callers that have arrays of numpy: the search of `relfast_kernels.maze.search` with
memory of its own, and the way that it found."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import MOVE, NO_DOOR, PICK_UP, RESCUE, START, UNLOCK, USE
from relfast_kernels.maze.columns import MAX_PAIRS, NO_ROOM
from relfast_kernels.maze.search import Found, remaining, shortest
from relfast_kernels.maze.tables import MazeTables

_PER_PLACE: Final = 256
"""Numbers of work space that are tried first, for each room and each edge: enough for 32 pairs."""


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
def _trace(maze: MazeTables, found: Found) -> Search:
    """The plan that leads to the last state."""
    part, pairs = found.part, found.states.pairs
    width = len(part.rooms)
    length = found.length
    kinds = np.empty(length, np.int32)
    arguments = np.empty(length, np.int32)
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
                if door != NO_DOOR and part.door_bits[door] >= 0 and unlocked == 1 << part.door_bits[door]:
                    kinds[index], arguments[index] = UNLOCK, maze.neighbors[edge]
                    kinds[index - 1], arguments[index - 1] = USE, maze.door_keys[door]
            index -= 1
        index -= 1
        state = previous
    return Search(length, found.tree and found.states.several[found.last] == 0, kinds, arguments)


@kernel
def _first_size(maze: MazeTables) -> int:
    return _PER_PLACE * (len(maze.first_edge) + len(maze.neighbors) + len(maze.key_rooms) + 1)


@kernel
def shortest_plan(maze: MazeTables) -> Search:
    """The shortest plan, exact for any maze within the limits."""
    pairs = np.empty((MAX_PAIRS, 2), np.int64)
    held = np.zeros(len(maze.key_rooms), np.int32)
    size = _first_size(maze)
    while True:
        found = shortest(maze, held, MAX_PAIRS, np.empty(size, np.int32), pairs)
        if found.length != NO_ROOM:
            break
        size *= 8
    if found.length <= 0:
        nothing = np.empty(0, np.int32)
        return Search(found.length, False, nothing, nothing)
    return _trace(maze, found)


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
    pairs = np.empty((MAX_PAIRS, 2), np.int64)
    size = _first_size(maze)
    while True:
        length = remaining(maze, room, key_in_use, opened, held, stamp, np.empty(size, np.int32), pairs)
        if length != NO_ROOM:
            return length
        size *= 8
