"""Stand-ins for models: strategies that answer without solving the maze, and a mock model.

Strategies see the record as a model does, without gold: their reward shows what can be earned without
reasoning. The mock sees gold.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from relfast.tasks.base import BlindStrategy
from relfast.tasks.seqbench.maze import Fields, Layout, from_facts
from relfast.tasks.seqbench.prompt import EXAMPLES

_RANDOM_STEPS: Final = 40
"""Most moves of a random walk."""


def _in_maze(plan: Callable[[Layout, random.Random], Sequence[str] | None]) -> BlindStrategy:
    """A strategy that responds with ``plan`` for the maze that the question describes. It responds "[]" if
    that has no start or no person to rescue, or ``plan`` returns nothing."""

    def respond(record: Mapping[str, Any], rng: random.Random) -> str:
        question = record.get("question")
        layout = from_facts(question) if isinstance(question, str) else None
        if layout is None or layout.start is None or layout.target is None:
            return "[]"
        return str(plan(layout, rng) or [])

    return respond


def _transcribe(layout: Layout, rng: random.Random) -> list[str]:
    """Take the passages in the order in which the question prints them, walking back to where the next one
    begins.

    A passage that does not lead from a visited room to a new one is skipped.
    """
    here = str(layout.start)
    plan = [f"start: {here}"]
    lying = {room: key for key, room in layout.key_rooms.items()}
    visited: dict[str, list[str]] = {here: []}  # each with its neighbours along passages taken
    for (one, other), door in layout.passages.items():
        if here == layout.goal:
            break
        if (one in visited) == (other in visited):
            continue
        near, there = (one, other) if one in visited else (other, one)
        if here in lying:
            plan.append(f"pick_up_key: {lying.pop(here)}")
        plan += [f"move_to: {room}" for room in _way(visited, here, near)]
        if door.locked:
            plan += [f"use_key: {door.key}", f"unlock_and_open_door_to: {there}"]
        plan.append(f"move_to: {there}")
        visited[near].append(there)
        visited[there] = [near]
        here = there
    return [*plan, f"rescue: {layout.target}"]


def _straight(layout: Layout, rng: random.Random) -> list[str] | None:
    """Take the shortest way from start to goal as if all doors were open."""
    if layout.goal is None:
        return None
    way = _way(layout.neighbours(), str(layout.start), layout.goal)
    return [f"start: {layout.start}", *(f"move_to: {room}" for room in way), f"rescue: {layout.target}"]


def _random_walk(layout: Layout, rng: random.Random) -> list[str]:
    """Make random legal moves, and pick up every key on the way."""
    neighbours = layout.neighbours(locked=False)
    here = str(layout.start)
    plan = [f"start: {here}"]
    lying = {room: key for key, room in layout.key_rooms.items()}
    for _ in range(_RANDOM_STEPS):
        if here in lying:
            plan.append(f"pick_up_key: {lying.pop(here)}")
        if not neighbours.get(here):
            break
        here = rng.choice(neighbours[here])
        plan.append(f"move_to: {here}")
    return [*plan, f"rescue: {layout.target}"]


def _one_random_move(layout: Layout, rng: random.Random) -> list[str]:
    """Start, and make one random legal move."""
    rooms = layout.neighbours(locked=False).get(str(layout.start))
    return [f"start: {layout.start}", *([f"move_to: {rng.choice(rooms)}"] if rooms else [])]


def _way(neighbours: Mapping[str, list[str]], start: str, goal: str) -> list[str]:
    """Rooms on the shortest way (breadth-first) without ``start``; none if there is no way."""
    before = {start: start}
    queue = [start]
    for room in queue:
        for other in neighbours.get(room, ()):
            if other not in before:
                before[other] = room
                queue.append(other)
    way = []
    room = goal
    while room in before and room != start:
        way.append(room)
        room = before[room]
    return way[::-1]


STRATEGIES: Final[dict[str, BlindStrategy]] = {
    "facts in printed order": _in_maze(_transcribe),
    "straight to the goal, doors ignored": _in_maze(_straight),
    "from start to goal at once": _in_maze(
        lambda maze, rng: [f"start: {maze.start}", f"move_to: {maze.goal}", f"rescue: {maze.target}"]
    ),
    "nothing": _in_maze(lambda maze, rng: [f"start: {maze.start}"]),
    "rescue at once": _in_maze(lambda maze, rng: [f"start: {maze.start}", f"rescue: {maze.target}"]),
    "random walk": _in_maze(_random_walk),
    "one random move": _in_maze(_one_random_move),
    "copies the question": lambda record, rng: str(record.get("question") or ""),
    "copies an example": lambda record, rng: str(EXAMPLES[1].plan.split(", ")),
}
"""Name → function from a record without gold and a random source to a response."""

MOCK_L0: Final = 60.0
"""The mock's L0: it is right with probability exp(−L / MOCK_L0) if the gold plan has L actions."""


def mock(row: Mapping[str, Any], luck: random.Random) -> str:
    """The gold plan of an input row, or a wrong one of its first few actions and the rescue. Like real
    models, the mock is right less often the longer the plan is."""
    plan = Fields.of(row.get("answer"), row.get("question"), row).gold()
    if luck.random() >= math.exp(-len(plan) / MOCK_L0):
        plan = [*plan[: luck.randrange(1, len(plan))], plan[-1]]
    shown = ", ".join(f"({action.name!r}, {action.parameter!r})" for action in plan)
    return f"Let us go step by step through the facts.\n\n[{shown}]"
