"""What a record says of its maze, the maze as numbers, and the plans that run through it."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import orjson
from relfast_kernels import layouts
from relfast_kernels.maze.layouts import FLAW, HEADER, Fact, Flaw

from relfast.errors import InputError
from relfast.json_text import decode_text
from relfast.tasks.seqbench.actions import CODES, Action, as_plan, encode
from relfast.tasks.seqbench.machine import machine

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

    def as_structure(self, source: Source) -> bytes:
        """The maze as ``structural_details`` has it, with the rooms' numbers as coordinates.

        Raises
        ------
        InputError
            It is not known where the agent starts, or whom to rescue where.
        """
        if self.start is None or self.goal is None or self.target is None:
            who = "agent" if self.start is None else "person to rescue"
            raise InputError(f"the facts do not say where the {who} is", field=source)
        names = [*dict.fromkeys((*self.rooms, self.start, self.goal))]
        at = {name: str(number) for number, name in enumerate(names)}
        structure = {
            "door_details": {
                f"{at[one]}_{at[other]}": {"status": "closed" if door.locked else "open", "key_id": door.key}
                for (one, other), door in self.passages.items()
            },
            "adjacency_list": {number: [] for number in at.values()},
            "key_locations": {key: at[room] for key, room in self.key_rooms.items()},
            "start_room_coord": at[self.start],
            "end_room_coord": at[self.goal],
        }
        details = {
            "mappings": {"coordinate_to_name": dict(zip(at.values(), names, strict=True))},
            "structure": structure,
        }
        return json.dumps(details, ensure_ascii=False).encode("utf-8", "surrogatepass")

    def neighbours(self, locked: bool = True) -> dict[str, list[str]]:
        """For each room those next to it: behind all doors, or only behind open ones (not ``locked``)."""
        found: dict[str, list[str]] = {}
        for (one, other), door in self.passages.items():
            if locked or not door.locked:
                found.setdefault(one, []).append(other)
                found.setdefault(other, []).append(one)
        return found


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

    @property
    def text(self) -> str:
        """The gold plan as a text. Raises `InputError` as `gold`."""
        if isinstance(self.completion, str):
            return self.completion
        return str([str(action) for action in self.gold()])

    def facts(self) -> Layout | None:
        """The maze that the facts describe; None where none does, or it is described elsewhere."""
        if self.structure is not None:
            return None
        gold = self.gold() if self.completion is not None else []
        rescued = next((action.parameter for action in reversed(gold) if action.name == "rescue"), None)
        return from_facts(self.context or "", self.agent, rescued or self.target)

    def numbers(self, facts: Layout | None) -> array[int]:
        """The maze, of the facts or ``structural_details``, and gold, if there is any, as the kernels take
        them. Without a maze there is one room, so that plans can be compared with gold.

        Raises
        ------
        InputError
            Gold is no plan, or the maze contradicts the dataset card; names the field.
        """
        gold = b"" if self.completion is None else encode(self.text)
        if not gold and self.completion is not None:
            raise InputError("gold is no list of actions", field="completion")
        build, target = machine().build, encode(self.target or "")
        if self.structure is None:
            layout = facts or Layout(start="", goal="", target=_NOBODY)
            code, numbers = build(layout.as_structure("context"), gold, encode(layout.target or ""))
        else:
            # as it stands, or else in the one way that all parsers read alike
            raw = encode(self.structure) if isinstance(self.structure, str) else b""
            code, numbers = build(raw, gold, target)
            if code == FLAW.json:
                code, numbers = build(_as_json(self.structure), gold, target)
        if code < 0:
            what, where = _FLAWS[FLAW.index(code)]
            raise InputError(what.format(numbers[0]), field=where)
        return numbers


_MISSING: Final = "missing or no object"
_NO_PLACE: Final = "no coordinate"
_DETAILS: Final = "structural_details"
_FLAWS: Final = Flaw(
    json=("no JSON that is read", _DETAILS),
    gold=("gold is no list of actions", "completion"),
    action=("gold item {} is no action", "completion"),
    structure=(_MISSING, f"{_DETAILS}.structure"),
    names=(_MISSING, f"{_DETAILS}.mappings.coordinate_to_name"),
    name=("a room's name is no text", f"{_DETAILS}.mappings.coordinate_to_name"),
    keys=(_MISSING, f"{_DETAILS}.structure.key_locations"),
    key=(_NO_PLACE, f"{_DETAILS}.structure.key_locations"),
    doors=(_MISSING, f"{_DETAILS}.structure.door_details"),
    door=("a door is no object between two coordinates", f"{_DETAILS}.structure.door_details"),
    around=(_MISSING, f"{_DETAILS}.structure.adjacency_list"),
    behind=("no list", f"{_DETAILS}.structure.adjacency_list"),
    neighbor=(_NO_PLACE, f"{_DETAILS}.structure.adjacency_list"),
    start=(_NO_PLACE, f"{_DETAILS}.structure.start_room_coord"),
    goal=(_NO_PLACE, f"{_DETAILS}.structure.end_room_coord"),
    target=("the facts do not say where the person to rescue is", _DETAILS),
)
"""What is wrong with a record, and where."""

_NOBODY: Final = "\n"
"""A name that no plan can have."""


def _as_json(details: str | Mapping[str, Any]) -> bytes:
    """A maze as orjson writes it."""
    try:
        return orjson.dumps(orjson.loads(details) if isinstance(details, str) else details, default=dict)
    except (ValueError, TypeError) as error:
        raise InputError(f"no JSON ({error})", field="structural_details") from None


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
        facts = fields.facts()
        if facts is None and fields.structure is None:
            raise InputError("no maze: neither structural_details nor facts about rooms", field="context")
        numbers = fields.numbers(facts)
        about = Fact(*numbers[:HEADER])
        sizes = (HEADER, about.n_rooms + 1, about.n_edges, about.n_edges, about.n_doors, about.n_keys)
        places = [*accumulate((*sizes, 2 * about.n_gold, about.n_names, about.n_slots + 4 * about.n_gold))]
        first_edge, neighbors, doors, door_keys, key_rooms, _, ends, _ = (
            numbers[begin:end] for begin, end in pairwise(places)
        )
        text, begins = numbers[places[-1] :].tobytes(), (0, *ends)
        names = [
            text[begin:end].decode("utf-8", "surrogatepass") for begin, end in zip(begins, ends, strict=False)
        ]
        rooms, keys = names[: about.n_rooms], names[about.n_rooms : -1]
        layout = Layout(
            key_rooms={key: rooms[at] for key, at in zip(keys, key_rooms, strict=True) if at >= 0},
            start=rooms[about.start_room],
            goal=rooms[about.goal_room],
            agent=fields.agent if facts is None else facts.agent,
            target=names[-1],
        )
        passages = iter(numbers[len(numbers) - about.n_edges // 2 * 3 :])
        for one, other, door in zip(passages, passages, passages, strict=True):
            key = door_keys[door] if door >= 0 else layouts.NO_KEY
            layout.connect(rooms[one], rooms[other], door >= 0, keys[key] if key >= 0 else "")
        return cls(
            layout,
            tuple(rooms),
            tuple(keys),
            names[-1],
            first_edge,
            neighbors,
            doors,
            door_keys,
            key_rooms,
            about.start_room,
            about.goal_room,
            "structural_details" if facts is None else "context",
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
