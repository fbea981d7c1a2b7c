"""What a record says of its maze, the maze as numbers, and the plans that run through it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import orjson
from relfast_kernels import layouts

from relfast.errors import InputError
from relfast.json_text import decode_text
from relfast.tasks.seqbench.actions import CODES, Action, as_plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Source = Literal["structural_details", "context"]
"""The field a maze was read from."""

# a chat template may follow the last sentence without a blank
_SENTENCE_END: Final = re.compile(r"\.(?:\s+|$|(?=[<\[]))|\n")
_BULLET: Final = " \t-*•"
_PASSAGE: Final = re.compile(
    r"Room (\S+) and (?:Room )?(\S+) are connected by (an open|a closed and locked) door"
)
_LOCK: Final = re.compile(r"(?:The locked door|Door) between (\S+) and (\S+) requires key (\S+)")
_KEY: Final = re.compile(r"Key (\S+) is in room (\S+)")
_PERSON: Final = re.compile(r"(\S.{0,200}?) is in room (\S+)")

USUAL_AGENT: Final = "Bob"
"""Who moves in the published contexts, in whatever order the sentences come."""


class Door(NamedTuple):
    """A passage between two rooms: ``locked`` or open, and the key it takes ("" where it is not said)."""

    locked: bool
    key: str


_OPEN: Final = Door(False, "")
_TEXTS: Final = frozenset((str,))


@dataclass(slots=True)
class Layout:
    """A maze as names.

    ``passages`` has each pair of rooms once, in the order of its source; ``rooms`` is an ordered set.
    ``agent`` and ``target`` are the names of who moves and who is rescued.
    """

    passages: dict[tuple[str, str], Door] = field(default_factory=dict)
    key_rooms: dict[str, str] = field(default_factory=dict)
    rooms: dict[str, None] = field(default_factory=dict)
    start: str | None = None
    goal: str | None = None
    agent: str | None = None
    target: str | None = None

    def connect(self, one: str, other: str, locked: bool = False, key: str = "") -> None:
        """Add a passage, or what else is known of it."""
        if one == other:
            return
        pair = (other, one) if (other, one) in self.passages else (one, other)
        known = self.passages.get(pair, Door(False, ""))
        self.passages[pair] = Door(locked or known.locked, key or known.key)
        self.rooms[one] = self.rooms[other] = None

    def neighbours(self, locked: bool = True) -> dict[str, list[str]]:
        """For each room those next to it: behind all doors, or only behind open ones (not ``locked``)."""
        found: dict[str, list[str]] = {}
        for (one, other), door in self.passages.items():
            if locked or not door.locked:
                found.setdefault(one, []).append(other)
                found.setdefault(other, []).append(one)
        return found


def from_structure(details: str | bytes | Mapping[str, Any]) -> Layout:
    """The layout in a ``structural_details`` field (JSON text, or decoded already).

    Raises
    ------
    InputError
        It is no JSON, or a part has another form than the dataset card says; names the part.
    """
    if isinstance(details, (str, bytes)):
        try:
            details = orjson.loads(details)
        except orjson.JSONDecodeError as error:
            raise InputError(f"no JSON ({error})", field="structural_details") from None
    structure = _part(details, "structure", "structural_details")
    mappings = details.get("mappings") if isinstance(details, Mapping) else None
    names = _part(mappings, "coordinate_to_name", "structural_details.mappings") if mappings else {}
    if not _TEXTS.issuperset(map(type, names.values())):
        raise InputError("a room's name is no text", field="structural_details.mappings.coordinate_to_name")
    layout = Layout()
    passages, rooms = layout.passages, layout.rooms

    def room(coordinate: object, place: str) -> str:
        if not isinstance(coordinate, str):
            raise InputError("no coordinate", field=f"structural_details.structure.{place}")
        name: str = names.get(coordinate, coordinate)
        rooms[name] = None
        return name

    for pair, door in _optional(structure, "door_details").items():
        ends = pair.split("_")
        if len(ends) != 2 or not (type(door) is dict or isinstance(door, Mapping)):
            raise InputError(
                f"unreadable door {pair[:40]!r}", field="structural_details.structure.door_details"
            )
        one, other = names.get(ends[0], ends[0]), names.get(ends[1], ends[1])
        if door.get("status") == "open":
            if one != other and (one, other) not in passages and (other, one) not in passages:
                passages[one, other] = _OPEN  # as nearly all are
                rooms[one] = rooms[other] = None
            else:
                layout.connect(one, other)
        else:
            key = door.get("key_id")
            layout.connect(one, other, True, "" if key is None else str(key))
    # most neighbours are known from their door by now, and a maze has thousands
    for coordinate, behind in _part(structure, "adjacency_list", "structural_details.structure").items():
        here = room(coordinate, "adjacency_list")
        if type(behind) is not list and not isinstance(behind, (list, tuple)):
            raise InputError("no list", field="structural_details.structure.adjacency_list")
        for neighbor in behind:
            there = names.get(neighbor) if isinstance(neighbor, str) else None
            if (here, there) not in passages and (there, here) not in passages:
                layout.connect(here, room(neighbor, "adjacency_list"))
    for key, coordinate in _optional(structure, "key_locations").items():
        layout.key_rooms[key] = room(coordinate, "key_locations")
    layout.start = room(structure.get("start_room_coord"), "start_room_coord")
    layout.goal = room(structure.get("end_room_coord"), "end_room_coord")
    return layout


def from_facts(text: str, agent: str | None = None, target: str | None = None) -> Layout | None:
    """The layout that a question's facts describe; None where it holds no fact about rooms.

    Sentences and lines that are no facts are passed over. Linear time. Unless they are given, the agent is
    Bob or else the first person of the text, and the target the first other one.
    """
    layout = Layout()
    people: dict[str, str] = {}
    for sentence in _SENTENCE_END.split(text):
        if match := _PASSAGE.search(sentence):
            layout.connect(match[1], match[2], match[3] != "an open")
        elif match := _LOCK.search(sentence):
            layout.connect(match[1], match[2], True, match[3])
        elif match := _KEY.search(sentence):
            layout.key_rooms[match[1]] = match[2]
            layout.rooms[match[2]] = None
        elif match := _PERSON.fullmatch(sentence.strip(_BULLET)):
            people[match[1]] = match[2]
            layout.rooms[match[2]] = None
    if not layout.passages:
        return None
    order = sorted(people, key=lambda person: person != USUAL_AGENT)
    if agent is None:
        agent = next((person for person in order if person != target), None)
    if target is None:
        target = next((person for person in order if person != agent), None)
    layout.target = target
    layout.agent = agent
    layout.start = people.get(agent) if agent is not None else None
    layout.goal = people.get(target) if target is not None else None
    return layout


def _part(value: object, key: str, place: str) -> Mapping[str, Any]:
    part = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(part, Mapping):
        raise InputError("missing or no object", field=f"{place}.{key}")
    return part


def _optional(structure: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = structure.get(key)
    return {} if part is None else _part(structure, key, "structural_details.structure")


def column_letters(column: int) -> str:
    """A, B, …, Z, AA, AB, …, as spreadsheets count (column from 0)."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


class Fields(NamedTuple):
    """The parts, wherever they stood.

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
        answer, rest = _decoded(answer), row or {}
        completion = first(answer.get("actions"), answer.get("completion"), rest.get("completion"))
        structure = first(answer.get("structural_details"), rest.get("structural_details"))
        context = first(question, rest.get("context"), answer.get("context"))
        metadata = _decoded(first(answer.get("instance_metadata"), rest.get("instance_metadata")))
        parameters = _decoded(first(answer.get("complexity_parameters"), rest.get("complexity_parameters")))
        return cls(
            completion,
            structure if structure and isinstance(structure, (str, Mapping)) else None,
            _text(context),
            _text(metadata.get("agent_name")),
            _text(metadata.get("target_name")),
            _only(parameters.get("logical_depth_L"), int),
            _only(parameters.get("backtracking_count_B"), int),
            _only(parameters.get("noise_ratio_N"), float, int),
        )

    @property
    def key(self) -> bytes:
        """SHA-256 of what a maze and its gold are made of: equal only for equal ones, and small.

        A text and an object that Python writes as that text are two. A maze of 40 × 40 takes 0.2 ms.
        """
        found = sha256()
        of_maze = ("facts", self.context) if self.structure is None else ("structure", self.structure)
        for part in (*of_maze, self.completion, self.agent, self.target):
            is_text = isinstance(part, str)
            raw = (part if is_text else repr(part)).encode("utf-8", "surrogatepass")
            found.update(b"%d %d " % (is_text, len(raw)))
            found.update(raw)
        return found.digest()

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


def first(*values: Any) -> Any:
    """The first one that is there."""
    return next((value for value in values if value is not None), None)


def _decoded(value: object) -> Mapping[str, Any]:
    """An object, given as such or as its JSON text; empty if it is neither."""
    if type(value) is dict:
        return value
    if isinstance(value, str):
        value = decode_text(value)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _only(value: Any, *kinds: type) -> Any:
    """A value of one of these types, and nothing else."""
    return value if type(value) in kinds else None


_KEY_ACTIONS: Final = (layouts.PICK_UP, layouts.USE)


class Verdict(NamedTuple):
    """What running a plan in its maze shows.

    ``violation`` and ``violation_index`` (0-based) say where the first illegal action is, None for a plan
    that is legal from start to rescue; a missing rescue is a violation behind the last action.
    ``n_actions`` counts all actions, ``n_legal`` those before the violation.
    """

    valid: bool
    violation: str | None
    violation_index: int | None
    n_actions: int
    n_legal: int


@dataclass(frozen=True, slots=True, eq=False)
class Maze:
    """A maze with its names, what the kernels take of it, and where it was read from.

    ``first_edge``, ``neighbors``, ``doors``, ``door_keys`` and ``key_rooms`` (numbers of 32 bits), ``start``
    and ``goal`` as `relfast_kernels.maze.search.MazeTables` has them."""

    layout: Layout
    rooms: tuple[str, ...]
    keys: tuple[str, ...]
    target: str
    first_edge: array[int]
    neighbors: array[int]
    doors: array[int]
    door_keys: array[int]
    key_rooms: array[int]
    start: int
    goal: int
    source: Source

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Maze:
        """The maze of a SeqBench row: from ``structural_details``, or else from ``context`` or ``question``.

        Also takes records (``question`` and ``answer``) and, in place of a context, a list ``facts``.

        Raises
        ------
        InputError
            Neither describes a maze; names the field.
        """
        question, facts = row.get("question"), row.get("facts")
        if question is None and isinstance(facts, (list, tuple)):
            question = " ".join(map(str, facts))
        return cls.of(Fields.of(row.get("answer"), question, row))

    @classmethod
    def of(cls, fields: Fields) -> Maze:
        """See `from_row`."""
        gold = fields.gold() if fields.completion is not None else []
        found = fields.layout(gold)
        if found is None:
            raise InputError("no maze: neither structural_details nor facts about rooms", field="context")
        return cls.build(*found, extra=gold)

    @classmethod
    def build(cls, layout: Layout, source: Source, extra: Iterable[Action] = ()) -> Maze:
        """Number the layout's names.

        ``extra`` are actions of gold: rooms and keys that only these name become rooms without doors and
        keys that lie nowhere, so that a plan equal to gold is recognised in a maze that lacks some facts.
        """
        if layout.start is None or layout.goal is None or layout.target is None:
            who = "agent" if layout.start is None else "person to rescue"
            raise InputError(f"the facts do not say where the {who} is", field=source)
        rooms = dict.fromkeys((*layout.rooms, layout.start, layout.goal))
        keys = dict.fromkeys(
            (*layout.key_rooms, *(door.key for door in layout.passages.values() if door.key))
        )
        for action in extra:
            if CODES[action.name] in _KEY_ACTIONS:
                keys[action.parameter] = None
            elif action.name != "rescue":
                rooms[action.parameter] = None
        room_at = {name: index for index, name in enumerate(rooms)}
        key_at = {name: index for index, name in enumerate(keys)}
        door_keys = array("i")
        # from each room first the passages that name it first: the room behind, and then the door
        ahead: list[list[int]] = [[] for _ in rooms]
        back: list[list[int]] = [[] for _ in rooms]
        for (one, other), door in layout.passages.items():
            first, second = room_at[one], room_at[other]
            number = layouts.NO_DOOR
            if door.locked:
                number = len(door_keys)
                door_keys.append(key_at.get(door.key, layouts.NO_KEY))
            ahead[first] += (second, number)
            back[second] += (first, number)
        around = [here + there for here, there in zip(ahead, back, strict=True)]
        first_edge = array("i", accumulate([len(edges) // 2 for edges in around], initial=0))
        edges = array("i", list(chain.from_iterable(around)))
        return cls(
            layout,
            tuple(rooms),
            tuple(keys),
            layout.target,
            first_edge,
            edges[::2],
            edges[1::2],
            door_keys,
            array("i", [room_at.get(layout.key_rooms.get(key, ""), -1) for key in keys]),
            room_at[layout.start],
            room_at[layout.goal],
            source,
        )

    def encode(self, actions: Sequence[Action | None]) -> tuple[list[int], list[int]]:
        """Codes and arguments of a plan, as `relfast_kernels.maze.judge` wants them."""
        room_at = {name: index for index, name in enumerate(self.rooms)}
        key_at = {name: index for index, name in enumerate(self.keys)}
        kinds, arguments = [], []
        for action in actions:
            kind, argument = layouts.BAD, -1
            if action is not None:
                kind = CODES[action.name]
                if kind in _KEY_ACTIONS:
                    argument = key_at.get(action.parameter, -1)
                elif action.name == "rescue":
                    argument = 0 if action.parameter == self.target else -1
                else:
                    argument = room_at.get(action.parameter, -1)
            kinds.append(kind)
            arguments.append(argument)
        return kinds, arguments

    def first_violation(self, plan: Sequence[Action | None]) -> tuple[int, int]:
        """Code and index of a plan's first violation, LEGAL and -1 for one from start to rescue: by the
        kernel's source as plain Python, a microsecond an action."""
        from relfast_kernels.maze.judge import first_violation

        opened, held = [0] * len(self.door_keys), [0] * len(self.keys)
        code, index, _, _ = cast("Any", first_violation)(self, *self.encode(plan), opened, held)
        return code, index

    def decode(self, kinds: Iterable[int], arguments: Iterable[int]) -> list[str]:
        """The reverse of `encode`, for plans whose every argument the maze knows."""
        names: dict[int, Sequence[str]] = dict.fromkeys(range(len(layouts.ACTIONS)), self.rooms)
        names.update(dict.fromkeys(_KEY_ACTIONS, self.keys))
        names[CODES["rescue"]] = (self.target,)
        return [
            f"{layouts.ACTIONS[kind]}: {names[kind][argument]}"
            for kind, argument in zip(kinds, arguments, strict=True)
        ]


def edge_lists(
    n_rooms: int, ends: NDArray[np.int32], doors: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The first three of `MazeTables`, from passages (pairs of rooms) and their doors (or other marks)."""
    import numpy as np

    sources = np.concatenate((ends[:, 0], ends[:, 1]))
    order = np.argsort(sources, kind="stable")
    first_edge = np.zeros(n_rooms + 1, np.int32)
    np.cumsum(np.bincount(sources, minlength=n_rooms), out=first_edge[1:])
    return (
        first_edge,
        np.concatenate((ends[:, 1], ends[:, 0]))[order],
        np.concatenate((doors, doors))[order],
    )


def validate(maze: Maze, actions: object) -> Verdict:
    """Run a plan in a maze.

    Parameters
    ----------
    actions
        ``"action: param"`` strings or (action, param) pairs; a text, which is parsed; or None (unparsable).
    """
    plan = as_plan(actions)
    if plan is None:
        return Verdict(False, "unparsable", 0, 0, 0)
    code, index = maze.first_violation(plan)
    if code == layouts.LEGAL:
        return Verdict(True, None, None, len(plan), len(plan))
    return Verdict(False, layouts.VIOLATIONS[code], index, len(plan), index)


def shortest_plan(maze: Maze) -> list[str] | None:
    """The shortest legal plan as ``"action: param"`` strings, keys picked up at the first visit.

    None where no plan rescues. Of several shortest plans, one that is the same at every call.

    Raises
    ------
    InputError
        The maze has so many doors and cycles that the search was given up.
    """
    from relfast_kernels.maze.search import shortest_plan as search

    found = search(maze)
    if found.length == layouts.TOO_LARGE:
        raise InputError("too many doors and keys on cycles to search for the shortest plan")
    if found.length == layouts.UNSOLVABLE:
        return None
    return maze.decode(found.kinds, found.arguments)
