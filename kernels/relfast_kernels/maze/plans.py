"""Shortest plans, for callers that have arrays of numpy: the search of `relfast_kernels.maze.search` with
memory of its own, and the way that it found."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import MOVE, NO_DOOR, PICK_UP, RESCUE, START, UNLOCK, USE
from relfast_kernels.maze.columns import HEADER, MAX_PAIRS, NO_ROOM, header_of
from relfast_kernels.maze.search import Found, shortest
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
def _trace(maze: MazeTables, found: Found, kinds: NDArray[np.int32], arguments: NDArray[np.int32]) -> None:
    """Write the plan that leads to the last state."""
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
                if door != NO_DOOR and part.door_bits[door] >= 0 and unlocked == 1 << part.door_bits[door]:
                    kinds[index], arguments[index] = UNLOCK, maze.neighbors[edge]
                    kinds[index - 1], arguments[index - 1] = USE, maze.door_keys[door]
            index -= 1
        index -= 1
        state = previous


@kernel
def find_plan(
    maze: MazeTables, numbers: NDArray[np.int32], pairs: NDArray[np.int64], plan: NDArray[np.int32]
) -> tuple[int, bool]:
    """Length of the shortest plan, which goes to ``plan`` (kinds and arguments), and whether it is unique.

    ``numbers`` (int32) and ``pairs`` (int64, MAX_PAIRS × 2) are work space; the length is NO_ROOM where it
    does not suffice. ``plan`` is half as wide as ``numbers`` at least: a state takes more of them.
    """
    n_keys = len(maze.key_rooms)
    held = numbers[:n_keys]
    held[:] = 0
    found = shortest(maze, held, MAX_PAIRS, numbers[n_keys:], pairs)
    if found.length <= 0:
        return found.length, False
    _trace(maze, found, plan[0], plan[1])
    return found.length, found.tree and found.states.several[found.last] == 0


def shortest_plan(maze: MazeTables) -> Search:
    """The shortest plan, exact for any maze within the limits."""
    problem, pairs, told = _problem(maze), np.empty((MAX_PAIRS, 2), np.int64), np.empty(1, np.int64)
    size = _PER_PLACE * (len(maze.first_edge) + len(maze.neighbors) + len(maze.key_rooms) + 1)
    while True:
        numbers, plan = np.empty(size, np.int32), np.empty((2, size), np.int32)
        length = _functions()["solve"](
            problem.ctypes.data, problem.size, numbers.ctypes.data, size, pairs.ctypes.data, plan.ctypes.data,
            told.ctypes.data,
        )  # fmt: skip
        if length != NO_ROOM:
            break
        size *= 8
    return Search(length, bool(told[0]), *(row[: max(length, 0)].copy() for row in plan))


def validate_plans(
    maze: MazeTables, kinds: NDArray[np.int32], arguments: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """First violation of each plan offsets[i]:offsets[i+1]: codes (LEGAL = none) and indices, int32."""
    problem, n = _problem(maze), len(offsets) - 1
    found = np.empty((2, n), np.int32)
    state = np.zeros(len(maze.door_keys) + len(maze.key_rooms), np.int32)
    kinds, arguments = np.ascontiguousarray(kinds, np.int32), np.ascontiguousarray(arguments, np.int32)
    offsets = np.ascontiguousarray(offsets, np.int64)
    _functions()["validate"](
        problem.ctypes.data, problem.size, kinds.ctypes.data, arguments.ctypes.data, kinds.size,
        offsets.ctypes.data, n, found.ctypes.data, state.ctypes.data,
    )  # fmt: skip
    return found[0], found[1]


def _problem(maze: MazeTables) -> NDArray[np.int32]:
    """A maze alone, without names and gold, as `relfast_kernels.maze.packed.unpack` reads it."""
    counts = len(maze.first_edge) - 1, len(maze.neighbors), len(maze.door_keys), len(maze.key_rooms)
    size = HEADER + sum(map(len, maze[:5]))
    header = header_of(*counts, maze.start, maze.goal, 0, 0, 0, 0, size)
    problem = np.concatenate([header, [0] * (HEADER - len(header)), *maze[:5]], dtype=np.int32)
    return problem


def _functions() -> Any:
    from relfast_kernels.compiled import native

    return native.functions("maze")
