"""A maze to walk through action by action, for multi-step environments.

A walk is a plan that grows: each new action is appended to it, and the kernel that scores plans
(`relfast_kernels.maze.judge`) decides whether the longer plan is legal. So a walk scores as any other plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from relfast_kernels.layouts import LEGAL, VIOLATIONS

from relfast.errors import InputError
from relfast.tasks.seqbench.machine import Action, as_action
from relfast.tasks.seqbench.maze import Fields, Maze, shortest_plan

_TASK: Final = """\
You are in a maze of rooms{name} and go to {target} to rescue them, with as few actions as possible. Rooms \
are connected by doors; a door is either open, or closed and locked. A locked door needs one particular key, \
and each key lies in some room. Some facts may be irrelevant. Keys are kept once picked up, and doors stay \
open once opened. An action that is not possible changes nothing, and counts as one.

Facts:
{facts}

{where}"""

_ACTIONS: Final = """

Do one action at a time: move_to: ROOM, pick_up_key: KEY, use_key: KEY (right before the door it opens), \
unlock_and_open_door_to: ROOM, and at the end rescue: {target}."""

_WHY: Final[Mapping[str, str]] = {
    "bad_action": "that is no action",
    "wrong_start": "you have started",
    "not_adjacent": "no door leads there from here",
    "door_locked": "that door is locked",
    "key_not_here": "that key does not lie here",
    "key_not_held": "you do not hold that key",
    "wrong_key": "that door needs its own key, used right before it is opened",
    "no_such_door": "no locked door leads there from here",
    "wrong_rescue": "they are not in this room",
    "after_rescue": "the rescue was the last action",
}
"""Violation → the message to the agent."""

_GOES_ON: Final = VIOLATIONS.index("no_rescue")
"""The violation of a plan that is legal so far, and only lacks the rescue."""


class Walk:
    """A walk through a maze, which begins at the start. Not thread-safe.

    Parameters
    ----------
    answer, question
        A record's gold and facts.

    Attributes
    ----------
    plan
        The actions so far as ``"action: parameter"``, from ``start`` on, all legal.
    room, held
        The agent's room, and the keys picked up, in order.
    refused
        Number of illegal actions that were tried.
    done
        Whether the target is rescued.
    shortest
        Number of actions of gold, or of the shortest plan if the record has no gold.

    Raises
    ------
    InputError
        The record describes no maze, or a maze in which nobody can be rescued.
    """

    def __init__(self, answer: object, question: object) -> None:
        fields = Fields.of(answer, question)
        self.maze = Maze.of(fields)
        self._facts = question if isinstance(question, str) else ""
        self.room = str(self.maze.layout.start)
        self.plan = [f"start: {self.room}"]
        self.held: list[str] = []
        self.refused = 0
        self.done = False
        gold = fields.gold() if fields.completion is not None else shortest_plan(self.maze)
        if not gold:
            raise InputError("no legal plan rescues anybody in this maze", field=self.maze.source)
        self.shortest = len(gold)
        self._behind = self.maze.layout.neighbours()

    @property
    def told(self) -> str:
        """The prompt: task, facts and the agent's room, but not the actions, which tools describe."""
        agent = self.maze.layout.agent
        name = f" as {agent}" if agent else ""
        return _TASK.format(name=name, target=self.maze.target, facts=self._facts, where=self.where)

    @property
    def text(self) -> str:
        """The prompt with the actions."""
        return self.told + _ACTIONS.format(target=self.maze.target)

    @property
    def where(self) -> str:
        """A sentence with the agent's room and keys."""
        keys = f", with key {' and key '.join(self.held)}" if self.held else ""
        return f"You are in room {self.room}{keys}."

    @property
    def tried(self) -> int:
        """Number of actions tried so far, legal or not, without the start."""
        return len(self.plan) - 1 + self.refused

    def legal(self) -> list[str]:
        """The actions that are legal now, in a fixed order; none after the rescue."""
        behind = self._behind.get(self.room, [])
        tried = [
            *(Action("move_to", room) for room in behind),
            *(Action("pick_up_key", key) for key in self.maze.keys),
            *(Action("use_key", key) for key in self.held),
            *(Action("unlock_and_open_door_to", room) for room in behind),
            Action("rescue", self.maze.target),
        ]
        violations = self._violations(*([action] for action in tried))
        return [str(action) for action, wrong in zip(tried, violations, strict=True) if wrong is None]

    def step(self, action: object) -> str | None:
        """Do an action, given as ``"action: parameter"`` or as a pair; return None, or the violation if it is
        illegal.

        An illegal action changes nothing but ``refused``.
        """
        read = as_action(action)
        (violation,) = self._violations([read])
        if violation is not None or read is None:
            self.refused += 1
            return violation or "bad_action"
        self.plan.append(str(read))
        if read.name == "move_to":
            self.room = read.parameter
        elif read.name == "pick_up_key":
            self.held.append(read.parameter)
        self.done = read.name == "rescue"
        return None

    def key_to(self, room: str) -> str | None:
        """The key held that opens the locked door from here to a room; None without such a key or door."""
        ways = [(Action("use_key", key), Action("unlock_and_open_door_to", room)) for key in self.held]
        for key, violation in zip(self.held, self._violations(*ways), strict=True):
            if violation is None:
                return key
        return None

    @staticmethod
    def why(violation: str) -> str:
        """The message for a violation."""
        return _WHY.get(violation, _WHY["bad_action"])

    def _violations(self, *ways: Sequence[Action | None]) -> list[str | None]:
        """The violation of each of some continuations of the plan; None for a legal one."""
        done = [*map(as_action, self.plan)]
        found = self.maze.violations(*([*done, *way] for way in ways))
        return [None if code in (LEGAL, _GOES_ON) else VIOLATIONS[code] for code, _ in found]
