"""Mazes with locked doors as arrays, and what plans are held against.

A maze is a graph of rooms; edges may carry a locked door; each door has one key, each key lies in one room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNSOLVABLE
from relfast_kernels.maze.layouts import (
    BEST,
    GOAL_ROOM,
    GOLD_IS_BEST,
    HEADER,
    N_DISTINCT,
    N_DOORS,
    N_EDGES,
    N_GOLD,
    N_KEYS,
    N_NAME_BYTES,
    N_NAMES,
    N_ROOMS,
    N_SLOTS,
    SHORTEST,
    START_ROOM,
)
from relfast_kernels.text.plans import hash_bytes


class MazeTables(NamedTuple):
    """A maze as arrays.

    Edges of room r are rows first_edge[r]:first_edge[r+1] of ``neighbors`` (the room behind) and ``doors``
    (door index or NO_DOOR); each passage is there from both sides. ``door_keys``: key of each door or NO_KEY.
    ``key_rooms``: room of each key or -1. ``start`` and ``goal`` are rooms. All arrays int32.
    """

    first_edge: NDArray[np.int32]
    neighbors: NDArray[np.int32]
    doors: NDArray[np.int32]
    door_keys: NDArray[np.int32]
    key_rooms: NDArray[np.int32]
    start: int
    goal: int


class NameTables(NamedTuple):
    """Names of a maze's things, for reading plans out of text.

    Thing t is called text[ends[t-1]:ends[t]] (UTF-8); rooms come first, then keys, then the person to
    rescue. ``slots`` (int32, a power of two, never full) holds things by `hash_bytes` of their name, with
    linear probing, -1 = free.
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int32]
    slots: NDArray[np.int32]


class GoldTables(NamedTuple):
    """A gold plan: action and argument of each step; both as one code, `judge.step_code`; the distinct codes,
    sorted, with how often each occurs; and where among them each step's code is. All int32."""

    kinds: NDArray[np.int32]
    arguments: NDArray[np.int32]
    codes: NDArray[np.int32]
    distinct: NDArray[np.int32]
    counts: NDArray[np.int32]
    places: NDArray[np.int32]


@kernel
def fill_slots(text: NDArray[np.uint8], ends: NDArray[np.int32], slots: NDArray[np.int32]) -> None:
    """Make the slots of `NameTables`: a power of two, twice as many as things or more."""
    slots[:] = -1
    mask = len(slots) - 1
    begin = 0
    for thing in range(len(ends)):
        slot = hash_bytes(text, begin, ends[thing]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = thing
        begin = int(ends[thing])


class Problem(NamedTuple):
    """What a plan is held against: a maze with its names and gold.

    ``best``: actions of the shortest plan; ``gold_is_best``: whether gold is such a plan; ``solved``: whether
    the search came to an end.
    """

    maze: MazeTables
    names: NameTables
    gold: GoldTables
    best: int
    gold_is_best: bool
    solved: bool


@kernel
def unpack(problem: NDArray[np.int32]) -> Problem:
    """A problem as `relfast_kernels.maze.layouts` packs it."""
    at = HEADER
    n_rooms, n_edges, n_gold = problem[N_ROOMS], problem[N_EDGES], problem[N_GOLD]
    n_doors, n_keys, n_names = problem[N_DOORS], problem[N_KEYS], problem[N_NAMES]
    n_slots, n_distinct = problem[N_SLOTS], problem[N_DISTINCT]
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
    text = problem[at:].view(np.uint8)[: problem[N_NAME_BYTES]]
    start, goal = int(problem[START_ROOM]), int(problem[GOAL_ROOM])
    return Problem(
        MazeTables(first_edge, neighbors, doors, door_keys, key_rooms, start, goal),
        NameTables(text, ends, slots),
        GoldTables(kinds, arguments, codes, distinct, counts, places),
        int(problem[BEST]),
        problem[GOLD_IS_BEST] != 0,
        problem[SHORTEST] > UNSOLVABLE,
    )
