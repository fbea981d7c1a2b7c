"""A grown maze, and the row of the dataset that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson
from relfast_kernels.layouts import ACTIONS, NO_DOOR

from relfast.tasks.seqbench.actions import CODES
from relfast.tasks.seqbench.grid import LOCKED, OPEN, Fact, Grid, fact

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from relfast_kernels.maze.tables import MazeTables


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
    """A maze on a grid.

    ``chosen`` (int32): the grid's edges that are passages, in the order in which they were joined;
    ``first_edge``, ``neighbors``: these passages as `relfast_kernels.maze.tables.MazeTables` has them,
    ``edges`` (int32) the grid's edge of each row there. ``locks``: in the order in which keys are removed.
    """

    grid: Grid
    chosen: NDArray[np.int32]
    first_edge: NDArray[np.int32]
    neighbors: NDArray[np.int32]
    edges: NDArray[np.int32]
    locks: tuple[Lock, ...]
    start: int
    goal: int

    def without_keys(self, count: int) -> Growth:
        """The maze with the first ``count`` doors open and their keys gone."""
        return replace(self, locks=self.locks[count:])

    def tables(self) -> MazeTables:
        """The maze for the kernels; rooms as in the grid, keys and doors in the order of ``locks``."""
        from relfast_kernels.maze.tables import MazeTables

        door_of_edge = np.full(len(self.grid.edges), NO_DOOR, np.int32)
        door_of_edge[[lock.edge for lock in self.locks]] = np.arange(len(self.locks), dtype=np.int32)
        return MazeTables(
            self.first_edge,
            self.neighbors,
            door_of_edge[self.edges],
            door_keys=np.arange(len(self.locks), dtype=np.int32),
            key_rooms=np.array([lock.key_room for lock in self.locks], np.int32),
            start=self.start,
            goal=self.goal,
        )

    def solve(self) -> Solution:
        """The shortest plan."""
        from relfast_kernels.maze.plans import shortest_plan

        found = shortest_plan(self.tables())
        return Solution(found.kinds.tolist(), found.arguments.tolist(), bool(found.unique))


def write_row(
    growth: Growth,
    instance_id: str,
    people: tuple[str, str],
    noise: float,
    shuffle: bool,
    seed: Sequence[int],
) -> dict[str, Any]:
    """The row in the dataset card's schema.

    Parameters
    ----------
    people
        Names of agent and target.
    shuffle
        Whether to mix the facts; else supporting ones come first, in the order of the path.
    noise
        Share of the distracting facts that go into the context.
    seed
        Of the generator that puts distractors in order and mixes the context; a higher noise keeps the
        distractors of a lower one.
    """
    solution = growth.solve()
    supporting, distracting = _facts(growth, solution)
    draws = np.random.Generator(np.random.PCG64(list(seed)))
    distracting = [
        distracting[at] for at in np.argsort(draws.random(len(distracting)), kind="stable").tolist()
    ]
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
    plan = []
    for kind, argument in zip(solution.kinds, solution.arguments, strict=True):
        name = ACTIONS[kind]
        if name in ("pick_up_key", "use_key"):
            parameter = str(locks[argument].key)
        else:
            parameter = target if name == "rescue" else labels[argument]
        plan.append(f"{name}: {parameter}")
    return plan


def _facts(growth: Growth, solution: Solution) -> tuple[list[Fact], list[Fact]]:
    """Facts that the plan uses, in the order of its path, and all others. A locked door is three facts."""
    grid = growth.grid
    locks = {lock.edge: lock for lock in growth.locks}
    used: dict[int, None] = {}
    here = growth.start
    for kind, room in zip(solution.kinds, solution.arguments, strict=True):
        if kind == CODES["move_to"]:
            used[grid.edge_of[min(here, room), max(here, room)]] = None
            here = room
    supporting: list[Fact] = []
    for edge in used:
        supporting += _locked_door(grid, locks[edge], True) if edge in locks else [grid.used_facts[edge]]
    apart = {*used, *locks}
    distracting = [grid.plain_facts[edge] for edge in growth.chosen.tolist() if edge not in apart]
    for edge in locks:
        if edge not in used:
            distracting += _locked_door(grid, locks[edge], False)
    return supporting, distracting


def _locked_door(grid: Grid, lock: Lock, supporting: bool) -> list[Fact]:
    one, other = grid.edges[lock.edge].tolist()
    key = str(lock.key)
    return [
        grid.connection(lock.edge, LOCKED, supporting),
        fact(
            "locked_door_key",
            [grid.coordinates[one], grid.coordinates[other], key],
            supporting,
            f"The locked door between {grid.labels[one]} and {grid.labels[other]} requires key {key}.",
        ),
        fact(
            "key_location",
            [key, grid.coordinates[lock.key_room]],
            supporting,
            f"Key {key} is in room {grid.labels[lock.key_room]}.",
        ),
    ]


def _people(growth: Growth, people: tuple[str, str]) -> list[Fact]:
    places = zip(("agent_location", "target_location"), people, (growth.start, growth.goal), strict=True)
    return [
        fact(
            kind,
            [name, growth.grid.coordinates[room]],
            True,
            f"{name} is in room {growth.grid.labels[room]}.",
        )
        for kind, name, room in places
    ]


def _structure(growth: Growth, facts: Sequence[Fact]) -> str:
    """``structural_details``: the maze as JSON text."""
    coordinates, door_ids = growth.grid.coordinates, growth.grid.door_ids
    behind = [coordinates[room] for room in growth.neighbors.tolist()]
    first = growth.first_edge.tolist()
    open_door = orjson.Fragment(orjson.dumps({"status": OPEN, "key_id": ""}))
    doors: dict[str, Any] = dict.fromkeys([door_ids[edge] for edge in growth.chosen.tolist()], open_door)
    for lock in growth.locks:
        doors[door_ids[lock.edge]] = {"status": LOCKED, "key_id": str(lock.key)}
    details = {
        "mappings": growth.grid.mappings,
        "structure": {
            "adjacency_list": {
                room: behind[low:high]
                for room, low, high in zip(coordinates, first[:-1], first[1:], strict=True)
            },
            "door_details": doors,
            "key_locations": {str(lock.key): coordinates[lock.key_room] for lock in growth.locks},
            "start_room_coord": coordinates[growth.start],
            "end_room_coord": coordinates[growth.goal],
        },
        "canonical_facts": [fact.canonical for fact in facts],
    }
    return orjson.dumps(details).decode()
