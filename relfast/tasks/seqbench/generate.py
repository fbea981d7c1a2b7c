"""New SeqBench instances with chosen logical depth, backtracking and noise, in the dataset's own schema.

A row is a pure function of its maze seed and the parameters; the maze depends on neither noise, shuffling
nor names, so variants of one seed are variants of one maze.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from relfast.errors import UsageError
from relfast.tasks.seqbench.actions import CODES
from relfast.tasks.seqbench.grid import grid
from relfast.tasks.seqbench.maze import edge_lists
from relfast.tasks.seqbench.rows import Growth, Lock, write_row

ATTEMPTS_PER_TREE: Final = 40
"""Placements of doors and keys tried in one tree before another is grown."""

MAX_TREES: Final = 1_000
"""Trees tried for one row: 40,000 placements, some seconds on a 40 × 40 grid."""

SMALLEST_SIDE: Final = 10
"""Rows and columns where neither they nor L are given."""

ANY_LENGTH: Final = 1 << 30

MAX_SIDE: Final = 200
"""Rows or columns of the largest grid."""

MAX_DOORS: Final = 20
"""Locked doors of a maze; the published ones have at most 6."""

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


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the rows of a run have in common.

    Attributes
    ----------
    rows, cols
        Size of the grid. None takes the other one's value, or both as L and B need (10 × 10 at least).
    L
        Logical depth: a number, bounds (both included), or None for whatever comes. Hit exactly.
    B
        Backtracking count: locked doors on the way, each with a detour to its key. Hit exactly.
    N
        Noise ratio: the share of the distracting facts that is kept, rounded to whole facts.
    shuffle
        Mix the facts of the context; without it supporting facts come first, in the order of the path.
    names
        Agent and target, or ``"random"``.
    remove_keys
        Open so many of the B doors and take their keys away. L and B of the row are then what is left:
        L and B above are the whole maze's, which is that of the same seed without removals.
    """

    rows: int | None = None
    cols: int | None = None
    L: int | tuple[int, int] | None = None
    B: int = 2
    N: float = 0.0
    shuffle: bool = False
    names: tuple[str, str] | str = ("Bob", "Alice")
    remove_keys: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.B, int) or not 0 <= self.B <= MAX_DOORS:
            raise UsageError(f"B must be a whole number from 0 to {MAX_DOORS}, not {self.B!r}")
        for name, value in (("rows", self.rows), ("cols", self.cols)):
            if value is not None and not (isinstance(value, int) and 1 <= value <= MAX_SIDE):
                raise UsageError(f"{name} must be a whole number from 1 to {MAX_SIDE}, not {value!r}")
        if not 0 <= self.remove_keys <= self.B:
            raise UsageError(f"remove_keys must be from 0 to B = {self.B}, not {self.remove_keys!r}")
        if not 0 <= self.N <= 1:
            raise UsageError(f"N must be from 0 to 1, not {self.N!r}")
        low, high = self.moves
        if high < low:
            raise UsageError(
                f"no maze with B={self.B} has L={self.L}: with start, rescue, and detours, keys and doors it"
                f" takes {self.extra + self.fewest_moves} actions at least"
            )
        rows, cols = self.size
        if low > (self.B + 1) * (rows * cols - 1):
            raise UsageError(f"a {rows} × {cols} maze with B={self.B} is too small for L={self.L}")
        if self.names != "random" and not _are_names(self.names):
            raise UsageError(
                f"names must be 'random' or two different names without line breaks, full stops or"
                f" ' is in room ', not {self.names!r}"
            )

    @property
    def extra(self) -> int:
        """Actions that are no moves: start, rescue; pick up, use and unlock for each door."""
        return 2 + 3 * self.B

    @property
    def moves(self) -> tuple[int, int]:
        """Bounds of the moves of the shortest plan."""
        if self.L is None:
            return self.fewest_moves, ANY_LENGTH
        low, high = (self.L, self.L) if isinstance(self.L, int) else self.L
        return max(low - self.extra, self.fewest_moves), high - self.extra

    @property
    def fewest_moves(self) -> int:
        """One move, and two for each detour: into the key's room and out again."""
        return 1 + 2 * self.B

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        rows, cols = self.rows or self.cols, self.cols or self.rows
        if rows is not None and cols is not None:
            return rows, cols
        side = SMALLEST_SIDE
        if self.L is not None:
            # one leg of the walk is a path in a random tree, whose length grows like side^1.25
            leg = self.moves[1] / (self.B + 1)
            side = max(side, round(2 * leg**0.7), round(math.sqrt(3 * self.moves[1])))
        return min(side, MAX_SIDE), min(side, MAX_SIDE)


def _are_names(names: object) -> bool:
    return (
        isinstance(names, Sequence)
        and len(names) == 2
        and all(isinstance(name, str) and name.strip() == name != "" for name in names)
        and not any(bad in name for name in names for bad in (".", "\n", "\r", " is in room ", "\\"))
        and not any(name.startswith(("Key ", "Room ", "Door ", "The locked door ")) for name in names)
        and names[0] != names[1]
    )


def make_rows(n: int = 1, seed: int = 0, **parameters: Any) -> Iterator[dict[str, Any]]:
    """Rows in the dataset card's schema; `Parameters` lists the keywords. The same seed gives the same rows.

    Raises
    ------
    UsageError
        A parameter is out of range, or the grid cannot carry B and L.
    """
    settings = Parameters(**parameters)
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


def generate(task: str, n: int, seed: int, **parameters: Any) -> Iterator[dict[str, Any]]:
    """The room's generator: see `make_rows`."""
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
        settings.shuffle,
        (seed, _TEXT_STREAM),
    )


def grow(seed: int, settings: Parameters) -> Growth:
    """The maze of a seed, all keys in place. Every number of removed keys leaves one shortest plan.

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
    for _ in range(MAX_TREES):
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
        f" {MAX_TREES * ATTEMPTS_PER_TREE} attempts: take a larger grid, or another L or B"
    )


def _is_sound(growth: Growth, length: int, n_doors: int) -> bool:
    """Whether the search finds what was built, and one shortest plan however many keys are removed."""
    solution = growth.solve()
    if len(solution.kinds) != length or solution.kinds.count(CODES["unlock_and_open_door_to"]) != n_doors:
        return False
    return solution.unique and all(
        growth.without_keys(count).solve().unique for count in range(1, n_doors + 1)
    )
