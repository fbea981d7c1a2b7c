"""What a row says of its maze, as names: read from ``structural_details`` or from the question's facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import orjson

from relfast.errors import InputError

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
    """A passage between two rooms: ``locked`` or open, and the key it takes ("" where nobody says)."""

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
            raise _bad(f"no JSON ({error})", "structural_details") from None
    structure = _part(details, "structure", "structural_details")
    mappings = details.get("mappings") if isinstance(details, Mapping) else None
    names = _part(mappings, "coordinate_to_name", "structural_details.mappings") if mappings else {}
    if not _TEXTS.issuperset(map(type, names.values())):
        raise _bad("a room's name is no text", "structural_details.mappings.coordinate_to_name")
    layout = Layout()
    passages, rooms = layout.passages, layout.rooms

    def room(coordinate: object, place: str) -> str:
        if not isinstance(coordinate, str):
            raise _bad("no coordinate", f"structural_details.structure.{place}")
        name: str = names.get(coordinate, coordinate)
        rooms[name] = None
        return name

    for pair, door in _optional(structure, "door_details").items():
        ends = pair.split("_")
        if len(ends) != 2 or not (type(door) is dict or isinstance(door, Mapping)):
            raise _bad(f"unreadable door {pair[:40]!r}", "structural_details.structure.door_details")
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
            raise _bad("no list", "structural_details.structure.adjacency_list")
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
        raise _bad("missing or no object", f"{place}.{key}")
    return part


def _optional(structure: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = structure.get(key)
    return {} if part is None else _part(structure, key, "structural_details.structure")


def _bad(message: str, field_name: str) -> InputError:
    return InputError(message, field=field_name)
