"""An independent reading of SeqBench rows and rules: plain Python and networkx, nothing of relfast."""

from __future__ import annotations

import ast
import json
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

State = tuple[str, frozenset[frozenset[str]], frozenset[str], str | None]
"""Room, doors opened, keys held, key in use."""


@dataclass
class World:
    graph: nx.Graph
    keys: dict[str, str] = field(default_factory=dict)
    start: str = ""
    goal: str = ""
    target: str = ""


def from_context(text: str, agent: str, target: str) -> World:
    """The maze of a context, sentence by sentence."""
    world = World(nx.Graph(), target=target)
    for one, other, status in re.findall(r"Room (\w+) and (\w+) are connected by an? ([a-z ]+) door\.", text):
        world.graph.add_edge(one, other, locked=status != "open", key=None)
    for one, other, key in re.findall(r"oor between (\w+) and (\w+) requires key (\w+)\.", text):
        world.graph[one][other]["key"] = key
    world.keys = dict(re.findall(r"Key (\w+) is in room (\w+)\.", text))
    places = dict(re.findall(r"(\w+) is in room (\w+)\.", text))
    world.start, world.goal = places[agent], places[target]
    world.graph.add_nodes_from((world.start, world.goal))
    return world


def from_details(row: dict[str, Any]) -> World:
    """The maze of a row's structural_details."""
    details = json.loads(row["structural_details"])
    names, structure = details["mappings"]["coordinate_to_name"], details["structure"]
    world = World(nx.Graph(), target=row["instance_metadata"]["target_name"])
    for room, behind in structure["adjacency_list"].items():
        for other in behind:
            door = structure["door_details"]["_".join(sorted((room, other)))]
            world.graph.add_edge(
                names[room], names[other], locked=door["status"] == "closed and locked", key=door["key_id"]
            )
    world.keys = {key: names[room] for key, room in structure["key_locations"].items()}
    world.start, world.goal = names[structure["start_room_coord"]], names[structure["end_room_coord"]]
    return world


def gold_of(row: dict[str, Any]) -> list[str]:
    plan = ast.literal_eval(row["completion"])
    assert isinstance(plan, list)
    return plan


def answer_of(row: dict[str, Any]) -> dict[str, Any]:
    """A row's fields as gold."""
    return {key: row[key] for key in row if key not in ("instance_id", "context")}


def steps(world: World, state: State) -> list[tuple[str, State]]:
    """Every legal action but start and rescue, with the state behind it."""
    room, opened, held, in_use = state
    found: list[tuple[str, State]] = []
    for other in world.graph[room]:
        door = world.graph[room][other]
        pair = frozenset((room, other))
        if not door["locked"] or pair in opened:
            found.append((f"move_to: {other}", (other, opened, held, None)))
        elif in_use is not None and door["key"] == in_use:
            found.append((f"unlock_and_open_door_to: {other}", (room, opened | {pair}, held, None)))
    for key, place in world.keys.items():
        if place == room and key not in held:
            found.append((f"pick_up_key: {key}", (room, opened, held | {key}, None)))
    found += [(f"use_key: {key}", (room, opened, held, key)) for key in sorted(held)]
    return found


def run(world: World, plan: list[str]) -> int | None:
    """Index of the first illegal action, None if the plan is legal from start to rescue."""
    if not plan or plan[0] != f"start: {world.start}":
        return 0
    state: State = (world.start, frozenset(), frozenset(), None)
    for index, action in enumerate(plan[1:], 1):
        if action == f"rescue: {world.target}" and state[0] == world.goal:
            return None if index == len(plan) - 1 else index + 1
        state_after = dict(steps(world, state)).get(action)
        if state_after is None:
            return index
        state = state_after
    return len(plan)


def all_shortest_plans(world: World, most: int = 200) -> list[list[str]]:
    """Every shortest plan (``most`` at most): breadth first over all states, then back on all best ways."""
    origin: State = (world.start, frozenset(), frozenset(), None)
    depth = {origin: 0}
    ways: dict[State, list[tuple[State, str]]] = {origin: []}
    queue = deque([origin])
    goals: list[State] = []
    while queue:
        state = queue.popleft()
        if goals and depth[state] > depth[goals[0]]:
            break
        if state[0] == world.goal:
            goals.append(state)
            continue
        for action, behind in steps(world, state):
            if behind not in depth:
                depth[behind] = depth[state] + 1
                ways[behind] = []
                queue.append(behind)
            if depth[behind] == depth[state] + 1:
                ways[behind].append((state, action))
    plans: list[list[str]] = []
    pending = [(goal, [f"rescue: {world.target}"]) for goal in goals]
    while pending and len(plans) < most:
        state, tail = pending.pop()
        if state == origin:
            plans.append([f"start: {world.start}", *tail])
        pending += [(before, [action, *tail]) for before, action in ways[state]]
    return plans
