"""Generates SeqBench instances with chosen logical depth, backtracking and noise, in the dataset's schema.

A row is a pure function of its maze seed and the parameters. The maze does not depend on noise, shuffling or
names, so that rows of the same seed are variants of the same maze.

Room ``x * rows + y`` is the room in column x and row y, counted from the top left; its coordinate is
``"x,y"``, and its label the column's letters and ``rows - y``: with 11 rows, ``"3,6"`` is D5.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, groupby, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray
from relfast_kernels.layouts import ACTIONS, NO_DOOR

from relfast.errors import UsageError, WorkerError
from relfast.parameters import Whole, declared, parameters_of
from relfast.tasks.seqbench.machine import CODES
from relfast.tasks.seqbench.maze import column_letters, edge_lists
from relfast.tasks.seqbench.parameters import DEFAULT_BIN_WIDTH, MAX_SIDE, Parameters, most_moves

if TYPE_CHECKING:
    from relfast_kernels.maze.search import MazeTables, Search

Row = dict[str, Any]
T = TypeVar("T")

OPEN: Final = "open"
LOCKED: Final = "closed and locked"


class Fact(NamedTuple):
    """A fact, as JSON for ``canonical_facts`` and as a sentence for the context."""

    canonical: orjson.Fragment
    sentence: str


class Grid(NamedTuple):
    """The data that all mazes of ``rows`` × ``cols`` rooms share.

    ``edges`` (edges × 2, int32): pairs of adjacent rooms, the smaller coordinate first; ``edge_of``: index of
    a pair. For each edge: ``door_ids``, and the fact that an open door is there, as a distracting fact in
    ``plain_facts`` and as a supporting one in ``used_facts``. ``mappings``: JSON of all coordinates' names.
    """

    rows: int
    cols: int
    coordinates: list[str]
    labels: list[str]
    edges: NDArray[np.int32]
    edge_of: dict[tuple[int, int], int]
    door_ids: list[str]
    plain_facts: list[Fact]
    used_facts: list[Fact]
    mappings: orjson.Fragment

    @property
    def n_rooms(self) -> int:
        return self.rows * self.cols

    def connection(self, edge: int, status: str, supporting: bool) -> Fact:
        """The fact that the rooms of an edge are connected by a door of this status."""
        one, other = self.edges[edge].tolist()
        article = "an" if status == OPEN else "a"
        return fact(
            "connected_rooms",
            [self.coordinates[one], self.coordinates[other], status],
            supporting,
            f"Room {self.labels[one]} and {self.labels[other]} are connected by {article} {status} door.",
        )


def fact(kind: str, args: list[str], supporting: bool, sentence: str) -> Fact:
    """A fact of type ``kind``."""
    canonical = orjson.dumps({"type": kind, "args": args, "supporting": supporting})
    return Fact(orjson.Fragment(canonical), sentence)


@lru_cache(maxsize=8)
def grid(rows: int, cols: int) -> Grid:
    """The grid of ``rows`` × ``cols`` rooms."""
    places = [(x, y) for x in range(cols) for y in range(rows)]
    coordinates = [f"{x},{y}" for x, y in places]
    labels = [f"{column_letters(x)}{rows - y}" for x, y in places]
    pairs = []
    for room, (x, y) in enumerate(places):
        if y + 1 < rows:
            pairs.append((room, room + 1))
        if x + 1 < cols:
            pairs.append((room, room + rows))
    cells = Grid(
        rows,
        cols,
        coordinates,
        labels,
        np.array(pairs, np.int32).reshape(-1, 2),
        {pair: edge for edge, pair in enumerate(pairs)},
        ["_".join(sorted((coordinates[one], coordinates[other]))) for one, other in pairs],
        [],
        [],
        orjson.Fragment(orjson.dumps({"coordinate_to_name": dict(zip(coordinates, labels, strict=True))})),
    )
    for edge in range(len(pairs)):
        cells.plain_facts.append(cells.connection(edge, OPEN, False))
        cells.used_facts.append(cells.connection(edge, OPEN, True))
    return cells


class Lock(NamedTuple):
    """A locked door (an edge of the grid), the number of its key, and the room of the key."""

    edge: int
    key: int
    key_room: int


@dataclass(frozen=True, slots=True)
class Growth:
    """A generated maze on a grid.

    ``chosen`` (int32): the grid's edges that are passages, in the order in which they were joined.
    ``first_edge``, ``neighbors``: these passages as in `relfast_kernels.maze.search.MazeTables`; ``edges``
    (int32): the grid's edge of each of ``neighbors``. ``locks``: in the order in which keys are removed.
    """

    grid: Grid
    chosen: NDArray[np.int32]
    first_edge: NDArray[np.int32]
    neighbors: NDArray[np.int32]
    edges: NDArray[np.int32]
    locks: tuple[Lock, ...]
    start: int
    goal: int

    def without_keys(self, count: int) -> Growth:
        """The maze with the first ``count`` locked doors opened and their keys removed."""
        return replace(self, locks=self.locks[count:])

    def tables(self) -> MazeTables:
        """The maze as arrays for kernels: rooms as in the grid, keys and doors in the order of ``locks``."""
        from relfast_kernels.maze.search import MazeTables

        door_of_edge = np.full(len(self.grid.edges), NO_DOOR, np.int32)
        door_of_edge[[lock.edge for lock in self.locks]] = np.arange(len(self.locks), dtype=np.int32)
        return MazeTables(
            self.first_edge,
            self.neighbors,
            door_of_edge[self.edges],
            door_keys=np.arange(len(self.locks), dtype=np.int32),
            key_rooms=np.array([lock.key_room for lock in self.locks], np.int32),
            start=self.start,
            goal=self.goal,
        )

    def solve(self) -> Search:
        """The shortest plan through the maze."""
        from relfast_kernels.maze.search import shortest_plan

        return shortest_plan(self.tables())


def _plan(growth: Growth, solution: Search, target: str) -> list[str]:
    """The plan that the search found, as ``"action: parameter"`` strings."""
    labels, locks = growth.grid.labels, growth.locks
    plan = []
    for kind, argument in zip(solution.kinds, solution.arguments, strict=True):
        name = ACTIONS[kind]
        if name in ("pick_up_key", "use_key"):
            parameter = str(locks[argument].key)
        else:
            parameter = target if name == "rescue" else labels[argument]
        plan.append(f"{name}: {parameter}")
    return plan


def _facts(growth: Growth, solution: Search) -> tuple[list[Fact], list[Fact]]:
    """The facts that the plan uses, in the order of its path, and all others. A locked door has three."""
    grid = growth.grid
    locks = {lock.edge: lock for lock in growth.locks}
    used: dict[int, None] = {}
    here = growth.start
    for kind, room in zip(solution.kinds, solution.arguments, strict=True):
        if kind == CODES["move_to"]:
            used[grid.edge_of[min(here, room), max(here, room)]] = None
            here = room
    supporting: list[Fact] = []
    for edge in used:
        supporting += _locked_door(grid, locks[edge], True) if edge in locks else [grid.used_facts[edge]]
    apart = {*used, *locks}
    distracting = [grid.plain_facts[edge] for edge in growth.chosen.tolist() if edge not in apart]
    for edge in locks:
        if edge not in used:
            distracting += _locked_door(grid, locks[edge], False)
    return supporting, distracting


def _locked_door(grid: Grid, lock: Lock, supporting: bool) -> list[Fact]:
    one, other = grid.edges[lock.edge].tolist()
    key = str(lock.key)
    return [
        grid.connection(lock.edge, LOCKED, supporting),
        fact(
            "locked_door_key",
            [grid.coordinates[one], grid.coordinates[other], key],
            supporting,
            f"The locked door between {grid.labels[one]} and {grid.labels[other]} requires key {key}.",
        ),
        fact(
            "key_location",
            [key, grid.coordinates[lock.key_room]],
            supporting,
            f"Key {key} is in room {grid.labels[lock.key_room]}.",
        ),
    ]


def _people(growth: Growth, people: tuple[str, str]) -> list[Fact]:
    places = zip(("agent_location", "target_location"), people, (growth.start, growth.goal), strict=True)
    return [
        fact(
            kind,
            [name, growth.grid.coordinates[room]],
            True,
            f"{name} is in room {growth.grid.labels[room]}.",
        )
        for kind, name, room in places
    ]


def _structure(growth: Growth, facts: Sequence[Fact]) -> str:
    """The value of ``structural_details``: the maze as JSON text."""
    coordinates, door_ids = growth.grid.coordinates, growth.grid.door_ids
    behind = [coordinates[room] for room in growth.neighbors.tolist()]
    first = growth.first_edge.tolist()
    open_door = orjson.Fragment(orjson.dumps({"status": OPEN, "key_id": ""}))
    doors: dict[str, Any] = dict.fromkeys([door_ids[edge] for edge in growth.chosen.tolist()], open_door)
    for lock in growth.locks:
        doors[door_ids[lock.edge]] = {"status": LOCKED, "key_id": str(lock.key)}
    details = {
        "mappings": growth.grid.mappings,
        "structure": {
            "adjacency_list": {
                room: behind[low:high]
                for room, low, high in zip(coordinates, first[:-1], first[1:], strict=True)
            },
            "door_details": doors,
            "key_locations": {str(lock.key): coordinates[lock.key_room] for lock in growth.locks},
            "start_room_coord": coordinates[growth.start],
            "end_room_coord": coordinates[growth.goal],
        },
        "canonical_facts": [one.canonical for one in facts],
    }
    return orjson.dumps(details).decode()


ATTEMPTS_PER_TREE: Final = 40
"""Placements of doors and keys that are tried in one tree before another tree is generated."""

MAX_TREES: Final = 1_000
"""Most trees that are tried for a row: 40,000 placements, some seconds on a 40 × 40 grid."""

MAX_SEED: Final = 10**12

SEEDS_PER_RUN: Final = 1_000_000
"""A run with ``seed`` uses the maze seeds seed × this + 0, 1, 2, …, so that runs do not share rows."""

NAMES: Final = (
    "Alice", "Bob", "Carol", "David", "Emma", "Frank", "Grace", "Henry", "Irene", "Jack", "Karen", "Liam",
    "Mona", "Nora", "Oscar", "Paula", "Quentin", "Rosa", "Samuel", "Tina",
)  # fmt: skip
"""Names from which ``names="random"`` draws agent and target."""

KEY_NUMBERS: Final = 99
"""Keys are numbered from 1 to this, as in the published rows."""

_MAZE_STREAM, _TEXT_STREAM, _NAME_STREAM = range(3)


def _stream(seed: int, which: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, which]))


def _shuffled(draws: np.random.Generator, items: Sequence[T]) -> list[T]:
    return [items[at] for at in np.argsort(draws.random(len(items)), kind="stable").tolist()]


Tell = Callable[[str], None]


def make_row(seed: int, settings: Parameters, tell: Tell | None = None) -> dict[str, Any]:
    """The row of one maze seed, in the dataset card's schema. ``tell`` is called as `grow` does.

    Raises
    ------
    UsageError
        No maze with these parameters was found.
    """
    names = settings.names
    if isinstance(names, str):
        agent, target, *_ = _shuffled(_stream(seed, _NAME_STREAM), NAMES)
        names = agent, target
    growth = grow(seed, settings, tell=tell).without_keys(settings.remove_keys)
    noise = float(settings.N)
    solution = growth.solve()
    supporting, distracting = _facts(growth, solution)
    draws = _stream(seed, _TEXT_STREAM)
    # shuffled before they are cut, so that a higher noise contains the distractors of a lower one
    distracting = _shuffled(draws, distracting)
    who = _people(growth, names)
    facts = [*supporting, *distracting[: round(noise * len(distracting))], *who]
    if not settings.ordered:
        facts = _shuffled(draws, facts)
    plan = _plan(growth, solution, names[1])
    return {
        "instance_id": f"{seed}_rkc{settings.remove_keys}_n{noise}",
        "context": " ".join(one.sentence for one in facts),
        "completion": str(plan),
        "complexity_parameters": {
            "logical_depth_L": len(plan),
            "backtracking_count_B": solution.kinds.count(CODES["unlock_and_open_door_to"]),
            "noise_ratio_N": noise,
        },
        "instance_metadata": {
            "maze_rows": growth.grid.rows,
            "maze_cols": growth.grid.cols,
            "agent_name": names[0],
            "target_name": names[1],
        },
        "structural_details": _structure(growth, [*supporting, *distracting, *who]),
    }


def grow(seed: int, settings: Parameters, trees: int = MAX_TREES, *, tell: Tell | None = None) -> Growth:
    """The maze of a seed, with all its keys. However many keys are removed, the shortest plan is unique.

    At most ``trees`` trees are tried; ``tell`` is called with how many were in vain.

    Raises
    ------
    UsageError
        No maze with these parameters was found.
    """
    from relfast_kernels.maze.growth import DRAWS_PER_POINT, rewind, spanning_tree

    rows, cols = settings.size
    cells = grid(rows, cols)
    fewest, most = settings.moves
    draws = _stream(seed, _MAZE_STREAM)
    for at in range(trees):
        if at and tell is not None:
            tell(f"no maze with {settings.asked} in {at:,} of {trees:,} trees so far")
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
            growth = replace(growth, locks=tuple(_shuffled(draws, growth.locks)))
            if _is_sound(growth, moves + settings.extra, settings.B):
                return growth
    raise UsageError(
        f"no {rows} × {cols} maze with {settings.asked} was found in {trees * ATTEMPTS_PER_TREE:,} attempts:"
        " take a larger grid, or another L or B"
    )


def _is_sound(growth: Growth, length: int, n_doors: int) -> bool:
    """Whether the plan has this length and these doors, and is unique however many keys are removed."""
    solution = growth.solve()
    if len(solution.kinds) != length or solution.kinds.count(CODES["unlock_and_open_door_to"]) != n_doors:
        return False
    return solution.unique and all(
        growth.without_keys(count).solve().unique for count in range(1, n_doors + 1)
    )


# Even coverage of bins of L × B × N, as in the published set. Mazes of one size have only the depths of
# that size, so bins are filled evenly only if each has mazes of the size that it needs. That size is found
# by trial, with fixed seeds, so that it depends on the bin alone.

MARGIN: Final = 1.2
"""Factor by which a side is longer than the shortest possible one, to have room for distractors."""

STEP: Final = 1.2
"""Factor from one side that is tried to the next."""

_SMALLEST: Final = 4
_LARGE: Final = 20
"""Sides are tried at least up to this, and up to three times the side that a bin needs on average: a random
path of m moves needs a side of about m to the 3/4."""

_TRIES: Final = 3
_TREES: Final = 8
"""A size can fill a bin if `_TRIES` mazes of the bin are found in it, each within `_TREES` trees."""


def covering(variants: Iterable[Parameters], tell: Tell | None = None) -> list[Parameters]:
    """Replace each variant that has ``cover`` by one variant per bin of L, of the size that the bin needs.
    ``tell`` is called with the bin whose size is looked for.

    Raises
    ------
    UsageError
        Some bins cannot be reached. With ``skip_unreachable`` they are left out, and a warning names them.
    """
    chosen: list[Parameters] = []
    missed: dict[tuple[int, tuple[int, int]], str] = {}
    skip = True
    for variant in variants:
        if not variant.cover:
            chosen.append(variant)
            continue
        skip = variant.skip_unreachable
        for low, high in variant.bins:
            if tell is not None:
                tell(f"looking for the size of mazes with L {low}-{high} and B={variant.B}")
            size = _size(low, high, variant.B, variant.rows, variant.cols)
            if isinstance(size, str):
                missed[variant.B, (low, high)] = size
                continue
            rows, cols = size
            single: dict[str, Any] = {"cover": False, "skip_unreachable": False}
            single["bin_width"] = DEFAULT_BIN_WIDTH
            chosen.append(replace(variant, L=(low, high), rows=rows, cols=cols, **single))
    if missed:
        text = "; ".join(_in_words(missed))
        if not skip:
            raise UsageError(f"cannot reach {text}: ask for less, or leave them out with --skip-unreachable")
        if not chosen:
            raise UsageError(f"cannot reach {text}: nothing is left")
        warnings.warn(f"relfast: left out as unreachable: {text}", RuntimeWarning, stacklevel=2)
    return chosen


@lru_cache(maxsize=4096)
def _size(low: int, high: int, doors: int, rows: int | None, cols: int | None) -> tuple[int, int] | str:
    """Rows and columns with which a bin can be filled; or a message why no size can."""
    fewest = 3 + 5 * doors
    if high < fewest:
        return f"takes {fewest} actions at least"
    size = rows or cols or MAX_SIDE, cols or rows or MAX_SIDE
    if low - (2 + 3 * doors) > most_moves(*size, doors):
        return f"no maze of {size[0]} × {size[1]} rooms has it"
    if rows is not None or cols is not None:
        return size if _carries(low, high, doors, *size) else f"no maze of {size[0]} × {size[1]} rooms has it"
    side, largest = _SMALLEST, min(MAX_SIDE, max(_LARGE, round(3 * (high - 2 - 3 * doors) ** 0.75)))
    while side <= largest:
        if _carries(low, high, doors, side, side):
            larger = min(round(side * MARGIN) + 1, largest)
            return (larger, larger) if _carries(low, high, doors, larger, larger) else (side, side)
        side = min(max(side + 1, round(side * STEP)), largest) if side < largest else side + 1
    return f"no maze of {largest} × {largest} rooms or less has it"


def _carries(low: int, high: int, doors: int, rows: int, cols: int) -> bool:
    """Whether `_TRIES` mazes of a bin are found in a grid of this size."""
    try:
        settings = Parameters(rows, cols, (low, high), doors)
        for seed in range(_TRIES):
            grow(seed, settings, trees=_TREES)
    except UsageError:
        return False
    return True


def _in_words(missed: dict[tuple[int, tuple[int, int]], str]) -> Iterator[str]:
    """The unreachable bins in words; successive bins with the same B and reason are joined: ``L 10-24 with
    B=4 (takes 23 actions at least)``."""
    for (doors, why), cells in groupby(sorted(missed.items()), key=lambda item: (item[0][0], item[1])):
        bins = [cell[1] for cell, _ in cells]
        for first, last in _runs(bins):
            yield f"L {first}-{last} with B={doors} ({why})"


def _runs(bins: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first, last = bins[0]
    for low, high in bins[1:]:
        if low != last + 1:
            yield first, last
            first = low
        last = high
    yield first, last


def mazes_of(variants: Iterable[Parameters]) -> list[list[Parameters]]:
    """Group variants by maze: those that differ only in noise and removed keys share a maze and its seed."""
    mazes: dict[object, list[Parameters]] = {}
    for variant in variants:
        mazes.setdefault((variant.size, variant.L, variant.B), []).append(variant)
    return list(mazes.values())


CHUNK: Final = 8
"""Mazes that a process makes per call: 3 MB of text at 40 × 40."""

WAITING_PER_WORKER: Final = 4
"""Most chunks per worker that are made in advance; bounds memory."""

MANY: Final = 20
"""Number of mazes of one kind from which on a warning says that they do not fill the bounds of L."""

_Kinds = list[list[Parameters]]
"""For each kind of maze, its variants."""


class Rows(Iterator[Row]):
    """An iterator of a run's rows; `operator.length_hint` gives their number."""

    def __init__(self, rows: Iterator[Row], n: int) -> None:
        self._rows, self._n = rows, n

    def __next__(self) -> Row:
        return next(self._rows)

    def __length_hint__(self) -> int:
        return self._n


def make_rows(
    n: int = 1, seed: int = 0, *, workers: int = 1, tell: Tell | None = None, **parameters: Any
) -> Rows:
    """Rows in the dataset card's schema. The same seed gives the same rows, for any number of workers.

    Parameters
    ----------
    n
        Number of mazes of each kind, each in all its variants. Variants that differ only in noise and removed
        keys are variants of the same maze; others are kinds of their own, and mazes of the kinds alternate.
    workers
        Number of processes.
    tell
        Called with what takes long before the first row is there.
    **parameters
        The fields of `Parameters`; B, N and remove_keys may be lists. With ``cover`` each bin of L is a kind.

    Raises
    ------
    UsageError
        A parameter is out of range, or the grid is too small for B and L.
    """
    kinds = mazes_of(covering(_variants(parameters), tell))
    total = n * len(kinds)
    Whole(0, SEEDS_PER_RUN).check("number of records", total)
    Whole(0, MAX_SEED).check("seed", seed)
    make = partial(_rows_of, seed, kinds)
    # the first here, where it can be told how it goes; mostly they all go alike
    first, rest = range(min(1, total)), range(1, total)
    if workers <= 1 or total <= CHUNK:
        rows: Iterator[Row] = chain.from_iterable(make([index]) for index in rest)
    else:
        rows = _by_processes(make, [rest[at : at + CHUNK] for at in range(0, len(rest), CHUNK)], workers)
    begun = (row for index in first for row in make([index], tell=tell))
    return Rows(chain(begun, rows), n * sum(map(len, kinds)))


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Rows:
    """The task's generator: see `make_rows`. It also warns if the bounds of L are not filled."""
    rows = make_rows(n, seed, tell=tell, **parameters)
    bounds = parameters.get("L")
    if n < MANY or bounds is None or isinstance(bounds, int) or rows.__length_hint__() > n:
        return rows
    return Rows(_warning_of_gaps(rows, *bounds), n)


def _warning_of_gaps(rows: Iterator[Row], low: int, high: int) -> Iterator[Row]:
    """The rows; then a warning if they leave a tenth or more of the bounds of L empty at either end."""
    depths = set()
    for row in rows:
        depths.add(row["complexity_parameters"]["logical_depth_L"])
        yield row
    if 10 * max(min(depths) - low, high - max(depths)) >= high - low + 1:
        warnings.warn(
            f"relfast: L goes from {min(depths)} to {max(depths)}, not {low} to {high}: mazes of one size"
            " have no others; --cover fills the bounds evenly",
            RuntimeWarning,
            stacklevel=2,
        )


def _variants(parameters: dict[str, Any]) -> list[Parameters]:
    """All combinations of the parameters that have several values; the last of them varies slowest."""
    given = dict(parameters)
    repeated = [one.name for one in parameters_of(Parameters) if one.repeat and one.name in given][::-1]
    values = [given.pop(name) for name in repeated]
    several = [value if isinstance(value, (tuple, list)) else (value,) for value in values]
    return [
        declared(Parameters, {**given, **dict(zip(repeated, chosen, strict=True))})
        for chosen in product(*several)
    ]


def _rows_of(seed: int, kinds: _Kinds, indices: Sequence[int], tell: Tell | None = None) -> list[Row]:
    return [
        make_row(seed * SEEDS_PER_RUN + index, settings, tell)
        for index in indices
        for settings in kinds[index % len(kinds)]
    ]


def _by_processes(
    make: Callable[[Sequence[int]], list[Row]], chunks: Sequence[Sequence[int]], workers: int
) -> Iterator[Row]:
    """Rows of all chunks, in order, made by worker processes."""
    # spawned, not forked: the caller may have threads
    with ProcessPoolExecutor(min(workers, len(chunks)), multiprocessing.get_context("spawn")) as pool:
        waiting: deque[Future[list[Row]]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(make, chunk))
                if len(waiting) > WAITING_PER_WORKER * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool as error:
            raise WorkerError(f"a generating process died: {error}") from None
        finally:
            pool.shutdown(cancel_futures=True)
