"""Gold of a record, ready for the kernels, and kept for the other responses to the same maze."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from relfast_kernels.layouts import UNSOLVABLE
from relfast_kernels.maze.columns import HEADER, N_GOLD, SHORTEST, header_of

from relfast.errors import InputError
from relfast.tasks.seqbench.actions import Action
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.layout import Layout, Source
from relfast.tasks.seqbench.machine import machine
from relfast.tasks.seqbench.maze import Maze

CACHE_BYTES: Final = 64 << 20
"""What cached mazes may take: about 1,000 of 40 × 40 rooms, 10,000 of 10 × 10."""

_OBJECT_BYTES: Final = 2_000  # an entry's Python objects beside its arrays
_BYTES_A_ROOM: Final = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """A maze with its gold plan.

    ``numbers``: what the kernels take of it (`relfast_kernels.maze.columns`), settled. ``source`` is None
    where nothing describes the maze: then plans can only be compared with gold. ``rooms`` are their names,
    ``target`` is who is rescued. ``solvable`` is False where no plan rescues. ``length`` and ``unlocks`` are
    counted in gold, whose ``text`` is as the record has it."""

    numbers: array[int]
    source: Source | None
    rooms: frozenset[str]
    target: str
    unlocks: int
    text: str

    @property
    def address(self) -> int:
        """Where the numbers are."""
        return self.numbers.buffer_info()[0]

    @property
    def solvable(self) -> bool:
        return self.numbers[SHORTEST] != UNSOLVABLE

    @property
    def length(self) -> int:
        return self.numbers[N_GOLD]

    @property
    def n_bytes(self) -> int:
        return 4 * len(self.numbers) + len(self.text) + _BYTES_A_ROOM * len(self.rooms) + _OBJECT_BYTES


def solve(fields: Fields) -> Problem:
    """Build the maze and its gold.

    Raises
    ------
    InputError
        Gold is missing or mistyped, or the maze contradicts the dataset card.
    """
    gold = fields.gold()
    found = fields.layout(gold)
    if found is None:
        # a room of gold's own, so that plans can be compared with it
        layout = Layout(start="", goal="", target=next((a.parameter for a in gold if a.name == "rescue"), ""))
        maze = Maze.build(layout, "context", extra=gold)
    else:
        maze = Maze.build(*found, extra=gold)
    return Problem(
        _numbers(maze, gold),
        None if found is None else maze.source,
        frozenset(maze.rooms),
        maze.target,
        sum(action.name == "unlock_and_open_door_to" for action in gold),
        fields.completion if isinstance(fields.completion, str) else str([str(action) for action in gold]),
    )


def _numbers(maze: Maze, gold: Sequence[Action]) -> array[int]:
    """A maze, its names and its gold as the kernels take them."""
    kinds, arguments = maze.numbers_of(gold)
    names = [name.encode("utf-8", "surrogatepass") for name in (*maze.rooms, *maze.keys, maze.target)]
    text = b"".join(names)
    n_slots = 8
    while n_slots < 2 * len(names):
        n_slots *= 2
    numbers = array("i", bytes(4 * HEADER))
    for part in (maze.first_edge, maze.neighbors, maze.doors, maze.door_keys, maze.key_rooms):
        numbers.extend(part)
    numbers.extend(array("i", kinds))
    numbers.extend(array("i", arguments))
    numbers.extend(array("i", accumulate(map(len, names))))
    numbers.frombytes(bytes(4 * (n_slots + 4 * len(gold))))
    numbers.frombytes(text + bytes(-len(text) % 4))
    counts = (
        len(maze.rooms),
        len(maze.neighbors),
        len(maze.door_keys),
        len(maze.keys),
        maze.start,
        maze.goal,
    )
    header = header_of(*counts, len(gold), len(names), n_slots, len(text), len(numbers))
    numbers[: len(header)] = array("i", header)
    machine().settle(numbers)
    return numbers


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
