"""A maze ready for the kernels: rooms, keys and people by number, and the plans that run through it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relfast_kernels.layouts import (
    ACTIONS,
    BAD,
    NO_DOOR,
    NO_KEY,
    PICK_UP,
    TOO_LARGE,
    UNSOLVABLE,
    USE,
    VIOLATIONS,
)

from relfast.errors import InputError
from relfast.tasks.seqbench.actions import CODES, Action, as_plan
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.layout import Layout, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from relfast_kernels.maze.tables import MazeTables

_KEY_ACTIONS: Final = (PICK_UP, USE)


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
    and ``goal`` as `relfast_kernels.maze.tables.MazeTables` has them."""

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
            number = NO_DOOR
            if door.locked:
                number = len(door_keys)
                door_keys.append(key_at.get(door.key, NO_KEY))
            ahead[first] += (second, number)
            back[second] += (first, number)
        first_edge, edges = array("i", (0,)), array("i")
        for here, there in zip(ahead, back, strict=True):
            edges.extend(array("i", here + there))
            first_edge.append(len(edges) // 2)
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

    @property
    def tables(self) -> MazeTables:
        """The maze for kernels that take arrays of numpy."""
        import numpy as np
        from relfast_kernels.maze.tables import MazeTables

        return MazeTables(
            np.array(self.first_edge, np.int32),
            np.array(self.neighbors, np.int32),
            np.array(self.doors, np.int32),
            np.array(self.door_keys, np.int32),
            np.array(self.key_rooms, np.int32),
            self.start,
            self.goal,
        )

    def encode(self, actions: Sequence[Action | None]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Codes and arguments of a plan, as `relfast_kernels.maze.judge` wants them."""
        import numpy as np

        kinds, arguments = self.numbers_of(actions)
        return np.array(kinds, np.int32), np.array(arguments, np.int32)

    def numbers_of(self, actions: Sequence[Action | None]) -> tuple[list[int], list[int]]:
        """The same as lists."""
        room_at = {name: index for index, name in enumerate(self.rooms)}
        key_at = {name: index for index, name in enumerate(self.keys)}
        kinds, arguments = [], []
        for action in actions:
            kind, argument = BAD, -1
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

    def decode(self, kinds: Iterable[int], arguments: Iterable[int]) -> list[str]:
        """The reverse of `encode`, for plans whose every argument the maze knows."""
        names: dict[int, Sequence[str]] = dict.fromkeys(range(len(ACTIONS)), self.rooms)
        names.update(dict.fromkeys(_KEY_ACTIONS, self.keys))
        names[CODES["rescue"]] = (self.target,)
        return [
            f"{ACTIONS[kind]}: {names[kind][argument]}"
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
    import numpy as np
    from relfast_kernels.maze.plans import validate_plans

    plan = as_plan(actions)
    if plan is None:
        return Verdict(False, "unparsable", 0, 0, 0)
    kinds, arguments = maze.encode(plan)
    codes, indices = validate_plans(maze.tables, kinds, arguments, np.array([0, len(plan)], np.int64))
    if codes[0] < 0:
        return Verdict(True, None, None, len(plan), len(plan))
    index = int(indices[0])
    return Verdict(False, VIOLATIONS[codes[0]], index, len(plan), index)


def shortest_plan(maze: Maze) -> list[str] | None:
    """The shortest legal plan as ``"action: param"`` strings, keys picked up at the first visit.

    None where no plan rescues. Of several shortest plans, one that is the same at every call.

    Raises
    ------
    InputError
        The maze has so many doors and cycles that the search was given up.
    """
    from relfast_kernels.maze.plans import shortest_plan as search

    found = search(maze.tables)
    if found.length == TOO_LARGE:
        raise InputError("too many doors and keys on cycles to search for the shortest plan")
    if found.length == UNSOLVABLE:
        return None
    return maze.decode(found.kinds.tolist(), found.arguments.tolist())
