"""Textbook twins of the SeqBench kernels: plain Python over names, sets and queues."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from relfast_kernels.maze.tables import MazeTables

ACTIONS = ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue")
BAD = len(ACTIONS)
Item = tuple[int, str]
"""Action code and parameter; for BAD the item's text."""

STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
NUMBER = re.compile(r"-?[0-9]*")
SPACE = " \t\r\n"
ESCAPE = re.compile(
    r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    r"|U[0-9a-fA-F]{8}|[abfnrtv'\"/\\])"
)
LETTERS = dict(
    zip("abfnrtv'\"/\\\n", ["\a", "\b", "\f", "\n", "\r", "\t", "\v", "'", '"', "/", "\\", ""], strict=True)
)


def undo_escape(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in LETTERS:
        return LETTERS[escape]
    if escape[0] == "u":
        return bytes.fromhex(escape.replace("\\u", "")[1:]).decode("utf-16-be", "surrogatepass")
    point = int(escape[1:], 16) if escape[0] in "xU" else int(escape, 8)
    return chr(point) if point < 0x110000 else match[0]


def as_item(text: str) -> Item:
    """``action: parameter``."""
    text = text.strip(SPACE)
    name, colon, parameter = text.partition(":")
    name, parameter = name.strip(SPACE), parameter.strip(SPACE)
    return (ACTIONS.index(name), parameter) if name in ACTIONS and colon and parameter else (BAD, text)


def as_pair(strings: Sequence[str], whole: str) -> Item:
    if len(strings) == 1:
        return as_item(strings[0])
    parts = [string.strip(SPACE) for string in strings]
    if len(parts) == 2 and parts[0] in ACTIONS and parts[1]:
        return ACTIONS.index(parts[0]), parts[1]
    return BAD, whole


def read_value(text: str, at: int, numbers: bool) -> tuple[str, int] | None:
    """A string (or number) at this place, and where it ends."""
    if match := STRING.match(text, at):
        return ESCAPE.sub(undo_escape, match[0][1:-1]), match.end()
    if numbers and text[at : at + 1] and text[at] in "-0123456789":
        match = re.compile(r".[0-9]*", re.DOTALL).match(text, at)
        assert match is not None
        return match[0], match.end()
    return None


def read_sequence(text: str, at: int, closing: str, items: bool) -> tuple[list[Any], int] | None:
    """A bracketed sequence whose opening bracket stands at ``at``; None if the grammar does not fit."""
    found: list[Any] = []
    at += 1
    while True:
        while at < len(text) and text[at] in SPACE:
            at += 1
        if text[at : at + 1] == closing:
            return found, at + 1
        inner = {"[": "]", "(": ")"}.get(text[at : at + 1])
        if items and inner:
            pair = read_sequence(text, at, inner, False)
            if pair is None:
                return None
            found.append(as_pair(pair[0], text[at : pair[1]]))
            at = pair[1]
        else:
            value = read_value(text, at, numbers=not items)
            if value is None:
                return None
            found.append(as_item(value[0]) if items else value[0])
            at = value[1]
        while at < len(text) and text[at] in SPACE:
            at += 1
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != closing:
            return None


def find_plans(text: str) -> list[list[Item]]:
    """The plans in a text, by trying every bracket; quadratic. Plans within a plan do not count."""
    plans = []
    at = 0
    while (at := text.find("[", at)) >= 0:
        whole = read_sequence(text, at, "]", True)
        if whole is not None and any(kind != BAD for kind, _ in whole[0]):
            plans.append(whole[0])
            at = whole[1]
        else:
            at += 1
    return plans


def edge(maze: MazeTables, room: int, target: int) -> int | None:
    """The door on the way (-1: open), None without a way."""
    for row in range(maze.first_edge[room], maze.first_edge[room + 1]):
        if maze.neighbors[row] == target:
            return int(maze.doors[row])
    return None


def violation(maze: MazeTables, plan: Sequence[tuple[int, int]]) -> tuple[str | None, int]:
    """Name and index of the first violation."""
    room, held, opened = maze.start, set(), set()
    before: tuple[int, int] | None = None
    for index, (kind, argument) in enumerate(plan):
        name = ACTIONS[kind] if kind < BAD else ""
        if before is not None and before[0] == ACTIONS.index("rescue"):
            return "after_rescue", index
        if not name:
            return "bad_action", index
        if (index == 0) is not (name == "start") or (name == "start" and argument != maze.start):
            return "wrong_start", index
        door = edge(maze, room, argument) if name in ("move_to", "unlock_and_open_door_to") else None
        if name == "move_to":
            if door is None:
                return "not_adjacent", index
            if door >= 0 and door not in opened:
                return "door_locked", index
            room = argument
        elif name == "pick_up_key":
            if argument < 0 or maze.key_rooms[argument] != room or argument in held:
                return "key_not_here", index
            held.add(argument)
        elif name == "use_key":
            if argument not in held:
                return "key_not_held", index
        elif name == "unlock_and_open_door_to":
            if door is None or door < 0 or door in opened:
                return "no_such_door", index
            if before != (ACTIONS.index("use_key"), maze.door_keys[door]):
                return "wrong_key", index
            opened.add(door)
        elif name == "rescue" and (argument != 0 or room != maze.goal):
            return "wrong_rescue", index
        before = (kind, argument)
    if before is None or before[0] != ACTIONS.index("rescue"):
        return "no_rescue", len(plan)
    return None, -1


def agreement(plan: Sequence[Any], gold: Sequence[Any]) -> tuple[int, int]:
    """Length of the common prefix, size of the common multiset."""
    prefix = 0
    while prefix < min(len(plan), len(gold)) and plan[prefix] == gold[prefix]:
        prefix += 1
    return prefix, (Counter(plan) & Counter(gold)).total()


State = tuple[int, frozenset[int], frozenset[int], int]
"""Room, doors opened, keys held, key in use (-1: none)."""


def state_after(maze: MazeTables, plan: Sequence[tuple[int, int]]) -> State:
    """Where a plan's legal actions lead."""
    index = violation(maze, plan)[1]
    room, opened, held, in_use = maze.start, set(), set(), -1
    for kind, argument in plan if index < 0 else plan[:index]:
        name = ACTIONS[kind]
        if name == "move_to":
            room = argument
        elif name == "pick_up_key":
            held.add(argument)
        elif name == "unlock_and_open_door_to":
            opened.add(edge(maze, room, argument))
        in_use = argument if name == "use_key" else -1
    return room, frozenset(opened), frozenset(held), in_use  # type: ignore[arg-type]


def walk_score(maze: MazeTables, plan: Sequence[tuple[int, int]]) -> float:
    """What a plan is worth by where it leads."""
    best = shortest(maze)
    name, index = violation(maze, plan)
    if name in (None, "after_rescue"):
        return best / len(plan)
    rest = shortest(maze, state_after(maze, plan))
    if index == 0 or rest == 0 or rest >= best - 1:
        return 0.0
    return 0.5 * ((best - 1 - rest) / (best - 1)) ** 2 * min(1, best / max(len(plan), index + rest))


def shortest(maze: MazeTables, origin: State | None = None) -> int:
    """Actions of the shortest plan (or of the way on from a state, start not counted), 0 if there is none:
    one action at a time, over everything there is."""
    first = 1 if origin is None else 0
    if origin is None:
        origin = (maze.start, frozenset(), frozenset(), -1)
    depth = {origin: first}
    queue = deque([origin])
    while queue:
        state = queue.popleft()
        room, opened, held, in_use = state
        if room == maze.goal:
            return depth[state] + 1
        behind = [(room, opened, held, key) for key in held]
        for key, place in enumerate(maze.key_rooms):
            if place == room:
                behind.append((room, opened, held | {key}, -1))
        for row in range(maze.first_edge[room], maze.first_edge[room + 1]):
            other, door = int(maze.neighbors[row]), int(maze.doors[row])
            if door < 0 or door in opened:
                behind.append((other, opened, held, -1))
            elif in_use >= 0 and maze.door_keys[door] == in_use:
                behind.append((room, opened | {door}, held, -1))
        for following in behind:
            if following not in depth:
                depth[following] = depth[state] + 1
                queue.append(following)
    return 0


def spanning_tree(edges: Sequence[tuple[int, int]], order: Sequence[int], n_rooms: int) -> list[int]:
    """Kruskal, with sets."""
    parts = [{room} for room in range(n_rooms)]
    chosen = []
    for index in order:
        one, other = (next(part for part in parts if room in part) for room in edges[index])
        if one is not other:
            one |= other
            parts.remove(other)
            chosen.append(int(index))
    return chosen


def distances(neighbors: dict[int, list[int]], root: int, inside: set[int]) -> dict[int, list[int]]:
    """The path from root to each room that can be reached inside."""
    paths = {root: [root]}
    queue = deque([root])
    while queue:
        room = queue.popleft()
        for other in neighbors[room]:
            if other in inside and other not in paths:
                paths[other] = [*paths[room], other]
                queue.append(other)
    return paths


def rewind(
    neighbors: dict[int, list[int]], n_doors: int, fewest: int, most: int, draws: np.ndarray[Any, Any]
) -> tuple[int, list[int], list[tuple[int, int]]] | None:
    """Goal, keys, start and doors, by the rule in the kernel's docstring; None if it fails."""
    n_rooms = len(neighbors)
    inside, on_path = set(neighbors), set()
    points = [min(int(draws[0] * n_rooms), n_rooms - 1)]
    on_path.add(points[0])
    doors: list[tuple[int, int]] = []
    hook: int | None = None
    moves = 0
    bounded = most < n_rooms * (n_doors + 1)
    aim = fewest + draws[1] * (most - fewest)
    for step in range(1, n_doors + 2):
        far, which, where = draws[3 * step : 3 * step + 3]
        paths = distances(neighbors, points[-1], inside)
        reach = {
            room: path for room, path in paths.items() if len(path) > 1 and (hook is None or path[1] == hook)
        }
        if step == n_doors + 1:
            candidates = [room for room in reach if fewest <= moves + len(reach[room]) - 1 <= most]
        else:
            candidates = [room for room in reach if len(reach[room]) > 2 and room not in on_path]
            if bounded and candidates:
                share = (aim - moves) / (n_doors + 2 - step) * (0.5 + far)
                gaps = {room: abs(len(reach[room]) - 1 - share) for room in candidates}
                candidates = [room for room in candidates if gaps[room] == min(gaps.values())]
        if not candidates:
            return None
        candidates.sort()
        chosen = candidates[min(int(which * len(candidates)), len(candidates) - 1)]
        path = reach[chosen][::-1]  # from the new point to the one before
        moves += len(path) - 1
        points.append(chosen)
        if step <= n_doors:
            hook = path[1]
            at = 1 + min(int(where * (len(path) - 2)), len(path) - 3)
            doors.append((path[at], path[at + 1]))
            on_path.update(path[: at + 1])
            inside -= {path[at + 1]}
    return moves, points, doors
