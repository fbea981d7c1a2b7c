"""Problems as one array of numbers: `relfast_kernels.maze.columns` says what stands where."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import LEGAL, UNSOLVABLE
from relfast_kernels.maze.columns import (
    BEST,
    GOAL_ROOM,
    GOLD_IS_BEST,
    HEADER,
    MAX_PAIRS,
    N_DISTINCT,
    N_DOORS,
    N_EDGES,
    N_GOLD,
    N_KEYS,
    N_NAME_BYTES,
    N_NAMES,
    N_ROOMS,
    N_SLOTS,
    NO_ROOM,
    SHORTEST,
    START_ROOM,
)
from relfast_kernels.maze.judge import first_violation, step_code
from relfast_kernels.maze.search import shortest
from relfast_kernels.maze.tables import GoldTables, MazeTables, NameTables, fill_slots


@kernel
def unpack(problem: NDArray[np.int32]) -> Any:
    """A problem's maze, kinds and arguments of its gold, its names, and the tables of its gold."""
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
    return (
        MazeTables(
            first_edge,
            neighbors,
            doors,
            door_keys,
            key_rooms,
            int(problem[START_ROOM]),
            int(problem[GOAL_ROOM]),
        ),
        kinds,
        arguments,
        NameTables(text, ends, slots),
        GoldTables(codes, distinct, counts, places),
    )


@kernel
def _sort(values: NDArray[np.int32], n: int) -> None:
    """Shell's sort, in place."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, n):
            value = values[at]
            to = at
            while to >= gap and values[to - gap] > value:
                values[to] = values[to - gap]
                to -= gap
            values[to] = value
        gap //= 3


@kernel
def settle(problem: NDArray[np.int32], numbers: NDArray[np.int32], pairs: NDArray[np.int64]) -> bool:
    """Fill in what a problem's maker leaves; False where the work space does not suffice."""
    n_gold = int(problem[N_GOLD])
    problem[N_DISTINCT] = n_gold  # as long as the room for them
    maze, kinds, arguments, names, gold = unpack(problem)
    n_keys, n_doors = len(maze.key_rooms), len(maze.door_keys)
    if len(numbers) < n_keys + n_doors:
        return False
    held, opened = numbers[:n_keys], numbers[n_keys : n_keys + n_doors]
    held[:] = 0
    found = shortest(maze, held, MAX_PAIRS, numbers[n_keys:], pairs)
    if found.length == NO_ROOM:
        return False
    fill_slots(names.text, names.ends, names.slots)
    for index in range(n_gold):
        code = step_code(kinds[index], arguments[index])
        gold.codes[index] = code
        gold.distinct[index] = code
    _sort(gold.distinct, n_gold)
    n_distinct = 0
    for index in range(n_gold):
        code = int(gold.distinct[index])
        if n_distinct > 0 and gold.distinct[n_distinct - 1] == code:
            gold.counts[n_distinct - 1] += 1
        else:
            gold.distinct[n_distinct] = code
            gold.counts[n_distinct] = 1
            n_distinct += 1
    for index in range(n_gold):
        low, high = 0, n_distinct
        while low < high:
            middle = (low + high) // 2
            if gold.distinct[middle] < gold.codes[index]:
                low = middle + 1
            else:
                high = middle
        gold.places[index] = low
    held[:] = 0
    opened[:] = 0
    violation, _, _, _ = first_violation(maze, kinds, arguments, opened, held, 1)
    solved = found.length > UNSOLVABLE
    problem[N_DISTINCT] = n_distinct
    problem[SHORTEST] = found.length
    problem[BEST] = found.length if solved else n_gold
    problem[GOLD_IS_BEST] = violation == LEGAL and found.length == n_gold
    return True
