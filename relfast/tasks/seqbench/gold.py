"""Gold of a record, ready for the kernels, and kept for the other responses to the same maze."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

from relfast.errors import InputError
from relfast.records import Record
from relfast.tasks.seqbench.actions import Action, as_action, as_plan
from relfast.tasks.seqbench.layout import Layout, from_facts, from_structure
from relfast.tasks.seqbench.maze import Maze, Source

if TYPE_CHECKING:
    from relfast_kernels.maze import GoldTables, MazeTables, NameTables

CACHE_BYTES: Final = 64 << 20
"""What cached mazes may take: about 1,000 of 40 × 40 rooms, 10,000 of 10 × 10."""

_OBJECT_BYTES: Final = 2_000  # an entry's Python objects beside its arrays


@dataclass(frozen=True, slots=True)
class Fields:
    """The parts of a record that SeqBench's gold is spread over, wherever they stood."""

    completion: Any
    structure: str | Mapping[str, Any] | None
    context: str | None
    metadata: Mapping[str, Any]
    parameters: Mapping[str, Any]

    @classmethod
    def of(cls, answer: Any, question: Any, row: Mapping[str, Any] | None = None) -> Fields:
        """Read ``answer`` (an object, or its JSON text), then the row; a field that is None is absent."""
        if isinstance(answer, str) and answer.lstrip().startswith("{"):
            try:
                answer = orjson.loads(answer)
            except orjson.JSONDecodeError:
                answer = None
        places = [place for place in (answer, row) if isinstance(place, Mapping)]

        def first(*names: str) -> Any:
            for place in places:
                for name in names:
                    if (value := place.get(name)) is not None:
                        return value
            return None

        context = question if isinstance(question, str) else first("context", "question")
        structure = first("structural_details")
        return cls(
            first("actions", "completion"),
            structure if isinstance(structure, (str, Mapping)) and structure else None,
            context if isinstance(context, str) else None,
            _mapping(first("instance_metadata")),
            _mapping(first("complexity_parameters")),
        )

    @property
    def noise(self) -> float | None:
        return _number(self.parameters.get("noise_ratio_N"))

    @property
    def depth(self) -> int | None:
        """Logical depth as the record states it."""
        return _count(self.parameters.get("logical_depth_L"))

    @property
    def backtracking(self) -> int | None:
        """Backtracking count as the record states it."""
        return _count(self.parameters.get("backtracking_count_B"))

    @property
    def key(self) -> Hashable:
        """Equal for equal fields (but for a chance of 2^-64), and small: the texts themselves are not kept."""
        structure = self.structure
        if isinstance(structure, Mapping):
            structure = orjson.dumps(structure, default=repr).decode()
        text = structure if structure is not None else self.context
        completion = self.completion if isinstance(self.completion, str) else repr(self.completion)
        people = (self.metadata.get("agent_name"), self.metadata.get("target_name"))
        return (
            structure is None,
            hash(text),
            len(text) if text is not None else -1,
            hash(completion),
            len(completion),
            hash(repr(people)),
        )

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
        target = next((action.parameter for action in reversed(gold) if action.name == "rescue"), None)
        target = target or _text(self.metadata.get("target_name"))
        agent = _text(self.metadata.get("agent_name"))
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

    ``shortest``: actions of the shortest plan; 0 where the maze cannot be solved, -1 where the search was
    given up. ``source`` is None where nothing describes the maze: then only gold can be compared with.
    """

    maze: MazeTables
    names: NameTables
    gold: GoldTables
    source: Source | None
    shortest: int
    length: int
    unlocks: int
    text: str

    @property
    def n_bytes(self) -> int:
        arrays = [*self.maze[:5], *self.names, *self.gold]
        return sum(array.nbytes for array in arrays) + len(self.text) + _OBJECT_BYTES


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
    distinct, counts = np.unique(codes, return_counts=True)
    return Problem(
        maze.tables,
        maze.name_tables(),
        GoldTables(codes, distinct, counts.astype(np.int32)),
        None if found is None else maze.source,
        shortest_plan(maze.tables).length,
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


def fields_of(record: Record) -> Fields:
    return Fields.of(record.answer, record.question, record.row)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
