"""Generates mazes: a random spanning tree of a grid, and doors and keys placed from the goal backwards.

All randomness is passed in as arrays of uniform draws, so that a maze is a pure function of these.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Doubles, Ints, Ints32
from relfast_kernels.maze.layouts import PLACING, Joining, Placing

DRAWS_PER_POINT: Final = 3
"""Draws that `rewind` uses per point: for its distance, its room and its door."""

_ANYWHERE: Final = -1


@kernel
def join(joining: Joining) -> int:
    """Put the edges of `spanning_tree` into ``chosen``, and return their number (union-find)."""
    edges, above, chosen = joining.edges, joining.above, joining.chosen
    for room in range(len(above)):
        above[room] = room
    count = 0
    for edge in joining.order:
        one, other = edges[edge, 0], edges[edge, 1]
        while above[one] != one:
            above[one] = above[above[one]]
            one = above[one]
        while above[other] != other:
            above[other] = above[above[other]]
            other = above[other]
        if one != other:
            above[one] = other
            chosen[count] = edge
            count += 1
    return count


def spanning_tree(edges: Ints32, order: Ints, n_rooms: int) -> Ints32:
    """Kruskal's algorithm: the edges (rows of room pairs) that, tried in the given order, connect rooms not
    yet connected.

    Returns indices of edges (int32), in the order of joining; rooms - 1 of them if the grid is connected.
    """
    from relfast_kernels.compiled import native

    joining = Joining(
        edges=np.ascontiguousarray(edges, np.int32),
        order=np.ascontiguousarray(order, np.int64),
        above=np.empty(n_rooms, np.int32),
        chosen=np.empty(max(n_rooms - 1, 0), np.int32),
    )
    n = native.functions("maze")["tree"](joining)
    return joining.chosen[:n]


@kernel
def _spread(
    first_edge: Ints32,
    neighbors: Ints32,
    root: int,
    inside: Bytes,
    distances: Ints32,
    parents: Ints32,
    branches: Ints32,
    queue: Ints32,
) -> None:
    """For every room: its distance from the root, the next room towards the root (parent), and the neighbour
    of the root on that way (branch), by breadth-first search within ``inside``.

    Rooms that cannot be reached within ``inside`` get distance -1.
    """
    distances[:] = -1
    distances[root] = 0
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        room = queue[head]
        head += 1
        for edge in range(first_edge[room], first_edge[room + 1]):
            behind = neighbors[edge]
            if not inside[behind] or distances[behind] >= 0:
                continue
            distances[behind] = distances[room] + 1
            parents[behind] = room
            branches[behind] = behind if room == root else branches[room]
            queue[tail] = behind
            tail += 1


@kernel
def place(placing: Placing) -> int:
    """Put the results of `rewind` into ``points`` and ``doors``, and return the number of moves."""
    first_edge, neighbors, draws = placing.first_edge, placing.neighbors, placing.draws
    points, doors, work = placing.points, placing.doors, placing.work
    fewest, most = placing.fewest, placing.most
    n_rooms = len(first_edge) - 1
    n_doors = len(doors)
    inside, on_path, distances, parents = work[0], work[1], work[2], work[3]
    branches, candidates, queue = work[4], work[5], work[6]
    inside[:] = 1
    on_path[:] = 0
    point = min(int(draws[0] * n_rooms), n_rooms - 1)
    points[0] = point
    on_path[point] = 1
    hook = _ANYWHERE
    moves = 0
    # the number of moves aimed at; without an upper bound, points are chosen at any distance
    bounded = most < n_rooms * (n_doors + 1)
    aim = fewest + draws[1] * (most - fewest)
    for step in range(1, n_doors + 2):
        far, which, where = draws[step * DRAWS_PER_POINT : (step + 1) * DRAWS_PER_POINT]
        _spread(first_edge, neighbors, point, inside, distances, parents, branches, queue)
        last = step == n_doors + 1
        # an equal share of the moves that are left, plus or minus a half
        share = (aim - moves) / (n_doors + 2 - step) * (0.5 + far)
        count = 0
        closest = float(n_rooms)
        for room in range(n_rooms):
            distance = distances[room]
            if distance < 1 or (hook != _ANYWHERE and branches[room] != hook):
                continue
            if last:
                if not fewest <= moves + distance <= most:
                    continue
            elif distance < 2 or on_path[room]:
                continue
            elif bounded:
                gap = abs(distance - share)
                if gap > closest:
                    continue
                if gap < closest:
                    closest = gap
                    count = 0
            candidates[count] = room
            count += 1
        if count == 0:
            return 0
        chosen = candidates[min(int(which * count), count - 1)]
        distance = distances[chosen]
        moves += distance
        points[step] = chosen
        if last:
            break
        # the door is never at the first passage from the key, which is the way in and out (``hook``)
        near = parents[chosen]
        hook = near
        on_path[chosen] = 1
        for _ in range(min(int(where * (distance - 1)), distance - 2)):
            on_path[near] = 1
            near = parents[near]
        behind = parents[near]
        doors[step - 1, 0], doors[step - 1, 1] = near, behind
        on_path[near] = 1
        inside[behind] = 0
        point = chosen
    return moves


def rewind(
    first_edge: Ints32,
    neighbors: Ints32,
    n_doors: int,
    fewest: int,
    most: int,
    draws: Doubles,
) -> tuple[int, Ints32, Ints32]:
    """Place doors and keys in a tree so that the shortest plan makes ``n_doors`` detours.

    Points are chosen backwards: the goal, the key of door 1, the key of door 2, …, the start. Door i stands
    on the path from key i to the point before, and the rooms behind it are closed to all later points.
    So the agent needs key i to pass door i, has to pass it to go on, and must take the keys in the order
    n … 1: the shortest plan is the walk from point to point, and it is the only one. A key's room is reached
    and left through the same neighbour (``hook``), and the door stands beyond that neighbour: each key is a
    detour, not a stop on the way.

    Parameters
    ----------
    first_edge, neighbors
        The tree, as in `MazeTables`.
    fewest, most
        Bounds of the number of moves of the walk.
    draws
        Uniform in [0, 1), (n_doors + 2) × DRAWS_PER_POINT of them.

    Returns
    -------
    (moves, points, doors)
        ``moves`` is 0 if these draws give no maze. ``points`` (n_doors + 2, int32): goal, keys, start.
        ``doors`` (n_doors × 2, int32): the rooms on the key's and on the goal's side of each door.
    """
    from relfast_kernels.compiled import native

    n_rooms = len(first_edge) - 1
    placing = Placing(
        fewest=fewest,
        most=most,
        first_edge=np.ascontiguousarray(first_edge),
        neighbors=np.ascontiguousarray(neighbors),
        draws=np.ascontiguousarray(draws),
        points=np.empty(n_doors + 2, np.int32),
        doors=np.empty((n_doors, 2), np.int32),
        work=np.empty((PLACING, n_rooms), np.int32),
    )
    moves = native.functions("maze")["rewind"](placing)
    return moves, placing.points, placing.doors
