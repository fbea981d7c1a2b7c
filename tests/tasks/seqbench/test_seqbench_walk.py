"""Mazes walked action by action, where legal is what the judge says of the whole plan."""

from __future__ import annotations

import random
from typing import Any

import pytest
import seqbench_checker as checker

from relfast.errors import InputError
from relfast.seqbench import Maze, generate
from relfast.tasks.seqbench.maze import validate
from relfast.tasks.seqbench.walk import Walk

ROWS = list(generate(4, 3, rows=5, cols=5, B=2, N=1.0))


def walk_of(row: dict[str, Any]) -> Walk:
    return Walk(checker.answer_of(row), row["context"])


@pytest.mark.parametrize("seed", range(6))
def test_what_is_legal_is_what_another_checker_says(seed: int) -> None:
    """Every action the maze has names for, at every step of a random walk."""
    row, luck = ROWS[seed % len(ROWS)], random.Random(seed)
    walk = walk_of(row)
    world = checker.from_context(row["context"], "Bob", "Alice")
    names = [*walk.maze.rooms, *walk.maze.keys, walk.maze.target, "nobody"]
    verbs = ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue", "fly_to")
    every = [f"{verb}: {name}" for verb in verbs for name in names]
    for _ in range(25):
        legal = walk.legal()
        # the checker gives the place of the first illegal action: behind the last one where more may follow
        ends = (None, len(walk.plan) + 1)
        assert set(legal) == {
            action for action in every if not walk.done and checker.run(world, [*walk.plan, action]) in ends
        }
        refused, plan = walk.refused, list(walk.plan)
        action = luck.choice(every)
        violation = walk.step(action)
        if violation is not None:
            assert (walk.refused, walk.plan, action in legal) == (refused + 1, plan, False)
            assert violation == validate(walk.maze, [*plan, action]).violation
            assert len(walk.why(violation)) > 10
        if walk.legal():
            walk.step(luck.choice(walk.legal()))


def test_doors_and_their_keys() -> None:
    row = ROWS[0]
    walk, gold = walk_of(row), checker.gold_of(row)
    at = next(n for n, action in enumerate(gold) if action.startswith("unlock"))
    room, key = gold[at].split(": ")[1], gold[at - 1].split(": ")[1]
    assert walk.key_to(room) is None
    for action in gold[1 : at - 1]:
        walk.step(action)
    assert walk.key_to(room) == key
    assert walk.held[-1] == key
    assert walk.where.startswith(f"You are in room {walk.room}, with key ")
    assert walk.step(f"move_to: {room}") == "door_locked"


def test_no_maze_no_walk() -> None:
    for answer, facts, field in (
        ({}, None, "context"),
        ({}, "Hello.", "context"),
        ({"actions": ["start: A1"]}, "no facts", "context"),
        ({"structural_details": "x"}, None, "JSON"),
        ({}, "Room A1 and A2 are connected by an open door. Bob is in room A1.", "rescue"),
    ):
        with pytest.raises(InputError, match=field):
            Walk(answer, facts)
        with pytest.raises(InputError, match=field):
            Maze.from_row({**answer, "context": facts})
