"""Gold of a record, ready for the kernels, and kept for the other responses to the same maze."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import orjson

from relfast.errors import InputError
from relfast.tasks.seqbench.actions import Action, as_plan
from relfast.tasks.seqbench.layout import Layout, from_facts, from_structure
from relfast.tasks.seqbench.maze import Maze, Source

if TYPE_CHECKING:
    from relfast_kernels.maze import GoldTables, MazeTables, NameTables

CACHE_BYTES: Final = 64 << 20
"""What cached mazes may take: about 1,000 of 40 × 40 rooms, 10,000 of 10 × 10."""

_OBJECT_BYTES: Final = 2_000  # an entry's Python objects beside its arrays


class Fields(NamedTuple):
    """The parts of a record that SeqBench's gold is spread over, wherever they stood.

    ``structure`` is ``structural_details`` as text or decoded, ``context`` the facts. ``depth``,
    ``backtracking`` and ``noise`` are L, B and N as the record states them; like the names of the people,
    None where it does not.
    """

    completion: Any
    structure: str | Mapping[str, Any] | None
    context: str | None
    agent: str | None
    target: str | None
    depth: int | None
    backtracking: int | None
    noise: float | None

    @classmethod
    def of(cls, answer: object, question: object, row: Mapping[str, Any] | None = None) -> Fields:
        """Read ``answer`` (an object, or its JSON text), then the row; a field that is None is absent."""
        if type(answer) is not dict:
            answer = _decoded(answer)
        completion = answer.get("actions")
        if completion is None:
            completion = answer.get("completion")
        structure, context = answer.get("structural_details"), question
        metadata, parameters = answer.get("instance_metadata"), answer.get("complexity_parameters")
        if row is not None:
            completion = row.get("completion") if completion is None else completion
            structure = row.get("structural_details") if structure is None else structure
            context = row.get("context") if context is None else context
            metadata = row.get("instance_metadata") if metadata is None else metadata
            parameters = row.get("complexity_parameters") if parameters is None else parameters
        if context is None:
            context = answer.get("context")
        if type(metadata) is not dict:
            metadata = _decoded(metadata)
        if type(parameters) is not dict:
            parameters = _decoded(parameters)
        return cls(
            completion,
            structure if structure and isinstance(structure, (str, Mapping)) else None,
            context if isinstance(context, str) else None,
            _text(metadata.get("agent_name")),
            _text(metadata.get("target_name")),
            _count(parameters.get("logical_depth_L")),
            _count(parameters.get("backtracking_count_B")),
            _number(parameters.get("noise_ratio_N")),
        )

    @property
    def key(self) -> Hashable:
        """Equal for equal mazes and gold (but for a chance of 2^-64), and small: texts are not kept.

        Python's own hash is keyed anew in each process and reads 1 to 2 GB/s, faster than any digest.
        """
        structure, completion = self.structure, self.completion
        text = self.context if structure is None else structure
        if text is not None and not isinstance(text, str):
            text = repr(text)
        if not isinstance(completion, str):
            completion = repr(completion)
        size = -1 if text is None else len(text)
        return structure is None, hash(text), size, hash(completion), self.agent, self.target

    def gold(self) -> list[Action]:
        """The gold plan.

        Raises
        ------
        InputError
            There is none, or an item of it is no action.
        """
        if self.completion is None:
            raise InputError("gold is missing", field="completion")
        plan = as_plan(self.completion)
        if not plan:
            raise InputError("gold is no list of actions", field="completion")
        actions = []
        for index, action in enumerate(plan):
            if action is None:
                raise InputError(f"gold item {index} is no action", field="completion")
            actions.append(action)
        return actions

    def layout(self, gold: Sequence[Action] = ()) -> tuple[Layout, Source] | None:
        """The maze's names and where they were read from; None where nothing describes a maze."""
        rescued = next((action.parameter for action in reversed(gold) if action.name == "rescue"), None)
        agent, target = self.agent, rescued or self.target
        if self.structure is not None:
            layout = from_structure(self.structure)
            layout.agent, layout.target = agent, target
            return layout, "structural_details"
        layout_of_facts = from_facts(self.context or "", agent, target)
        return None if layout_of_facts is None else (layout_of_facts, "context")

    def maze(self) -> Maze:
        """See `Maze.from_row`."""
        gold = self.gold() if self.completion is not None else []
        found = self.layout(gold)
        if found is None:
            raise InputError("no maze: neither structural_details nor facts about rooms", field="context")
        return Maze.build(*found, extra=gold)


@dataclass(frozen=True, slots=True)
class Problem:
    """A maze with its gold plan.

    ``tables``: what `relfast_kernels.maze.judge_plans` takes of it; the last of them is the length of the
    shortest plan, or of gold where the search found none or was given up. ``source`` is None where nothing
    describes the maze: then plans can only be compared with gold. ``length`` and ``unlocks`` are counted in
    gold, whose ``text`` is as the record has it.
    """

    tables: tuple[MazeTables, NameTables, GoldTables, int]
    source: Source | None
    length: int
    unlocks: int
    text: str

    @property
    def n_bytes(self) -> int:
        maze, names, gold, _ = self.tables
        return sum(array.nbytes for array in (*maze[:5], *names, *gold)) + len(self.text) + _OBJECT_BYTES


def solve(fields: Fields) -> Problem:
    """Build the maze and its gold.

    Raises
    ------
    InputError
        Gold is missing or mistyped, or the maze contradicts the dataset card.
    """
    from relfast_kernels.maze import GoldTables, step_code
    from relfast_kernels.maze_search import shortest_plan

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
    return Problem(
        (
            maze.tables,
            maze.name_tables(),
            GoldTables(codes, distinct, counts.astype(np.int32), places.astype(np.int32)),
            shortest if shortest > 0 else len(gold),
        ),
        None if found is None else maze.source,
        len(gold),
        sum(action.name == "unlock_and_open_door_to" for action in gold),
        fields.completion if isinstance(fields.completion, str) else str([str(action) for action in gold]),
    )


class ProblemCache:
    """Problems by their fields; what was not used for longest leaves when the bytes run out. Thread-safe."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        self.misses = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, Problem | str] = OrderedDict()

    def get(self, fields: Fields) -> Problem | str:
        """The problem, or one line that says why there is none."""
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


def _decoded(value: object) -> Mapping[str, Any]:
    """An object, given as such or as its JSON text; empty if it is neither."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return value if type(value) in (float, int) else None


def _count(value: object) -> int | None:
    return value if type(value) is int else None
