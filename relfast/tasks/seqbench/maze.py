"""Reads mazes from records, builds them for the kernels, and runs plans in them."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import orjson
from relfast_kernels import layouts
from relfast_kernels.maze.layouts import FLAW, Flaw

from relfast.errors import InputError
from relfast.json_text import decode_text
from relfast.tasks.seqbench.machine import Action, as_plan, encode, machine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Source = Literal["structural_details", "context"]
"""The field from which a maze was read."""

# a token of a chat template (``<…``, ``[…``) may follow the last sentence without a blank
_SENTENCE_END: Final = re.compile(r"\.(?:\s+|$|(?=[<\[]))|\n")
_BULLET: Final = " \t-*•"
_PASSAGE: Final = re.compile(
    r"Room (\S+) and (?:Room )?(\S+) are connected by (an open|a closed and locked) door"
)
_LOCK: Final = re.compile(r"(?:The locked door|Door) between (\S+) and (\S+) requires key (\S+)")
_KEY: Final = re.compile(r"Key (\S+) is in room (\S+)")
_PERSON: Final = re.compile(r"(\S.{0,200}?) is in room (\S+)")

USUAL_AGENT: Final = "Bob"
"""The agent in all published contexts, whatever the order of the sentences."""


class Door(NamedTuple):
    """The door of a passage between two rooms: locked or open, and its key ("" if none is named)."""

    locked: bool
    key: str


@dataclass(slots=True)
class Layout:
    """A maze in terms of names.

    ``passages`` has each pair of rooms once, in the order of its source. ``agent`` is the name of the person
    who moves, ``target`` that of the person to rescue.
    """

    passages: dict[tuple[str, str], Door] = field(default_factory=dict)
    key_rooms: dict[str, str] = field(default_factory=dict)
    start: str | None = None
    goal: str | None = None
    agent: str | None = None
    target: str | None = None

    def connect(self, one: str, other: str, locked: bool = False, key: str = "") -> None:
        """Add a passage; if it is known already, add the lock and the key to it."""
        if one == other:
            return
        pair = (other, one) if (other, one) in self.passages else (one, other)
        known = self.passages.get(pair, Door(False, ""))
        self.passages[pair] = Door(locked or known.locked, key or known.key)

    def as_structure(self) -> bytes:
        """The maze of a context as ``structural_details`` has it, with the rooms' numbers as coordinates.

        Raises
        ------
        InputError
            It is not known where the agent starts, or whom to rescue where.
        """
        if self.start is None or self.goal is None or self.target is None:
            who = "agent" if self.start is None else "person to rescue"
            raise InputError(f"the facts do not say where the {who} is", field="context")
        names = dict.fromkeys(
            (*chain.from_iterable(self.passages), *self.key_rooms.values(), self.start, self.goal)
        )
        at = {name: str(number) for number, name in enumerate(names)}
        doors = {
            f"{at[one]}_{at[other]}": {"status": "closed" if door.locked else "open", "key_id": door.key}
            for (one, other), door in self.passages.items()
        }
        structure = {
            "door_details": doors,
            "adjacency_list": {},
            "key_locations": {key: at[room] for key, room in self.key_rooms.items()},
            "start_room_coord": at[self.start],
            "end_room_coord": at[self.goal],
        }
        names = {"coordinate_to_name": {number: name for name, number in at.items()}}
        text = json.dumps({"mappings": names, "structure": structure}, ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")

    def neighbours(self, locked: bool = True) -> dict[str, list[str]]:
        """For each room, the adjacent rooms; without ``locked`` only those behind open doors."""
        found: dict[str, list[str]] = {}
        for (one, other), door in self.passages.items():
            if locked or not door.locked:
                found.setdefault(one, []).append(other)
                found.setdefault(other, []).append(one)
        return found


def from_facts(text: str, agent: str | None = None, target: str | None = None) -> Layout | None:
    """The layout that the facts in a question describe; None if there is no fact about rooms.

    Sentences and lines that are no facts are skipped. Takes linear time. If they are not given, the agent is
    Bob or else the first person in the text, and the target the first other person.
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
        elif match := _PERSON.fullmatch(sentence.strip(_BULLET)):
            people[match[1]] = match[2]
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
    """The letters of a column (from 0), as in spreadsheets: A, B, …, Z, AA, AB, …"""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


class Fields(NamedTuple):
    """The fields of a SeqBench record, from wherever they stand in it.

    ``completion`` is gold, ``structure`` is ``structural_details`` as text or decoded, ``context`` the facts.
    ``depth``, ``backtracking`` and ``noise`` are L, B and N. Fields that the record lacks are None.
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
        """Read fields from ``answer`` (an object, or its JSON text), or else from the row; None is absent."""
        answer, rest = _decoded(answer), row or _NO_ROW
        completion = answer.get("actions")
        if completion is None:
            completion = _member("completion", answer, rest)
        structure = _member("structural_details", answer, rest)
        context = question if question is not None else _member("context", rest, answer)
        metadata = _decoded(_member("instance_metadata", answer, rest))
        parameters = _decoded(_member("complexity_parameters", answer, rest))
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
    def key(self) -> tuple[object, ...]:
        """All that determines the maze and its gold, as a key of caches. Python hashes a text three times
        as fast as SHA-256 does, and once only.

        A text and an object with that text as its ``repr`` have different keys.
        """
        of_maze = self.context if self.structure is None else self.structure
        parts = (of_maze, self.completion, self.agent, self.target)
        kinds = [type(part) is str for part in parts]
        texts = [part if known else repr(part) for part, known in zip(parts, kinds, strict=True)]
        return self.structure is None, *kinds, *texts

    def without_maze(self) -> Fields:
        """These fields without those from which the maze and its gold are built."""
        return self._replace(completion=None, structure=None, context=None)

    def gold(self) -> list[Action]:
        """The gold plan.

        Raises
        ------
        InputError
            There is no gold, or an item of it is no action.
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
        """The gold plan as a text. Raises `InputError` like `gold`."""
        if isinstance(self.completion, str):
            return self.completion
        return str([str(action) for action in self.gold()])

    def _trimmed(self) -> str:
        """The gold plan as a text without blanks around parameters: the kernel drops those of ASCII only."""
        text = self.text
        if text.isascii() and text.isprintable() and "\\" not in text:
            return text
        return str([str(action) for action in self.gold()])

    def rescued(self) -> str | None:
        """The person whom gold rescues, or else whom the record names. Raises `InputError` like `gold`."""
        plan = self.gold() if self.completion is not None else []
        return next((one.parameter for one in reversed(plan) if one.name == "rescue"), self.target)

    def built(self) -> tuple[array[int], Source | None, Layout | None]:
        """Build the problem for the kernels: its numbers, the field from which the maze was read, and the
        layout that was read if that field was the facts. Without gold, gold is the rescue alone.

        If nothing describes a maze, the problem has one room, so that plans can be compared with gold.

        Raises
        ------
        InputError
            Gold is no plan, or the maze contradicts the dataset card; names the field.
        """
        facts = None
        if self.structure is None:
            facts = from_facts(self.context or "", self.agent, self.rescued())
        build, is_told = machine().build, self.completion is not None
        who = (self.target if facts is None else facts.target) or ""
        gold = encode(self._trimmed() if is_told else str([f"rescue: {who}"]) if who else "")
        if is_told and not gold:
            raise InputError("gold is no list of actions", field="completion")
        if self.structure is None:
            layout = facts or Layout(start="", goal="", target=_NOBODY)
            code, numbers = build(layout.as_structure(), gold, encode(layout.target or ""))
        else:
            # the text as it stands; if the kernel cannot read that, as orjson writes it
            code, numbers = build(_as_written(self.structure), gold, encode(who))
            if code == FLAW.json:
                if is_told:
                    self.gold()  # reports a flaw of gold before one of the maze
                code, numbers = build(_as_json(self.structure), gold, encode(who))
        if code < 0:
            what, where = _FLAWS[FLAW.index(code)]
            index, name = numbers
            raise InputError(what.format(index, repr(name[:40])), field=where)
        if self.structure is not None:
            return numbers, "structural_details", None
        return numbers, None if facts is None else "context", facts


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
    door=("unreadable door {1}", f"{_DETAILS}.structure.door_details"),
    around=(_MISSING, f"{_DETAILS}.structure.adjacency_list"),
    behind=("no list", f"{_DETAILS}.structure.adjacency_list"),
    neighbor=(_NO_PLACE, f"{_DETAILS}.structure.adjacency_list"),
    start=(_NO_PLACE, f"{_DETAILS}.structure.start_room_coord"),
    goal=(_NO_PLACE, f"{_DETAILS}.structure.end_room_coord"),
    target=("the facts do not say where the person to rescue is", _DETAILS),
)
"""For each `FLAW`: the message, and the field of the record."""

_NOBODY: Final = "\n"
"""A name that no plan can have."""


def _as_written(details: str | Mapping[str, Any]) -> bytes:
    """The JSON of a maze as it stands; empty if it is no text that UTF-8 can encode."""
    try:
        return details.encode() if isinstance(details, str) else b""
    except UnicodeEncodeError:
        return b""


def _as_json(details: str | Mapping[str, Any]) -> bytes:
    """The JSON of a maze as orjson writes it."""
    try:
        return orjson.dumps(orjson.loads(details) if isinstance(details, str) else details, default=dict)
    except (ValueError, TypeError) as error:
        raise InputError(f"no JSON ({error})", field="structural_details") from None


_NO_ROW: Final[Mapping[str, Any]] = {}


def _member(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Any:
    """A member of one object, or of the other where that lacks it."""
    value = one.get(name)
    return other.get(name) if value is None else value


def _decoded(value: object) -> Mapping[str, Any]:
    """The object that a value is, or holds as JSON text; else an empty one."""
    if type(value) is dict:
        return value
    if isinstance(value, str):
        value = decode_text(value)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _only(value: Any, *kinds: type) -> Any:
    """The value if it has exactly one of these types, else None."""
    return value if type(value) in kinds else None


class Verdict(NamedTuple):
    """The result of running a plan in its maze.

    ``violation`` and ``violation_index`` (0-based) describe the first illegal action, and are None for a plan
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
    """A maze with its names, and the field from which it was read.

    ``numbers`` are the maze and gold as a problem for the kernels (`relfast_kernels.maze.layouts`); if the
    record has no gold, gold is the rescue alone.
    """

    layout: Layout
    rooms: tuple[str, ...]
    keys: tuple[str, ...]
    target: str
    numbers: array[int]
    source: Source

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Maze:
        """The maze of a SeqBench row: from ``structural_details``, or else from ``context`` or ``question``.

        Also takes records (``question`` and ``answer``) and, in place of a context, a list ``facts``.

        Raises
        ------
        InputError
            No field describes a maze, or one is faulty; names the field.
        """
        question, facts = row.get("question"), row.get("facts")
        if question is None and isinstance(facts, (list, tuple)):
            question = " ".join(map(str, facts))
        return cls.of(Fields.of(row.get("answer"), question, row))

    @classmethod
    def of(cls, fields: Fields) -> Maze:
        """The maze of a record's fields: see `from_row`."""
        numbers, source, facts = fields.built()
        if source is None:
            raise InputError("no maze: neither structural_details nor facts about rooms", field="context")
        tables, called, *_ = _tables(numbers)
        text, ends = called.text.tobytes(), called.ends.tolist()
        names = [text[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise((0, *ends))]
        n_rooms = len(tables.first_edge) - 1
        rooms, keys = names[:n_rooms], names[n_rooms:-1]
        layout = Layout(
            key_rooms={keys[key]: rooms[room] for key, room in enumerate(tables.key_rooms) if room >= 0},
            start=rooms[tables.start],
            goal=rooms[tables.goal],
            agent=fields.agent if facts is None else facts.agent,
            target=names[-1],
        )
        passages = iter(numbers[len(numbers) - 3 * (len(tables.neighbors) // 2) :])
        for one, other, door in zip(passages, passages, passages, strict=True):
            key = tables.door_keys[door] if door >= 0 else layouts.NO_KEY
            layout.connect(rooms[one], rooms[other], door >= 0, keys[key] if key >= 0 else "")
        return cls(layout, tuple(rooms), tuple(keys), names[-1], numbers, source)

    def violations(self, *plans: Sequence[Action | None]) -> list[tuple[int, int]]:
        """Code and index of the first violation of each plan; LEGAL and -1 for a legal one with a rescue."""
        texts = [str(["?" if action is None else str(action) for action in plan]) for plan in plans]
        found = machine().judge([*map(encode, texts)], [self.numbers.buffer_info()[0]] * len(texts))
        return [
            (score.violation, score.violation_index)
            if score.n_actions
            else (layouts.BAD_ACTION if plan else layouts.NO_RESCUE, 0)
            for plan, score in zip(plans, found, strict=True)
        ]


def _tables(numbers: array[int]) -> Any:
    """The parts of a packed problem, as a `relfast_kernels.maze.search.MazeProblem`."""
    import numpy as np
    from relfast_kernels.maze.search import unpack

    return unpack(np.frombuffer(numbers, np.int32))


def edge_lists(
    n_rooms: int, ends: NDArray[np.int32], doors: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The first three of `MazeTables`, from passages (pairs of rooms) and their doors (or any numbers)."""
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
        ``"action: param"`` strings or (action, param) pairs; or a text, which is parsed. Anything else, and a
        text without a plan, is ``unparsable``.
    """
    plan = as_plan(actions)
    if plan is None:
        return Verdict(False, "unparsable", 0, 0, 0)
    ((code, index),) = maze.violations(plan)
    if code == layouts.LEGAL:
        return Verdict(True, None, None, len(plan), len(plan))
    return Verdict(False, layouts.VIOLATIONS[code], index, len(plan), index)


def shortest_plan(maze: Maze) -> list[str] | None:
    """The shortest legal plan as ``"action: param"`` strings, keys picked up at the first visit.

    None if no plan rescues. Of several shortest plans, every call returns the same.

    Raises
    ------
    InputError
        The maze has so many doors and cycles that the search was given up.
    """
    from relfast_kernels.maze.search import shortest_plan as search

    found = search(_tables(maze.numbers).maze)
    if found.length == layouts.TOO_LARGE:
        raise InputError("too many doors and keys on cycles to search for the shortest plan")
    if found.length == layouts.UNSOLVABLE:
        return None
    names: dict[int, Sequence[str]] = dict.fromkeys(range(len(layouts.ACTIONS)), maze.rooms)
    names |= {layouts.PICK_UP: maze.keys, layouts.USE: maze.keys, layouts.RESCUE: (maze.target,)}
    return [
        f"{layouts.ACTIONS[kind]}: {names[kind][argument]}"
        for kind, argument in zip(found.kinds, found.arguments, strict=True)
    ]
