"""The part of a maze that a search looks at, and where a search does its work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import NO_DOOR, NO_KEY
from relfast_kernels.maze.tables import MazeTables


@kernel
def walk_tree(maze: MazeTables, parents: NDArray[np.int32], queue: NDArray[np.int32]) -> bool:
    """Parents of all rooms connected with the start, locked doors ignored; False if there is a cycle.

    ``parents`` (rooms, int32) receives the next room towards the start, the start itself for the start,
    -1 for rooms elsewhere. ``queue`` (rooms, int32) is work space.
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
    parents: NDArray[np.int32],
    alive: NDArray[np.int32],
    needed: NDArray[np.int32],
    pending: NDArray[np.int32],
) -> bool:
    """In a tree: rooms on the way to the goal and to each needed key, and these keys.

    Returns False where something needed cannot be had. ``pending`` (keys + 1) is work space.
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


class Part(NamedTuple):
    """The part of a maze that a search looks at.

    ``rooms``: its rooms; ``places``: place of each room among them or -1; ``keys``: its keys;
    ``key_bits``, ``door_bits``: bit of each key and door of the maze, or -1 where it does not matter.
    """

    rooms: NDArray[np.int32]
    places: NDArray[np.int32]
    keys: NDArray[np.int32]
    key_bits: NDArray[np.int32]
    door_bits: NDArray[np.int32]
    n_doors: int


@kernel
def select(
    maze: MazeTables, alive: NDArray[np.int32], wanted: NDArray[np.int32], room: NDArray[np.int32]
) -> Part:
    """The part with these rooms and keys, and the doors between these rooms that these keys open.

    ``room`` (int32, `part_size` of them) is where it is put.
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
    return Part(rooms[:n_alive], places, keys[:n_wanted], key_bits, door_bits, n_chosen)


@kernel
def part_size(maze: MazeTables) -> int:
    """Numbers that the part of a maze takes at most."""
    return 2 * (len(maze.first_edge) - 1) + 2 * len(maze.key_rooms) + len(maze.door_keys)
