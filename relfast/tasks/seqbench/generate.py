"""New SeqBench instances with chosen logical depth, backtracking and noise, in the dataset's own schema.

A row is a pure function of its maze seed and the parameters; the maze depends on neither noise, shuffling
nor names, so variants of one seed are variants of one maze.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from relfast.errors import UsageError
from relfast.tasks.seqbench.actions import CODES
from relfast.tasks.seqbench.grid import grid
from relfast.tasks.seqbench.maze import edge_lists
from relfast.tasks.seqbench.parameters import Parameters
from relfast.tasks.seqbench.rows import Growth, Lock, write_row

ATTEMPTS_PER_TREE: Final = 40
"""Placements of doors and keys tried in one tree before another is grown."""

MAX_TREES: Final = 1_000
"""Trees tried for one row: 40,000 placements, some seconds on a 40 × 40 grid."""

MAX_SEED: Final = 10**12

SEEDS_PER_RUN: Final = 1_000_000
"""Maze seeds of run ``seed`` are seed × this + 0, 1, 2, …, so that the rows of different runs differ."""

NAMES: Final = (
    "Alice", "Bob", "Carol", "David", "Emma", "Frank", "Grace", "Henry", "Irene", "Jack", "Karen", "Liam",
    "Mona", "Nora", "Oscar", "Paula", "Quentin", "Rosa", "Samuel", "Tina",
)  # fmt: skip
"""Where ``names="random"`` takes agent and target from."""

KEY_NUMBERS: Final = 99
"""Keys bear numbers from 1 to this, as in the published rows."""

_MAZE_STREAM, _TEXT_STREAM, _NAME_STREAM = range(3)


def make_rows(n: int = 1, seed: int = 0, **parameters: Any) -> Iterator[dict[str, Any]]:
    """Rows in the dataset card's schema; `Parameters` lists the keywords. The same seed gives the same rows.

    Raises
    ------
    UsageError
        A parameter is out of range, or the grid cannot carry B and L.
    """
    settings = Parameters(**parameters)
    if settings.cover:
        raise UsageError("cover makes files of many mazes: relfast.tasks.seqbench.bulk.write_rows")
    check_run(n, seed)
    return (make_row(maze_seed(seed, index), settings) for index in range(n))


def check_run(n: int, seed: int) -> None:
    """Raise UsageError unless a run can have so many mazes and that seed."""
    if not 0 <= n <= SEEDS_PER_RUN:
        raise UsageError(f"n must be from 0 to {SEEDS_PER_RUN}, not {n}")
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(f"seed must be from 0 to {MAX_SEED}, not {seed}")


def maze_seed(seed: int, index: int) -> int:
    """The maze seed of the run's maze number ``index``; it stands in the row's id."""
    return seed * SEEDS_PER_RUN + index


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """The task's generator: see `make_rows`. ``tell`` is not called: nothing here takes long."""
    return make_rows(n, seed, **parameters)


def make_row(seed: int, settings: Parameters) -> dict[str, Any]:
    """The row of one maze seed.

    Raises
    ------
    UsageError
        No maze with these parameters was found.
    """
    names = settings.names
    if isinstance(names, str):
        picks = np.random.Generator(np.random.PCG64([seed, _NAME_STREAM])).random(len(NAMES))
        agent, target = np.argsort(picks, kind="stable")[:2].tolist()
        names = NAMES[agent], NAMES[target]
    return write_row(
        grow(seed, settings).without_keys(settings.remove_keys),
        f"{seed}_rkc{settings.remove_keys}_n{float(settings.N)}",
        names,
        float(settings.N),
        settings.mixed,
        (seed, _TEXT_STREAM),
    )


def grow(seed: int, settings: Parameters, trees: int = MAX_TREES) -> Growth:
    """The maze of a seed, all keys in place. Every number of removed keys leaves one shortest plan.

    ``trees`` is how many are tried.

    Raises
    ------
    UsageError
        No maze with these parameters was found.
    """
    from relfast_kernels.maze.growth import DRAWS_PER_POINT, rewind, spanning_tree

    rows, cols = settings.size
    cells = grid(rows, cols)
    fewest, most = settings.moves
    draws = np.random.Generator(np.random.PCG64([seed, _MAZE_STREAM]))
    for _ in range(trees):
        order = np.argsort(draws.random(len(cells.edges)), kind="stable")
        chosen = spanning_tree(cells.edges, order, cells.n_rooms)
        first_edge, neighbors, edges = edge_lists(cells.n_rooms, cells.edges[chosen], chosen)
        for _ in range(ATTEMPTS_PER_TREE):
            placing = draws.random((settings.B + 2) * DRAWS_PER_POINT)
            moves, points, doors = rewind(first_edge, neighbors, settings.B, fewest, most, placing)
            if not moves:
                continue
            keys = np.argsort(draws.random(KEY_NUMBERS), kind="stable")[: settings.B] + 1
            growth = Growth(
                cells,
                chosen,
                first_edge,
                neighbors,
                edges,
                tuple(
                    Lock(cells.edge_of[min(pair), max(pair)], key, room)
                    for pair, key, room in zip(
                        map(tuple, doors.tolist()), keys.tolist(), points[1:-1].tolist(), strict=True
                    )
                ),
                start=int(points[-1]),
                goal=int(points[0]),
            )
            removal = np.argsort(draws.random(settings.B), kind="stable").tolist()
            growth = replace(growth, locks=tuple(growth.locks[at] for at in removal))
            if _is_sound(growth, moves + settings.extra, settings.B):
                return growth
    raise UsageError(
        f"no {rows} × {cols} maze with B={settings.B} and L={settings.L} was found in"
        f" {trees * ATTEMPTS_PER_TREE} attempts: take a larger grid, or another L or B"
    )


def _is_sound(growth: Growth, length: int, n_doors: int) -> bool:
    """Whether the search finds what was built, and one shortest plan however many keys are removed."""
    solution = growth.solve()
    if len(solution.kinds) != length or solution.kinds.count(CODES["unlock_and_open_door_to"]) != n_doors:
        return False
    return solution.unique and all(
        growth.without_keys(count).solve().unique for count in range(1, n_doors + 1)
    )
