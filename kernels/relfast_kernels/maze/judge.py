"""Scores plans: whether a plan is legal in its maze, and how far it agrees with gold.

A plan is a sequence of (action, argument). The argument is a room index for START, MOVE and UNLOCK, a key
index for PICK_UP and USE, 0 for the rescue of the right person, and -1 for any name that the maze lacks.
"""

from __future__ import annotations

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints32
from relfast_kernels.layouts import (
    AFTER_RESCUE,
    BAD,
    BAD_ACTION,
    DOOR_LOCKED,
    ITEM_END,
    ITEM_HASH,
    ITEM_KIND,
    ITEM_PARAM,
    KEY_NOT_HELD,
    KEY_NOT_HERE,
    LEGAL,
    MOVE,
    NO_DOOR,
    NO_KEY,
    NO_RESCUE,
    NO_SUCH_DOOR,
    NOT_ADJACENT,
    PICK_UP,
    REACHED_SHARE,
    RESCUE,
    START,
    TOO_LARGE,
    UNLOCK,
    UNSOLVABLE,
    USE,
    WRONG_KEY,
    WRONG_RESCUE,
    WRONG_START,
)
from relfast_kernels.maze.layouts import FACT, MAX_PAIRS, NO_ROOM, Score
from relfast_kernels.maze.search import (
    MazeProblem,
    MazeTables,
    NameTables,
    Work,
    fill_slots,
    remaining,
    shortest,
    unpack,
)


@kernel
def step_code(kind: int, argument: int) -> int:
    """Action and argument as one number; -1 for a step that no gold plan can contain."""
    return argument * BAD + kind if kind != BAD and argument >= 0 else -1


@kernel
def _edge(maze: MazeTables, room: int, target: int) -> int:
    """The edge from room to target, or -1."""
    for edge in range(maze.first_edge[room], maze.first_edge[room + 1]):
        if maze.neighbors[edge] == target:
            return edge
    return -1


@kernel
def first_violation(
    maze: MazeTables,
    kinds: Ints32,
    arguments: Ints32,
    opened: Ints32,
    held: Ints32,
) -> tuple[int, int, int, int]:
    """Run a plan up to its first violation: that violation's code and index (LEGAL and -1 for a legal plan
    from start to rescue), the agent's room then, and the key in use (or NO_KEY).

    ``opened`` (doors) and ``held`` (keys) come in as zeros, and receive 1 for doors opened and keys held.
    """
    n_actions = len(kinds)
    room = maze.start
    used = NO_KEY
    rescued = False
    for index in range(n_actions):
        kind = kinds[index]
        argument = arguments[index]
        if rescued:
            return AFTER_RESCUE, index, room, used
        if kind == BAD:
            return BAD_ACTION, index, room, used
        if (kind == START) != (index == 0) or (kind == START and argument != maze.start):
            return WRONG_START, index, room, used
        if kind == MOVE:
            edge = _edge(maze, room, argument)
            if edge < 0:
                return NOT_ADJACENT, index, room, used
            door = maze.doors[edge]
            if door != NO_DOOR and not opened[door]:
                return DOOR_LOCKED, index, room, used
            room = argument
        elif kind == PICK_UP:
            if argument < 0 or maze.key_rooms[argument] != room or held[argument]:
                return KEY_NOT_HERE, index, room, used
            held[argument] = 1
        elif kind == USE:
            if argument < 0 or not held[argument]:
                return KEY_NOT_HELD, index, room, used
        elif kind == UNLOCK:
            edge = _edge(maze, room, argument)
            if edge < 0 or maze.doors[edge] == NO_DOOR or opened[maze.doors[edge]]:
                return NO_SUCH_DOOR, index, room, used
            door = maze.doors[edge]
            if used == NO_KEY or maze.door_keys[door] != used:
                return WRONG_KEY, index, room, used
            opened[door] = 1
        elif kind == RESCUE:
            if argument != 0 or room != maze.goal:
                return WRONG_RESCUE, index, room, used
            rescued = True
        used = argument if kind == USE else NO_KEY
    if not rescued:
        return NO_RESCUE, n_actions, room, used
    return LEGAL, -1, room, used


@kernel
def find_name(names: NameTables, text: Bytes, begin: int, end: int, value: int, low: int, high: int) -> int:
    """The number, within low:high, of the thing named text[begin:end] (hash ``value``); -1 if none is."""
    mask = len(names.slots) - 1
    slot = value & mask
    while names.slots[slot] >= 0:
        thing = names.slots[slot]
        if low <= thing < high:
            at = names.ends[thing - 1] if thing else 0
            if names.ends[thing] - at == end - begin:
                read = begin
                while read < end and names.text[at] == text[read]:
                    at += 1
                    read += 1
                if read == end:
                    return int(thing)
        slot = (slot + 1) & mask
    return -1


@kernel
def _search(ordered: Ints32, value: int) -> int:
    """Index of a value in a sorted array, or -1."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low < len(ordered) and ordered[low] == value:
        return int(low)
    return -1


@kernel
def progress_score(best: int, n_actions: int, n_legal: int, rest: int) -> float:
    """The ``walk_score`` of a plan that does not end in a legal rescue: by how much its legal actions came
    nearer to the goal.

    That share is squared and halved, so that a few random steps are worth next to nothing, and reduced in
    proportion as the plan, or its shortest completion, is longer than the shortest plan. To complete the
    plan is always worth at least twice as much.

    Parameters
    ----------
    best
        Number of actions of the shortest plan.
    n_actions, n_legal
        Number of all actions of the plan, and of those before its first violation.
    rest
        Number of actions of the shortest completion; not positive if there is none.
    """
    nearer = (best - 1 - rest) / (best - 1)
    if rest <= 0 or nearer <= 0:
        return 0.0
    return REACHED_SHARE * nearer * nearer * min(best / max(n_actions, n_legal + rest), 1.0)


@kernel
def judge_plan(
    problem: MazeProblem, follow: bool, text: Bytes, items: Ints32, work: Work, score: Score
) -> bool:
    """Score a plan against its maze and gold; False if the work space is too small.

    Parameters
    ----------
    follow
        Whether to search for the shortest completion of a broken plan; without it such a plan's
        ``walk_score`` is 0.
    text, items
        The text that `relfast_kernels.text.plans.scan` read, and the items of the plan that it found.
    score
        The result to fill in. It comes in as zeros, and stays zeros if there are no items.
    """
    maze, names, gold, best = problem.maze, problem.names, problem.gold, problem.best
    n_actions = len(items)
    if n_actions == 0:
        return True
    n_rooms = len(maze.first_edge) - 1
    n_keys, n_doors = len(maze.key_rooms), len(maze.door_keys)
    n_left, n_gold = len(gold.counts), len(gold.codes)
    used_up = n_doors + n_keys + n_left + 2 * n_actions
    numbers = work.numbers
    if len(numbers) < used_up:
        return False
    opened, held = numbers[:n_doors], numbers[n_doors : n_doors + n_keys]
    opened[:] = 0
    held[:] = 0
    at = n_doors + n_keys
    left = numbers[at : at + n_left]
    for place in range(n_left):
        left[place] = gold.counts[place]
    at += n_left
    kinds, arguments = numbers[at : at + n_actions], numbers[at + n_actions : used_up]
    prefix = 0
    overlap = 0
    for index in range(n_actions):
        item = items[index]
        kind = item[ITEM_KIND]
        argument = -1
        if kind == PICK_UP or kind == USE:
            low, high = n_rooms, n_rooms + n_keys
        elif kind == RESCUE:
            low, high = n_rooms + n_keys, n_rooms + n_keys + 1
        else:
            low, high = 0, n_rooms
        if kind != BAD:
            argument = find_name(names, text, item[ITEM_PARAM], item[ITEM_END], item[ITEM_HASH], low, high)
            if argument >= 0:
                argument -= low
        kinds[index] = kind
        arguments[index] = argument
        code = step_code(kind, argument)
        if code < 0:
            continue
        if prefix == index and index < n_gold and gold.codes[index] == code:
            prefix += 1
            place = int(gold.places[index])
        else:
            place = _search(gold.distinct, code)
        if place >= 0 and left[place] > 0:
            left[place] -= 1
            overlap += 1
    violation, index, room, used = first_violation(maze, kinds, arguments, opened, held)
    score.violation, score.violation_index, score.n_actions = violation, index, n_actions
    score.exact = 1 if prefix == n_actions and n_actions == n_gold else 0
    score.optimal = 1 if violation == LEGAL and n_actions <= best else 0
    score.given_up = 0
    precision = overlap / n_actions
    recall = overlap / n_gold
    score.progress = prefix / n_gold
    score.precision = precision
    score.recall = recall
    score.f1 = 2 * precision * recall / (precision + recall) if overlap > 0 else 0.0
    score.legal_ratio = min((n_actions if violation == LEGAL else index) / n_gold, 1.0)
    if violation == LEGAL or violation == AFTER_RESCUE:
        score.walk_score = min(best / n_actions, 1.0)
    elif follow and index > 1:
        # a prefix of an optimal gold plan is completed by the rest of gold: no search is needed
        rest = best - index
        if not (problem.gold_is_best and prefix >= index):
            rest = remaining(maze, room, used, opened, held, Work(numbers[used_up:], work.pairs))
            if rest == NO_ROOM:
                return False
            score.given_up = 1 if rest == TOO_LARGE else 0
        score.walk_score = progress_score(best, n_actions, index, rest)
    return True


@kernel
def _sort(values: Ints32, n: int) -> None:
    """Sort the first ``n`` values in place (Shell sort)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, n):
            value = values[at]
            to = at
            while to >= gap and values[to - gap] > value:
                values[to] = values[to - gap]
                to -= gap
            values[to] = value
        gap //= 3


@kernel
def settle(problem: Ints32, work: Work) -> bool:
    """Complete a problem that `build` has made: hash table, codes of gold, shortest plan. False if the work
    space is too small."""
    n_gold = int(problem[FACT.n_gold])
    problem[FACT.n_distinct] = n_gold  # as long as the room for them
    maze, names, gold, _, _, _ = unpack(problem)
    kinds, arguments, numbers = gold.kinds, gold.arguments, work.numbers
    n_keys, n_doors = len(maze.key_rooms), len(maze.door_keys)
    if len(numbers) < n_keys + n_doors:
        return False
    held, opened = numbers[:n_keys], numbers[n_keys : n_keys + n_doors]
    held[:] = 0
    found = shortest(maze, held, MAX_PAIRS, Work(numbers[n_keys:], work.pairs))
    if found.length == NO_ROOM:
        return False
    fill_slots(names.text, names.ends, names.slots)
    for index in range(n_gold):
        code = step_code(kinds[index], arguments[index])
        gold.codes[index] = code
        gold.distinct[index] = code
    _sort(gold.distinct, n_gold)
    n_distinct = 0
    for index in range(n_gold):
        code = int(gold.distinct[index])
        if n_distinct > 0 and gold.distinct[n_distinct - 1] == code:
            gold.counts[n_distinct - 1] += 1
        else:
            gold.distinct[n_distinct] = code
            gold.counts[n_distinct] = 1
            n_distinct += 1
    for index in range(n_gold):
        gold.places[index] = _search(gold.distinct[:n_distinct], gold.codes[index])
    held[:] = 0
    opened[:] = 0
    violation, _, _, _ = first_violation(maze, kinds, arguments, opened, held)
    solved = found.length > UNSOLVABLE
    problem[FACT.n_distinct] = n_distinct
    problem[FACT.shortest] = found.length
    problem[FACT.best] = found.length if solved else n_gold
    problem[FACT.gold_is_best] = violation == LEGAL and found.length == n_gold
    return True
