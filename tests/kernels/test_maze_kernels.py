"""Running plans, finding shortest ones and growing mazes: kernels against their textbook twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relfast_kernels import layouts
from relfast_kernels.layouts import (
    BAD_ACTION,
    ITEM_COLUMNS,
    JUDGED,
    LEGAL,
    NO_DOOR,
    NO_KEY,
    RATIOS,
    TOO_LARGE,
    UNPARSABLE,
    UNSOLVABLE,
    VIOLATIONS,
)
from relfast_kernels.maze.columns import BEST, GOLD_IS_BEST, HEADER, MAX_PAIRS, N_JUDGED, SHORTEST, header_of
from relfast_kernels.maze.growth import DRAWS_PER_POINT, rewind, spanning_tree
from relfast_kernels.maze.judge import judge_plan
from relfast_kernels.maze.packed import settle, unpack
from relfast_kernels.maze.part import walk_tree
from relfast_kernels.maze.plans import shortest_plan, validate_plans
from relfast_kernels.maze.search import MAX_SWITCHES, remaining
from relfast_kernels.maze.tables import MazeTables, fill_slots
from relfast_kernels.text.plans import scan

from kernels import naive_seqbench as naive
from relfast.tasks.seqbench.generate import grid
from relfast.tasks.seqbench.maze import edge_lists


def build(
    n_rooms: int,
    passages: list[tuple[int, int, int]],
    door_keys: list[int],
    key_rooms: list[int],
    start: int,
    goal: int,
) -> MazeTables:
    """Tables from passages (room, room, door or NO_DOOR)."""
    rows = np.array(passages, np.int32).reshape(-1, 3)
    return MazeTables(
        *edge_lists(n_rooms, rows[:, :2], rows[:, 2]),
        np.array(door_keys, np.int32),
        np.array(key_rooms, np.int32),
        start,
        goal,
    )


@st.composite
def mazes(draw: st.DrawFn, cycles: bool = False, max_doors: int = 3) -> MazeTables:
    """A forest or (with ``cycles``) any graph of up to 9 rooms; keys may be missing, doors may share one."""
    n_rooms = draw(st.integers(1, 9))
    pairs = set()
    for room in range(1, n_rooms):
        if draw(st.integers(0, 9)):
            pairs.add((draw(st.integers(0, room - 1)), room))
    if cycles and n_rooms > 2:
        for _ in range(draw(st.integers(1, 4))):
            one, other = sorted(
                draw(st.lists(st.integers(0, n_rooms - 1), min_size=2, max_size=2, unique=True))
            )
            pairs.add((one, other))
    order = draw(st.permutations(sorted(pairs)))
    n_keys = draw(st.integers(0, max_doors))
    key_rooms = draw(st.lists(st.integers(-1, n_rooms - 1), min_size=n_keys, max_size=n_keys))
    door_keys: list[int] = []
    passages = []
    for one, other in order:
        if len(door_keys) < max_doors and draw(st.booleans()):
            passages.append((one, other, len(door_keys)))
            door_keys.append(draw(st.integers(NO_KEY, n_keys - 1)))
        else:
            passages.append((one, other, NO_DOOR))
    start, goal = draw(st.integers(0, n_rooms - 1)), draw(st.integers(0, n_rooms - 1))
    return build(n_rooms, passages, door_keys, key_rooms, start, goal)


Plan = list[tuple[int, int]]


@st.composite
def walks(draw: st.DrawFn, maze: MazeTables) -> Plan:
    """A plan that is mostly legal: legal steps, with a few of any kind between them."""
    plan: Plan = [(0, maze.start)]
    for _ in range(draw(st.integers(0, 25))):
        legal = [
            step
            for step in _every_step(maze)
            if naive.violation(maze, [*plan, step])[0] in (None, "no_rescue")
        ]
        if draw(st.integers(0, 12)) == 0 or not legal:
            kind, argument = draw(st.integers(0, 6)), draw(st.integers(-1, 8))
            # what the maze does not have is -1, as the room encodes it
            most = len(maze.key_rooms) if kind in (2, 3) else 1 if kind == 5 else len(maze.first_edge) - 1
            plan.append((kind, argument if argument < most else -1))
        else:
            plan.append(draw(st.sampled_from(legal)))
    return plan


def _every_step(maze: MazeTables) -> Plan:
    rooms, keys = range(len(maze.first_edge) - 1), range(len(maze.key_rooms))
    return [
        *((1, r) for r in rooms),
        *((4, r) for r in rooms),
        *((2, k) for k in keys),
        *((3, k) for k in keys),
        (5, 0),
    ]


def arrays(plans: list[Plan]) -> tuple[Any, Any, Any]:
    kinds = np.array([kind for plan in plans for kind, _ in plan], np.int32)
    arguments = np.array([argument for plan in plans for _, argument in plan], np.int32)
    return kinds, arguments, np.cumsum([0, *map(len, plans)], dtype=np.int64)


@settings(deadline=None)
@given(st.data())
def test_validation(data: st.DataObject) -> None:
    maze = data.draw(st.one_of(mazes(), mazes(cycles=True)))
    plans = data.draw(st.lists(walks(maze), max_size=4))
    codes, indices = validate_plans(maze, *arrays(plans))
    for plan, code, index in zip(plans, codes.tolist(), indices.tolist(), strict=True):
        name = None if code == LEGAL else VIOLATIONS[code]
        assert (name, index) == naive.violation(maze, plan)


def test_an_empty_plan_lacks_its_rescue() -> None:
    codes, indices = validate_plans(build(1, [], [], [], 0, 0), *arrays([[], [(6, -1)]]))
    assert [VIOLATIONS[code] for code in codes] == ["no_rescue", "bad_action"]
    assert indices.tolist() == [0, 0]
    assert codes[1] == BAD_ACTION


def work(size: int = 10_000) -> tuple[Any, Any]:
    """Work space of searches, with what others left in it."""
    return np.full(size, 7, np.int32), np.full((MAX_PAIRS, 2), 7)


def settled(maze: MazeTables, gold: Plan, names: list[str]) -> Any:
    """A problem as one array, as `relfast.tasks.seqbench.score` makes it."""
    raw = "".join(names).encode()
    n_slots = 8
    while n_slots < 2 * len(names):
        n_slots *= 2
    ends = np.cumsum([len(name.encode()) for name in names])
    kinds, arguments, _ = arrays([gold])
    filled = np.concatenate([*maze[:5], kinds, arguments, ends]).astype(np.int32)
    problem = np.zeros(HEADER + len(filled) + n_slots + 4 * len(gold) + -(-len(raw) // 4), np.int32)
    problem[HEADER : HEADER + len(filled)] = filled
    counts = len(maze.first_edge) - 1, len(maze.neighbors), len(maze.door_keys), len(maze.key_rooms)
    header = header_of(*counts, maze.start, maze.goal, len(gold), len(names), n_slots, len(raw), len(problem))
    problem[: len(header)] = header
    problem.view(np.uint8)[len(problem) * 4 - 4 * -(-len(raw) // 4) :][: len(raw)] = np.frombuffer(
        raw, np.uint8
    )
    assert settle(problem, *work())
    return problem


@settings(deadline=None)
@given(st.data())
def test_tables_of_gold(data: st.DataObject) -> None:
    """Every step's place among the distinct ones, and how often each occurs."""
    maze = data.draw(mazes())
    gold = [step for step in data.draw(walks(maze)) if step[0] < 6 and step[1] >= 0]
    names = [f"N{number}" for number in range(len(maze.first_edge) - 1 + len(maze.key_rooms) + 1)]
    problem = settled(maze, gold, names)
    _, kinds, arguments, of_names, golden = unpack(problem)
    assert list(zip(kinds.tolist(), arguments.tolist(), strict=True)) == gold
    codes, distinct = golden.codes.tolist(), golden.distinct.tolist()
    assert distinct == sorted(set(codes))
    assert [distinct[place] for place in golden.places.tolist()] == codes
    assert golden.counts.tolist() == [codes.count(code) for code in distinct]
    assert len(set(zip(codes, gold, strict=True))) == len(distinct)
    assert sorted(slot for slot in of_names.slots.tolist() if slot >= 0) == list(range(len(names)))


def test_a_search_without_room_says_so() -> None:
    maze = build(2, [(0, 1, 0)], [0], [0], 0, 1)
    names = ["A", "B", "7", "Al"]
    problem = settled(maze, [(0, 0)], names)
    for size in (0, 5, 40, 300):
        assert not settle(problem, *work(size))
    found = problem.copy()
    assert settle(problem, *work(2_000))
    assert problem.tolist() == found.tolist()


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_judging_texts(data: st.DataObject) -> None:
    """Names looked up in text, agreement with gold, and the violation, all at once."""
    maze = data.draw(mazes())
    gold = [step for step in data.draw(walks(maze)) if step[0] < 6 and step[1] >= 0]
    plans = [data.draw(st.one_of(st.just(gold), walks(maze))) for _ in range(3)]
    n_rooms, n_keys = len(maze.first_edge) - 1, len(maze.key_rooms)
    # keys and rooms may share a name
    names = [f"R{room}" for room in range(n_rooms)] + [f"R{key}" for key in range(n_keys)] + ["Bob"]

    def word(kind: int, argument: int) -> str:
        if kind == naive.BAD:
            return "dance: here"
        if argument < 0:
            return f"{naive.ACTIONS[kind]}: X{kind}"
        return f"{naive.ACTIONS[kind]}: {'Bob' if kind == 5 else f'R{argument}'}"

    texts = [str([word(*step) for step in plan]) for plan in plans]
    problem = settled(maze, gold, names)
    tables, _, _, of_names, golden = unpack(problem)
    best = naive.shortest(maze)
    solvable = best > 0
    assert problem[SHORTEST] == best
    best = best if solvable else len(gold)
    gold_is_best = naive.violation(maze, gold)[0] is None and len(gold) == best
    assert (problem[BEST], problem[GOLD_IS_BEST]) == (best, gold_is_best)
    judged, ratios = np.zeros((len(plans), N_JUDGED), np.int32), np.zeros((len(plans), len(RATIOS)))
    for row, text in enumerate(texts):
        data = np.frombuffer(bytearray(text.encode()) + bytes(len(text)), np.uint8)
        items = np.empty((2, len(text), ITEM_COLUMNS), np.int32)
        n_items, _ = scan(data, 0, len(text), items[0], items[1], np.empty((1, 3), np.int64))
        assert judge_plan(
            tables, of_names, golden, best, gold_is_best, solvable, data, items[1][:n_items], *work(), judged[row],
            ratios[row],
        )  # fmt: skip
    for plan, row, shares in zip(plans, judged[:, : len(JUDGED)].tolist(), ratios.tolist(), strict=True):
        if all(kind == naive.BAD for kind, _ in plan):
            assert row == [UNPARSABLE, 0, 0, 0, 0, 0]
            assert shares == [0.0] * 6
            continue
        name, index = naive.violation(maze, plan)
        known = [step if step[0] < 6 and step[1] >= 0 else ("unknown", at) for at, step in enumerate(plan)]
        prefix, overlap = naive.agreement(known, gold)
        assert row == [
            LEGAL if name is None else VIOLATIONS.index(name),
            index,
            len(plan),
            known == gold,
            name is None and len(plan) <= best,
            sum(step[0] == "unknown" for step in known),
        ]
        precision, recall = overlap / len(plan), overlap / len(gold)
        legal = len(plan) if name is None else index
        assert shares == pytest.approx(
            [
                prefix / len(gold),
                precision,
                recall,
                2 * overlap / (len(plan) + len(gold)),
                min(legal / len(gold), 1),
                naive.walk_score(maze, plan) if solvable else shares[5],
            ]
        )


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violations_code_is_its_place(name: str) -> None:
    assert getattr(layouts, name.upper()) == VIOLATIONS.index(name)


def decoded(search: Any) -> Plan:
    return list(zip(search.kinds.tolist(), search.arguments.tolist(), strict=True))


@settings(deadline=None)
@given(mazes())
def test_shortest_plan_of_a_forest(maze: MazeTables) -> None:
    found = shortest_plan(maze)
    assert found.length == naive.shortest(maze)
    if found.length != UNSOLVABLE:
        plan = decoded(found)
        assert len(plan) == found.length
        assert naive.violation(maze, plan) == (None, -1)


@settings(deadline=None)
@given(mazes(cycles=True))
def test_shortest_plan_with_cycles(maze: MazeTables) -> None:
    found = shortest_plan(maze)
    assert found.length == naive.shortest(maze)
    if found.length != UNSOLVABLE:
        assert naive.violation(maze, decoded(found)) == (None, -1)


@settings(deadline=None)
@given(st.data())
def test_the_way_on(data: st.DataObject) -> None:
    """From any state that legal actions lead to, the key in use included."""
    maze = data.draw(st.one_of(mazes(), mazes(cycles=True)))
    plan = data.draw(walks(maze))
    assert_same_way_on(maze, plan)


def assert_same_way_on(maze: MazeTables, plan: Plan) -> None:
    opened, held = np.zeros(len(maze.door_keys), np.int32), np.zeros(len(maze.key_rooms), np.int32)
    room, doors, keys, in_use = naive.state_after(maze, plan)
    opened[list(doors)] = held[list(keys)] = 7
    work, pairs = np.empty(100_000, np.int32), np.empty((MAX_PAIRS, 2), np.int64)
    found = remaining(maze, room, in_use, opened, held, 7, work, pairs)
    assert found == naive.shortest(maze, (room, doors, keys, in_use))


def test_the_way_on_with_a_key_in_use() -> None:
    maze = build(2, [(0, 1, 0)], [0], [0], 0, 1)
    for plan, actions in (
        ([(0, 0)], 5),
        ([(0, 0), (2, 0)], 4),
        ([(0, 0), (2, 0), (3, 0)], 3),
        ([(0, 0), (2, 0), (3, 0), (4, 1)], 2),
        ([(0, 0), (2, 0), (3, 0), (4, 1), (1, 1)], 1),
    ):
        assert_same_way_on(maze, plan)
        assert naive.shortest(maze, naive.state_after(maze, plan)) == actions


def test_two_equally_long_orders_are_not_unique() -> None:
    # 1-0-2, both keys needed, both on spurs of the start; the goal behind both doors
    maze = build(5, [(0, 1, NO_DOOR), (0, 2, NO_DOOR), (0, 3, 0), (3, 4, 1)], [0, 1], [1, 2], 0, 4)
    found = shortest_plan(maze)
    assert found.length == naive.shortest(maze)
    assert not found.unique
    one_key = build(5, [(0, 1, NO_DOOR), (0, 2, NO_DOOR), (0, 3, 0), (3, 4, NO_DOOR)], [0], [1], 0, 4)
    assert shortest_plan(one_key).unique


def test_opening_early_is_another_plan() -> None:
    # the door is passed on the way to a second key that the next door takes
    maze = build(5, [(0, 1, NO_DOOR), (1, 2, 0), (2, 3, 1), (1, 4, NO_DOOR)], [0, 1], [0, 4], 0, 3)
    found = shortest_plan(maze)
    assert found.length == naive.shortest(maze)
    assert not found.unique


@pytest.mark.parametrize("count", [30, MAX_SWITCHES + 2])
def test_search_gives_up_beyond_its_limits(count: int) -> None:
    # a ring with a door at every step and all keys in the first room: every subset of keys is a pair
    ring = [(room, (room + 1) % count, room) for room in range(count)]
    maze = build(count, ring, list(range(count)), [0] * count, 0, count // 2)
    assert shortest_plan(maze).length == TOO_LARGE


def test_a_chain_of_many_doors() -> None:
    count = 25
    chain = [(room, room + 1, room) for room in range(count)]
    maze = build(count + 1, chain, list(range(count)), list(range(count)), 0, count)
    found = shortest_plan(maze)
    assert found.length == 2 + 4 * count
    assert found.unique
    assert naive.violation(maze, decoded(found)) == (None, -1)


@settings(deadline=None)
@given(mazes())
def test_forests_have_no_cycles(maze: MazeTables) -> None:
    parents = np.empty(len(maze.first_edge) - 1, np.int32)
    assert walk_tree(maze, parents, np.empty_like(parents))
    assert parents[maze.start] == maze.start


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_spanning_tree(rows: int, cols: int, random: Any) -> None:
    cells = grid(rows, cols)
    order = list(range(len(cells.edges)))
    random.shuffle(order)
    chosen = spanning_tree(cells.edges, np.array(order, np.int64), cells.n_rooms)
    assert chosen.tolist() == naive.spanning_tree(cells.edges.tolist(), order, cells.n_rooms)
    assert len(chosen) == cells.n_rooms - 1


@settings(deadline=None)
@given(st.data())
def test_rewind(data: st.DataObject) -> None:
    rows, cols = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    cells = grid(rows, cols)
    chosen = spanning_tree(cells.edges, rng.permutation(len(cells.edges)), cells.n_rooms)
    first_edge, neighbors, _ = edge_lists(cells.n_rooms, cells.edges[chosen], chosen)
    lists = {
        room: neighbors[first_edge[room] : first_edge[room + 1]].tolist() for room in range(cells.n_rooms)
    }
    n_doors = data.draw(st.integers(0, 3))
    fewest = data.draw(st.integers(1, 12))
    most = data.draw(st.sampled_from([fewest, fewest + 6, 10**6]))
    draws = rng.random((n_doors + 2) * DRAWS_PER_POINT)
    moves, points, doors = rewind(first_edge, neighbors, n_doors, fewest, most, draws)
    expected = naive.rewind(lists, n_doors, fewest, most, draws)
    if expected is None:
        assert moves == 0
        return
    assert (moves, points.tolist(), [tuple(door) for door in doors.tolist()]) == expected
    # what the docstring claims: the walk from point to point is the shortest plan, and the only one
    passages = [
        (
            int(one),
            int(other),
            next((i for i, door in enumerate(doors.tolist()) if {one, other} == {*door}), NO_DOOR),
        )
        for one, other in cells.edges[chosen].tolist()
    ]
    maze = build(
        cells.n_rooms, passages, list(range(n_doors)), points[1:-1].tolist(), int(points[-1]), int(points[0])
    )
    found = shortest_plan(maze)
    assert found.length == moves + 2 + 3 * n_doors
    assert found.unique
    if cells.n_rooms <= 12:
        assert naive.shortest(maze) == found.length


def test_rewind_fails_where_nothing_fits() -> None:
    cells = grid(1, 2)
    first_edge, neighbors, _ = edge_lists(2, cells.edges, np.zeros(1, np.int32))
    assert rewind(first_edge, neighbors, 1, 1, 100, np.full(9, 0.5))[0] == 0


@pytest.mark.parametrize("count", [1, 7, 40])
def test_names_are_found_in_crowded_tables(count: int) -> None:
    names = [f"N{index}".encode() for index in range(count)]
    slots = np.empty(1 << (2 * count).bit_length(), np.int32)
    ends = np.cumsum([len(name) for name in names], dtype=np.int32)
    fill_slots(np.frombuffer(b"".join(names), np.uint8), ends, slots)
    assert sorted(slot for slot in slots.tolist() if slot >= 0) == list(range(count))
