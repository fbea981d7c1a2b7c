"""Mazes with locked doors as arrays, and what plans are held against.

A maze is a graph of rooms; edges may carry a locked door; each door has one key, each key lies in one room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
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
    """A gold plan: (action, argument) of each step as one code, `judge.step_code`; the distinct codes,
    sorted, with how often each occurs; and where among them each step's code is. All int32."""

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
