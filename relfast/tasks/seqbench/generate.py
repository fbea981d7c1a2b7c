"""New SeqBench instances with chosen logical depth, backtracking and noise, in the dataset's own schema.

A row is a pure function of its maze seed and the parameters; the maze depends on neither noise, shuffling
nor names, so variants of one seed are variants of one maze.
"""

from __future__ import annotations

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

MAX_TREES: Final = 100
"""Trees tried for one row: 4,000 placements, some 0.1 s on a 10 × 10 grid and 1 s on 40 × 40."""

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
        Size of the grid.
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

    rows: int = 10
    cols: int = 10
    L: int | tuple[int, int] | None = None
    B: int = 2
    N: float = 0.0
    shuffle: bool = False
    names: tuple[str, str] | str = ("Bob", "Alice")
    remove_keys: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (("rows", 1, MAX_SIDE), ("cols", 1, MAX_SIDE), ("B", 0, MAX_DOORS)):
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= most:
                raise UsageError(f"{name} must be a whole number from {least} to {most}, not {value!r}")
        if not 0 <= self.remove_keys <= self.B:
            raise UsageError(f"remove_keys must be from 0 to B = {self.B}, not {self.remove_keys!r}")
        if not 0 <= self.N <= 1:
            raise UsageError(f"N must be from 0 to 1, not {self.N!r}")
        low, high = self.moves
        if high < low or high < 1:
            raise UsageError(f"no plan with B={self.B} has L={self.L}: start, rescue and doors take {self.extra}")
        if low > (self.B + 1) * (self.rows * self.cols - 1):
            raise UsageError(f"a {self.rows} × {self.cols} maze with B={self.B} is too small for L={self.L}")
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
        most = (self.B + 1) * self.rows * self.cols
        low, high = (1, most + self.extra) if self.L is None else _bounds(self.L)
        return max(low - self.extra, 1), min(high - self.extra, most)


def _bounds(length: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(length, int):
        return length, length
    low, high = length
    return low, high


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
    if not 0 <= n <= SEEDS_PER_RUN:
        raise UsageError(f"n must be from 0 to {SEEDS_PER_RUN}, not {n}")
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(f"seed must be from 0 to {MAX_SEED}, not {seed}")
    return (make_row(seed * SEEDS_PER_RUN + index, settings) for index in range(n))


def generate(task: str, n: int, seed: int, **parameters: Any) -> Iterator[dict[str, Any]]:
    """The room's generator: see `make_rows`."""
    return make_rows(n, seed, **parameters)


def make_row(maze_seed: int, settings: Parameters) -> dict[str, Any]:
    """The row of one maze seed.

    Raises
    ------
    UsageError
        No maze with these parameters was found.
    """
    names = settings.names
    if isinstance(names, str):
        picks = np.random.Generator(np.random.PCG64([maze_seed, _NAME_STREAM])).random(len(NAMES))
        agent, target = np.argsort(picks, kind="stable")[:2].tolist()
        names = NAMES[agent], NAMES[target]
    return write_row(
        grow(maze_seed, settings).without_keys(settings.remove_keys),
        f"{maze_seed}_rkc{settings.remove_keys}_n{float(settings.N)}",
        names,
        float(settings.N),
        settings.shuffle,
        (maze_seed, _TEXT_STREAM),
    )


def grow(maze_seed: int, settings: Parameters) -> Growth:
    """The maze of a seed, all keys in place. Every number of removed keys leaves one shortest plan.

    Raises
    ------
    UsageError
        No maze with these parameters was found.
    """
    from relfast_kernels.maze_growth import DRAWS_PER_POINT, rewind, spanning_tree

    cells = grid(settings.rows, settings.cols)
    fewest, most = settings.moves
    draws = np.random.Generator(np.random.PCG64([maze_seed, _MAZE_STREAM]))
    for _ in range(MAX_TREES):
        order = np.argsort(draws.random(len(cells.edges)), kind="stable")
        chosen = spanning_tree(cells.edges, order, cells.n_rooms)
        no_doors = np.zeros(len(chosen), np.int32)
        first_edge, neighbors, _ = edge_lists(cells.n_rooms, cells.edges[chosen], no_doors)
        for _ in range(ATTEMPTS_PER_TREE):
            placing = draws.random((settings.B + 2) * DRAWS_PER_POINT)
            moves, points, doors = rewind(first_edge, neighbors, settings.B, fewest, most, placing)
            if not moves:
                continue
            keys = np.argsort(draws.random(KEY_NUMBERS), kind="stable")[: settings.B] + 1
            growth = Growth(
                cells,
                chosen,
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
        f"no {settings.rows} × {settings.cols} maze with B={settings.B} and L={settings.L} was found in"
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
