"""Generated instances, held against a checker that knows nothing of relfast."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
import seqbench_checker as checker
from seeds import SEED, fresh

from relfast.errors import UsageError
from relfast.records import Record
from relfast.tasks.options import AllOptions
from relfast.tasks.seqbench import generate as generating
from relfast.tasks.seqbench import score as room
from relfast.tasks.seqbench.generate import make_row, make_rows
from relfast.tasks.seqbench.parameters import Parameters

# (rows, cols, L, B), each taken with all noise ratios
GRID = [
    (rows, cols, length, doors)
    for rows, cols, all_doors in (
        ((5, 5, (0, 1, 2)), (6, 4, (0, 1, 2)), (7, 7, (0, 1, 2, 3)), (9, 8, (4, 5, 6)))
    )
    for doors in all_doors
    for length in (None, (3 + 5 * doors, 12 + 5 * doors), 14 + 6 * doors)
]
NOISES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def facts_of(context: str) -> list[str]:
    return [sentence if sentence.endswith(".") else sentence + "." for sentence in context.split(". ")]


def check(row: dict[str, Any], length: int | tuple[int, int] | None, doors: int | None) -> None:
    """Everything that is promised of a row."""
    gold = checker.gold_of(row)
    stated = row["complexity_parameters"]
    world = checker.from_details(row)
    assert nx.is_tree(world.graph)
    assert len(world.graph) == row["instance_metadata"]["maze_rows"] * row["instance_metadata"]["maze_cols"]
    # gold is legal and optimal, and the only plan up to the time of picking keys up
    assert checker.run(world, gold) is None
    plans = checker.all_shortest_plans(world)
    assert gold in plans
    assert len({checker.without_pick_ups(plan) for plan in plans}) == 1
    visited = [action.split(": ")[1] for action in gold if action.startswith(("start", "move_to"))]
    for index, action in enumerate(gold):
        if action.startswith("pick_up_key"):
            before = [a.split(": ")[1] for a in gold[:index] if a.startswith(("start", "move_to"))]
            assert before.count(world.keys[action.split(": ")[1]]) == 1, "picked up at the first visit"
    # L and B
    assert stated["logical_depth_L"] == len(gold)
    unlocks = sum(action.startswith("unlock") for action in gold)
    assert stated["backtracking_count_B"] == unlocks
    if doors is not None:
        assert unlocks == doors
        low, high = length if isinstance(length, tuple) else (length or 3, length or 10**9)
        assert low <= len(gold) <= high
        assert (len(gold) - 2 - 3 * doors) == len(visited) - 1
    # facts: the supporting ones and the right share of the others, in the order promised
    details = json.loads(row["structural_details"])
    supporting = sum(fact["supporting"] for fact in details["canonical_facts"])
    distracting = len(details["canonical_facts"]) - supporting
    sentences = facts_of(row["context"])
    assert len(sentences) == len(set(sentences)) == supporting + round(stated["noise_ratio_N"] * distracting)
    # and these suffice to solve it
    people = row["instance_metadata"]["agent_name"], row["instance_metadata"]["target_name"]
    told = checker.from_context(row["context"], *people)
    assert checker.run(told, gold) is None
    assert told.graph.size() <= world.graph.size()
    for one, other, door in told.graph.edges(data=True):
        assert world.graph[one][other]["locked"] == door["locked"]
    if stated["noise_ratio_N"] == 0:
        assert len(checker.all_shortest_plans(told)[0]) == len(gold)
        assert set(told.graph) == set(visited)


def score_gold(row: dict[str, Any], policy: Any = "reference") -> dict[str, Any]:
    row = json.loads(json.dumps(row))
    answer = {key: row[key] for key in row if key not in ("instance_id", "context")}
    record = Record(0, row["instance_id"], "SeqBench", answer, row["completion"], row["context"])
    options = AllOptions(policy=policy)
    (outcome,) = room.score([(record, room.extract(record, options))], options)
    assert outcome.correct
    assert outcome.found
    assert outcome.error is None
    return outcome.metrics


def check_score(row: dict[str, Any]) -> None:
    """The round trip: through JSON, the dataset's fields and the scorer."""
    metrics = score_gold(row)
    stated = row["complexity_parameters"]
    assert metrics["exact_match"]
    assert metrics["valid"]
    assert metrics["optimal"]
    assert metrics["progress_ratio"] == metrics["f1"] == metrics["legal_ratio"] == 1.0
    assert metrics["logical_depth"] == metrics["n_actions"] == stated["logical_depth_L"]
    assert metrics["backtracking"] == stated["backtracking_count_B"]
    assert metrics["noise"] == stated["noise_ratio_N"]
    assert metrics["maze"] == "structural_details"


def check_cells(per_cell: int, seed: int) -> int:
    count = 0
    for number, (rows, cols, length, doors) in enumerate(GRID):
        for index in range(per_cell):
            noise = NOISES[(number + index) % len(NOISES)]
            settings = Parameters(rows, cols, length, doors, noise, ordered=index % 4 != 3)
            row = make_row(seed + 1000 * number + index, settings)
            check(row, length, doors)
            check_score(row)
            count += 1
    return count


def test_instances_of_every_kind() -> None:
    assert check_cells(2, seed=50_000_000) == 2 * len(GRID)


@pytest.mark.slow
@pytest.mark.fuzz
def test_many_instances() -> None:
    """5,000 others in each round of `make fuzz`."""
    wanted = 1_000 if SEED is None else 5_000
    start = 90_000_000 if SEED is None else fresh(90).randrange(10**9)
    assert check_cells(-(-wanted // len(GRID)), seed=start) >= wanted


def test_large_maze() -> None:
    (row,) = make_rows(1, 5, rows=40, cols=40, B=5, L=(150, 250), N=0.4)
    check(row, (150, 250), 5)
    check_score(row)


@pytest.mark.parametrize("removed", [0, 1, 2, 3])
def test_removed_keys(removed: int) -> None:
    for seed in range(20):
        whole = make_row(seed, Parameters(6, 6, None, 3))
        row = make_row(seed, Parameters(6, 6, None, 3, remove_keys=removed))
        assert row["instance_id"] == f"{seed}_rkc{removed}_n0.0"
        check(row, None, None)
        before, after = checker.from_details(whole), checker.from_details(row)
        assert set(before.graph.edges) == set(after.graph.edges)
        assert len(after.keys) == 3 - removed
        assert set(after.keys) <= set(before.keys)
        assert (before.start, before.goal) == (after.start, after.goal)
        assert row["complexity_parameters"]["backtracking_count_B"] <= 3 - removed


def test_each_key_is_a_detour() -> None:
    for seed in range(30):
        gold = checker.gold_of(make_row(seed, Parameters(8, 8, None, 3)))
        rooms: list[str] = []
        spurs, picked_up = 0, False
        for action in gold:
            name, parameter = action.split(": ")
            if name in ("start", "move_to"):
                rooms.append(parameter)
                spurs += len(rooms) > 2 and rooms[-1] == rooms[-3] and picked_up
            picked_up = name == "pick_up_key" or (picked_up and name not in ("start", "move_to"))
        assert spurs == 3


def test_noise_levels_are_variants_of_one_maze() -> None:
    rows = [make_row(3, Parameters(6, 6, None, 2, noise)) for noise in NOISES]
    assert len({row["structural_details"] for row in rows}) == 1
    assert len({row["completion"] for row in rows}) == 1
    contexts = [set(facts_of(row["context"])) for row in rows]
    assert all(less < more for less, more in pairwise(contexts))


def test_order_of_facts_as_in_the_real_row() -> None:
    row = make_row(4, Parameters(6, 6, None, 2, 1.0, ordered=True))
    sentences = facts_of(row["context"])
    details = json.loads(row["structural_details"])
    flags = [fact["supporting"] for fact in details["canonical_facts"]]
    supporting = flags.index(False)
    assert not any(flags[supporting:-2])
    assert all(flags[-2:])
    assert sentences[-2].startswith("Bob is in room")
    assert sentences[-1].startswith("Alice is in room")
    for index, sentence in enumerate(sentences):
        if "closed and locked" in sentence:
            assert sentences[index + 1].startswith("The locked door between")
            assert sentences[index + 2].startswith("Key ")
    first_room = checker.gold_of(row)[0].split(": ")[1]
    assert first_room in sentences[0].split()


def test_shuffled_facts_are_the_same_facts() -> None:
    plain, mixed = (make_row(9, Parameters(6, 6, None, 2, 0.6, ordered=ordered)) for ordered in (True, False))
    assert plain["context"] != mixed["context"]
    assert sorted(facts_of(plain["context"])) == sorted(facts_of(mixed["context"]))
    assert make_row(9, Parameters(6, 6, None, 2, 0.6)) == mixed


def test_labels_past_z() -> None:
    row = make_row(1, Parameters(2, 30, (3, 400), 0))
    names = json.loads(row["structural_details"])["mappings"]["coordinate_to_name"]
    assert names["0,0"] == "A2"
    assert names["25,1"] == "Z1"
    assert names["26,0"] == "AA2"
    assert names["29,1"] == "AD1"


def test_the_card_names_every_field() -> None:
    row = make_row(1, Parameters(11, 8))
    assert list(row) == [
        "instance_id",
        "context",
        "completion",
        "complexity_parameters",
        "instance_metadata",
        "structural_details",
    ]
    assert json.loads(row["structural_details"])["mappings"]["coordinate_to_name"]["3,6"] == "D5"


def test_same_seed_same_rows() -> None:
    keywords: dict[str, Any] = {"rows": 7, "cols": 6, "B": 2, "N": 0.4, "names": "random"}
    first, again = (list(make_rows(4, 11, **keywords)) for _ in range(2))
    assert first == again
    assert len({row["instance_id"] for row in first}) == 4
    assert list(generating.generate("SeqBench", 4, 11, **keywords)) == first
    assert next(make_rows(1, 12, **keywords)) != first[0]
    # and the same for ever: another draw would be other data under an old name
    written = json.dumps(first, sort_keys=True).encode()
    assert hashlib.sha256(written).hexdigest()[:16] == "82757b36fe82e5cc"


def test_names() -> None:
    row = make_row(2, Parameters(5, 5, None, 1, names=("O'Brien", "Zoë Q")))
    assert row["instance_metadata"]["target_name"] == "Zoë Q"
    assert "O'Brien is in room" in row["context"]
    assert checker.gold_of(row)[-1] == "rescue: Zoë Q"
    check_score(row)
    del row["structural_details"]
    assert score_gold(row)["maze"] == "context"


@pytest.mark.parametrize("length", [3, 40, 90, 150])
def test_size_follows_length(length: int) -> None:
    (row,) = make_rows(1, 1, L=length, B=0)
    assert row["complexity_parameters"]["logical_depth_L"] == length


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"rows": 0}, "rows"),
        ({"B": -1}, "B must"),
        ({"B": 99}, "B must"),
        ({"N": 1.5}, "N must"),
        ({"remove_keys": 3, "B": 2}, "remove_keys"),
        ({"L": 10, "B": 3}, "18 actions at least"),
        ({"L": 2, "B": 0}, "at least"),
        ({"rows": 3, "cols": 3, "L": 500, "B": 1}, "too small"),
        ({"rows": 4, "cols": 4, "L": 40, "B": 0}, "too small"),
        ({"rows": 6, "cols": 6, "L": 37, "B": 0}, "larger grid"),
        ({"rows": 2, "cols": 2, "B": 5}, "larger grid"),
        ({"names": ("Bob", "Bob")}, "names"),
        ({"names": "Bob"}, "names"),
        ({"names": ("A. B", "Bob")}, "names"),
    ],
)
def test_what_cannot_be_made(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        list(make_rows(1, 0, **keywords))


def test_seed_and_count_are_checked() -> None:
    for n, seed in ((-1, 0), (10**7, 0), (1, -1)):
        with pytest.raises(UsageError):
            make_rows(n, seed)
