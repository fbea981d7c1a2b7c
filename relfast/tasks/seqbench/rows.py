"""A grown maze, and the row of the dataset that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from relfast.tasks.seqbench.actions import ACTIONS, CODES
from relfast.tasks.seqbench.grid import LOCKED, OPEN, Grid, connection, connection_sentence
from relfast.tasks.seqbench.maze import edge_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from relfast_kernels.maze import MazeTables


class Lock(NamedTuple):
    """A locked door (an edge of the grid), the number of its key and the room where that lies."""

    edge: int
    key: int
    key_room: int


class Solution(NamedTuple):
    """The shortest plan of a maze: codes and arguments as `relfast_kernels.maze` has them, and whether it
    is the only one up to the time of picking keys up."""

    kinds: list[int]
    arguments: list[int]
    unique: bool


@dataclass(frozen=True, slots=True)
class Growth:
    """A maze on a grid. ``chosen`` (int32): the grid's edges that are passages; ``locks``: in the order in
    which keys are removed."""

    grid: Grid
    chosen: NDArray[np.int32]
    locks: tuple[Lock, ...]
    start: int
    goal: int

    def without_keys(self, count: int) -> Growth:
        """The maze with the first ``count`` doors open and their keys gone."""
        return replace(self, locks=self.locks[count:])

    def tables(self) -> MazeTables:
        """The maze for the kernels; rooms as in the grid, keys and doors in the order of ``locks``."""
        from relfast_kernels.maze import OPEN as OPEN_DOOR
        from relfast_kernels.maze import MazeTables

        door_of_edge = np.full(len(self.grid.edges), OPEN_DOOR, np.int32)
        door_of_edge[[lock.edge for lock in self.locks]] = np.arange(len(self.locks), dtype=np.int32)
        return MazeTables(
            *edge_lists(self.grid.n_rooms, self.grid.edges[self.chosen], door_of_edge[self.chosen]),
            door_keys=np.arange(len(self.locks), dtype=np.int32),
            key_rooms=np.array([lock.key_room for lock in self.locks], np.int32),
            start=self.start,
            goal=self.goal,
        )

    def solve(self) -> Solution:
        """The shortest plan."""
        from relfast_kernels.maze_search import shortest_plan

        found = shortest_plan(self.tables())
        return Solution(found.kinds.tolist(), found.arguments.tolist(), bool(found.unique))


class _Fact(NamedTuple):
    """A fact as the canonical object and as a sentence of the context."""

    canonical: dict[str, Any]
    sentence: str


def write_row(
    growth: Growth, instance_id: str, people: tuple[str, str], noise: float, shuffle: bool, seed: Sequence[int]
) -> dict[str, Any]:
    """The row in the dataset card's schema.

    Parameters
    ----------
    people
        Names of agent and target.
    noise
        Share of the distracting facts that go into the context.
    seed
        Of the generator that puts distractors in order and mixes the context; a higher noise keeps the
        distractors of a lower one.
    """
    solution = growth.solve()
    supporting, distracting = _facts(growth, solution)
    draws = np.random.Generator(np.random.PCG64(list(seed)))
    distracting = [distracting[at] for at in np.argsort(draws.random(len(distracting)), kind="stable").tolist()]
    who = _people(growth, people)
    facts = [*supporting, *distracting[: round(noise * len(distracting))], *who]
    if shuffle:
        facts = [facts[at] for at in np.argsort(draws.random(len(facts)), kind="stable").tolist()]
    plan = _plan(growth, solution, people[1])
    return {
        "instance_id": instance_id,
        "context": " ".join(fact.sentence for fact in facts),
        "completion": str(plan),
        "complexity_parameters": {
            "logical_depth_L": len(plan),
            "backtracking_count_B": solution.kinds.count(CODES["unlock_and_open_door_to"]),
            "noise_ratio_N": noise,
        },
        "instance_metadata": {
            "maze_rows": growth.grid.rows,
            "maze_cols": growth.grid.cols,
            "agent_name": people[0],
            "target_name": people[1],
        },
        "structural_details": _structure(growth, [*supporting, *distracting, *who]),
    }


def _plan(growth: Growth, solution: Solution, target: str) -> list[str]:
    labels, locks = growth.grid.labels, growth.locks
    parameters = {
        "pick_up_key": lambda key: str(locks[key].key),
        "use_key": lambda key: str(locks[key].key),
        "rescue": lambda _: target,
    }
    plan = []
    for kind, argument in zip(solution.kinds, solution.arguments, strict=True):
        name = ACTIONS[kind]
        plan.append(f"{name}: {parameters.get(name, labels.__getitem__)(argument)}")
    return plan


def _facts(growth: Growth, solution: Solution) -> tuple[list[_Fact], list[_Fact]]:
    """Facts that the plan uses, in the order of its path, and all others. A locked door is three facts."""
    grid = growth.grid
    locks = {lock.edge: lock for lock in growth.locks}
    used: dict[int, None] = {}
    here = growth.start
    for kind, room in zip(solution.kinds, solution.arguments, strict=True):
        if kind == CODES["move_to"]:
            used[grid.edge_of[min(here, room), max(here, room)]] = None
            here = room

    def facts_of(edge: int, supporting: bool) -> list[_Fact]:
        lock = locks.get(edge)
        if lock is None:
            fact = grid.open_facts[edge]
            return [_Fact({**fact, "supporting": True} if supporting else fact, grid.open_sentences[edge])]
        one, other = grid.edges[edge].tolist()
        ends = grid.coordinates[one], grid.coordinates[other]
        labels = grid.labels[one], grid.labels[other]
        key = str(lock.key)
        return [
            _Fact({**connection(*ends, LOCKED), "supporting": supporting}, connection_sentence(*labels, LOCKED)),
            _Fact(
                {"type": "locked_door_key", "args": [*ends, key], "supporting": supporting},
                f"The locked door between {labels[0]} and {labels[1]} requires key {key}.",
            ),
            _Fact(
                {
                    "type": "key_location",
                    "args": [key, grid.coordinates[lock.key_room]],
                    "supporting": supporting,
                },
                f"Key {key} is in room {grid.labels[lock.key_room]}.",
            ),
        ]

    supporting = [fact for edge in used for fact in facts_of(edge, True)]
    distracting = [fact for edge in growth.chosen.tolist() if edge not in used for fact in facts_of(edge, False)]
    return supporting, distracting


def _people(growth: Growth, people: tuple[str, str]) -> list[_Fact]:
    return [
        _Fact(
            {"type": kind, "args": [name, growth.grid.coordinates[room]], "supporting": True},
            f"{name} is in room {growth.grid.labels[room]}.",
        )
        for kind, name, room in zip(
            ("agent_location", "target_location"), people, (growth.start, growth.goal), strict=True
        )
    ]


def _structure(growth: Growth, facts: Sequence[_Fact]) -> str:
    """``structural_details``: the maze as JSON text."""
    grid = growth.grid
    coordinates = grid.coordinates
    behind: list[list[str]] = [[] for _ in coordinates]
    chosen = growth.chosen.tolist()
    for one, other in grid.edges[growth.chosen].tolist():
        behind[one].append(coordinates[other])
        behind[other].append(coordinates[one])
    open_door = {"status": OPEN, "key_id": ""}
    doors = dict.fromkeys((grid.door_ids[edge] for edge in chosen), open_door)
    for lock in growth.locks:
        doors[grid.door_ids[lock.edge]] = {"status": LOCKED, "key_id": str(lock.key)}
    details = {
        "mappings": {"coordinate_to_name": dict(zip(coordinates, grid.labels, strict=True))},
        "structure": {
            "adjacency_list": dict(zip(coordinates, behind, strict=True)),
            "door_details": doors,
            "key_locations": {str(lock.key): coordinates[lock.key_room] for lock in growth.locks},
            "start_room_coord": coordinates[growth.start],
            "end_room_coord": coordinates[growth.goal],
        },
        "canonical_facts": [fact.canonical for fact in facts],
    }
    return orjson.dumps(details).decode()
