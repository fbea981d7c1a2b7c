"""Gold of a record, ready for the kernels, and kept for the other responses to the same maze."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from relfast_kernels.layouts import UNSOLVABLE

from relfast.errors import InputError
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.layout import Layout, Source
from relfast.tasks.seqbench.maze import Maze

if TYPE_CHECKING:
    from relfast_kernels.maze.tables import GoldTables, MazeTables, NameTables

CACHE_BYTES: Final = 64 << 20
"""What cached mazes may take: about 1,000 of 40 × 40 rooms, 10,000 of 10 × 10."""

_OBJECT_BYTES: Final = 2_000  # an entry's Python objects beside its arrays


@dataclass(frozen=True, slots=True)
class Problem:
    """A maze with its gold plan.

    ``tables``: what `relfast_kernels.maze.judge.judge_plans` takes of it: behind the arrays the length of
    the shortest plan, or of gold where the search found none or was given up; whether gold is such a plan;
    and whether the search found one, so that others are worth while. ``solvable`` is False where it found
    that there is none. ``source`` is None where nothing describes the maze: then plans can only be compared
    with gold. ``target`` is who is rescued. ``length`` and ``unlocks`` are counted in gold, whose ``text``
    is as the record has it.
    """

    tables: tuple[MazeTables, NameTables, GoldTables, int, bool, bool]
    source: Source | None
    target: str
    solvable: bool
    length: int
    unlocks: int
    text: str

    @property
    def n_bytes(self) -> int:
        maze, names, gold, *_ = self.tables
        return sum(array.nbytes for array in (*maze[:5], *names, *gold)) + len(self.text) + _OBJECT_BYTES


def solve(fields: Fields) -> Problem:
    """Build the maze and its gold.

    Raises
    ------
    InputError
        Gold is missing or mistyped, or the maze contradicts the dataset card.
    """
    from relfast_kernels.maze.judge import step_code, validate_plans
    from relfast_kernels.maze.search import shortest_plan
    from relfast_kernels.maze.tables import GoldTables

    gold = fields.gold()
    found = fields.layout(gold)
    if found is None:
        # a room of gold's own, so that plans can be compared with it
        layout = Layout(start="", goal="", target=next((a.parameter for a in gold if a.name == "rescue"), ""))
        maze = Maze.build(layout, "context", extra=gold)
    else:
        maze = Maze.build(*found, extra=gold)
    kinds, arguments = maze.encode(list(gold))
    codes = np.array(
        [step_code(*step) for step in zip(kinds.tolist(), arguments.tolist(), strict=True)], np.int32
    )
    distinct, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    shortest = shortest_plan(maze.tables).length
    legal = validate_plans(maze.tables, kinds, arguments, np.array([0, len(gold)], np.int64))[0][0] < 0
    return Problem(
        (
            maze.tables,
            maze.name_tables(),
            GoldTables(codes, distinct, counts.astype(np.int32), places.astype(np.int32)),
            shortest if shortest > 0 else len(gold),
            bool(legal and shortest == len(gold)),
            shortest > 0,
        ),
        None if found is None else maze.source,
        maze.target,
        shortest != UNSOLVABLE,
        len(gold),
        sum(action.name == "unlock_and_open_door_to" for action in gold),
        fields.completion if isinstance(fields.completion, str) else str([str(action) for action in gold]),
    )


class Rooms:
    """The names of a problem's rooms, decoded when somebody asks for one: few do."""

    def __init__(self, problem: Problem) -> None:
        self._tables = problem.tables
        self._names: frozenset[str] | None = None

    def __contains__(self, name: object) -> bool:
        if self._names is None:
            maze, names, *_ = self._tables
            text, ends = names.text.tobytes(), names.ends[: len(maze.first_edge) - 1].tolist()
            self._names = frozenset(
                text[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise([0, *ends])
            )
        return name in self._names


class ProblemCache:
    """Problems by their fields; what was not used for longest leaves when the bytes run out. Thread-safe."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        self.misses = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, Problem | str] = OrderedDict()

    def get(self, fields: Fields, key: Hashable = None) -> Problem | str:
        """The problem, or one line that says why there is none. ``key`` is that of the fields, if known."""
        if key is None:
            key = fields.key
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry
        try:
            entry = solve(fields)
        except InputError as error:
            entry = str(error)
        with self._lock:
            self.misses += 1
            if key not in self._entries:
                self._entries[key] = entry
                self.n_bytes += _size(entry)
            while self.n_bytes > self.limit and len(self._entries) > 1:
                self.n_bytes -= _size(self._entries.popitem(last=False)[1])
        return entry


def _size(entry: Problem | str) -> int:
    return entry.n_bytes if isinstance(entry, Problem) else _OBJECT_BYTES


PROBLEMS: Final = ProblemCache()
"""The process's own: workers see the same mazes again and again."""
