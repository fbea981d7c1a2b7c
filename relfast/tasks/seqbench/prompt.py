"""SeqBench's prompts: the task, the six actions and their rules, worked examples, and the form of the answer.

After the paper's prompt (arXiv 2509.16866): its three worked examples, its six actions, and its answer as a
list of ``('action', 'parameter')`` tuples. The wording is relfast's, since the paper's is not available. A
run records the name and version of its prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from relfast.errors import InputError

_TASK: Final = """\
You are given facts about a maze of rooms. Rooms are connected by doors; a door is either open, or \
closed and locked. A locked door needs one particular key, and each key lies in some room. Two people \
are in the maze: one goes from the room where they are to the other one and rescues them, with as few \
actions as possible. Some facts may be irrelevant. The only actions are:

- ('start', ROOM): the first action, in the room where the rescuer is.
- ('move_to', ROOM): go to an adjacent room, through a door that is open or that you have opened.
- ('pick_up_key', KEY): take a key that lies in the room where you are.
- ('use_key', KEY): use a key that you hold, right before you open the door that it belongs to.
- ('unlock_and_open_door_to', ROOM): open the locked door to an adjacent room; then move there.
- ('rescue', NAME): the last action, in the room of the person to be rescued.

Keys are kept once picked up, and doors stay open once opened. Pick up a key when you first come through \
its room.
"""

_ANSWER: Final = """\
Think as long as you need. End your response with the whole plan, from start to rescue, as one list of \
tuples with the rooms, keys and names in quotes, and write nothing after it:

[('start', 'A1'), ('move_to', 'A2'), ..., ('rescue', 'Alice')]
"""


class Example(NamedTuple):
    """A worked example of the paper's prompt: facts, and the plan as ``action: parameter``."""

    facts: str
    plan: str


EXAMPLES: Final = (
    Example(
        "Room C4 and C3 are connected by an open door. Room C3 and D3 are connected by an open "
        "door. Room D5 and E5 are connected by an open door. Room A2 and A1 are connected by an "
        "open door. Room A3 and B3 are connected by an open door. Room A1 and B1 are connected by "
        "an open door. Room A4 and A3 are connected by an open door. Room E5 and E4 are connected "
        "by an open door. Room D4 and D3 are connected by an open door. Room A5 and B5 are "
        "connected by an open door. Room D4 and E4 are connected by an open door. Bob is in room "
        "D5. Alice is in room C4.",
        "start: D5, move_to: E5, move_to: E4, move_to: D4, move_to: D3, move_to: C3, move_to: C4, "
        "rescue: Alice",
    ),
    Example(
        "Room A1 and A2 are connected by an open door. Room A2 and B2 are connected by an open "
        "door. Room B1 and B2 are connected by an open door. Room B1 and C1 are connected by an "
        "open door. Room C1 and C2 are connected by a closed and locked door. Door between C1 and "
        "C2 requires key 1. Key 1 is in room A2. Bob is in room A1. Alice is in room C2.",
        "start: A1, move_to: A2, pick_up_key: 1, move_to: B2, move_to: B1, move_to: C1, use_key: 1, "
        "unlock_and_open_door_to: C2, move_to: C2, rescue: Alice",
    ),
    Example(
        "Room B5 and B4 are connected by a closed and locked door. The locked door between B5 and "
        "B4 requires key 3. Key 3 is in room B5. Room B5 and C5 are connected by a closed and "
        "locked door. The locked door between B5 and C5 requires key 16. Key 16 is in room C5. Room "
        "B4 and C4 are connected by an open door. Room C4 and C3 are connected by an open door. "
        "Room C3 and D3 are connected by a closed and locked door. The locked door between C3 and "
        "D3 requires key 10. Key 10 is in room C4. Room D5 and D4 are connected by an open door. "
        "Room D4 and D3 are connected by an open door. Room A5 and B5 are connected by an open "
        "door. Bob is in room C5. Alice is in room D5.",
        "start: C5, pick_up_key: 16, use_key: 16, unlock_and_open_door_to: B5, move_to: B5, "
        "pick_up_key: 3, use_key: 3, unlock_and_open_door_to: B4, move_to: B4, move_to: C4, "
        "pick_up_key: 10, move_to: C3, use_key: 10, unlock_and_open_door_to: D3, move_to: D3, "
        "move_to: D4, move_to: D5, rescue: Alice",
    ),
)
"""Simple, one key, several keys: the paper's three, as a public re-evaluation quotes them."""

_AGENT: Final = "Bob"
_TARGET: Final = "Alice"
"""Agent and target in the examples, and in a row that does not name them."""


def few_shot(question: str, row: Mapping[str, Any]) -> str:
    """The prompt with the paper's worked examples; ``question`` is a row's context."""
    shown = "\n".join(
        f"Example {number}: {_AGENT} goes to {_TARGET} and rescues them.\n\n"
        f"Facts:\n{example.facts}\n\nPlan:\n{_tuples(example.plan)}\n"
        for number, example in enumerate(EXAMPLES, 1)
    )
    return f"{_TASK}\n{shown}\n{_question(question, row)}"


def zero_shot(question: str, row: Mapping[str, Any]) -> str:
    """The prompt without examples."""
    return f"{_TASK}\n{_question(question, row)}"


def _question(question: str, row: Mapping[str, Any]) -> str:
    agent, target = _people(question, row)
    return (
        f"Now solve this one: {agent} goes to {target} and rescues them.\n\nFacts:\n{question}\n\n{_ANSWER}"
    )


def _people(question: str, row: Mapping[str, Any]) -> tuple[str, str]:
    """Who goes and who is rescued: the facts name both, but not which is which."""
    from relfast.tasks.seqbench.maze import Fields, from_facts

    fields = Fields.of(row.get("answer"), question, row)
    try:
        target = fields.rescued()
    except InputError:
        target = fields.target
    layout = from_facts(question, fields.agent, target)
    agent, target = (fields.agent, target) if layout is None else (layout.agent, layout.target)
    return agent or _AGENT, target or _TARGET


def _tuples(plan: str) -> str:
    pairs = (action.split(": ") for action in plan.split(", "))
    return "[" + ", ".join(f"('{name}', '{parameter}')" for name, parameter in pairs) + "]"
