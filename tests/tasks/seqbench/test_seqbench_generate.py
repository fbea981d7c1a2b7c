"""Generated instances, held against a checker that knows nothing of relfast."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import pytest
import seqbench_checker as checker
from seeds import SEED, fresh

import relfast
from relfast.errors import UsageError
from relfast.tasks.seqbench.generate import covering, generate, make_row, make_rows
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
    plans = checker.all_shortest_plans(world)
    assert gold in plans
    assert len({tuple(a for a in plan if not a.startswith("pick_up_key")) for plan in plans}) == 1
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
    for one, other, door in told.graph.edges(data=True):
        assert world.graph[one][other]["locked"] == door["locked"]
    if stated["noise_ratio_N"] == 0:
        assert len(checker.all_shortest_plans(told)[0]) == len(gold)
        assert set(told.graph) == set(visited)


def check_score(row: dict[str, Any]) -> None:
    """The round trip: through JSON, the dataset's fields and the scorer."""
    row = json.loads(json.dumps(row))
    record = {"task": "SeqBench", "question": row["context"], "answer": checker.answer_of(row)}
    (found,) = relfast.score([{**record, "response": row["completion"]}], workers=0)
    stated = row["complexity_parameters"]
    assert found.correct
    assert (
        found.metrics.items()
        >= {
            **dict.fromkeys(("exact_match", "valid", "optimal"), True),
            **dict.fromkeys(("progress_ratio", "f1", "legal_ratio"), 1.0),
            **dict.fromkeys(("logical_depth", "n_actions"), stated["logical_depth_L"]),
            "backtracking": stated["backtracking_count_B"],
            "noise": stated["noise_ratio_N"],
            "maze": "structural_details" if "structural_details" in row else "context",
        }.items()
    )


@pytest.mark.fuzz
def test_instances_of_every_kind() -> None:
    """8 of each; 5,000 others in each round of `make fuzz`."""
    each, start = (8, 50_000_000) if SEED is None else (5_000 // len(GRID), fresh(90).randrange(10**9))
    for number, (rows, cols, length, doors) in enumerate(GRID):
        for index in range(each):
            noise = NOISES[(number + index) % len(NOISES)]
            settings = Parameters(rows, cols, length, doors, noise, ordered=index % 4 != 3)
            row = make_row(start + 1000 * number + index, settings)
            check(row, length, doors)
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


def test_names() -> None:
    row = make_row(2, Parameters(5, 5, None, 1, names=("O'Brien", "Zoë Q")))
    assert row["instance_metadata"]["target_name"] == "Zoë Q"
    assert "O'Brien is in room" in row["context"]
    assert checker.gold_of(row)[-1] == "rescue: Zoë Q"
    check_score(row)
    del row["structural_details"]
    check_score(row)


# `cover`: every cell of L × B × N is filled with as many mazes, or it is said which cannot be


def grid(*doors: int, **more: Any) -> list[Parameters]:
    return [Parameters(B=number, N=0.0, cover=True, **more) for number in doors]


def test_what_cannot_be_reached_is_named() -> None:
    """`-L 10:100` on 12 × 12 gave nothing from L = 80 up, and said nothing."""
    fixed = {"B": (0, 2), "L": (10, 104), "bin_width": 5, "rows": 12, "cols": 12}
    told = r"cannot reach L \d+-104 with B=0 \(no maze of 12 × 12 rooms.*--skip-unreachable"
    with pytest.raises(UsageError, match=told):
        make_rows(1, cover=True, **fixed)
    with pytest.raises(UsageError, match=r"L 10-19 with B=6 \(takes 33 actions at least\)"):
        covering(grid(6, L=(10, 19)))
    with pytest.warns(RuntimeWarning, match=r"left out as unreachable: L 10-29 with B=6 \(takes 33"):
        kept = covering(grid(0, 6, L=(10, 59), bin_width=10, skip_unreachable=True))
    reached = {(variant.B, variant.L) for variant in kept}
    assert {(0, (10, 19)), (0, (50, 59)), (6, (50, 59))} <= reached
    assert (6, (20, 29)) not in reached
    with pytest.raises(UsageError, match="nothing is left"):
        covering(grid(6, L=(10, 19), skip_unreachable=True))


def test_bounds_that_one_size_does_not_fill_are_said() -> None:
    def made(n: int, low: int, high: int) -> int:
        return len([*generate("SeqBench", n, 3, rows=8, cols=8, L=(low, high), B=1)])

    with pytest.warns(RuntimeWarning, match=r"L goes from \d+ to \d+, not 10 to 100: .*--cover"):
        assert made(30, 10, 100) == 30
    # filled, or too few to fill them: nothing is said (a warning would fail this test)
    assert made(30, 20, 30) == 30
    assert made(5, 10, 100) == 5
