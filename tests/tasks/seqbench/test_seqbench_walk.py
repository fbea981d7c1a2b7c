"""``walk_score``: what a plan is worth by where it leads, and what blind strategies earn by it."""

from __future__ import annotations

import random
from typing import Any

import pytest
import seqbench_checker as checker

import relfast
from relfast.seqbench import generate
from relfast.tasks.seqbench.blind import STRATEGIES


@pytest.fixture(scope="module")
def scorer() -> Any:
    with relfast.Scorer(policy="strict") as found:
        yield found


def reward(scorer: Any, row: dict[str, Any], response: str) -> float:
    answer = {key: row[key] for key in row if key not in ("instance_id", "context")}
    value: float = scorer.reward("SeqBench", answer, response, question=row["context"])
    return value


@pytest.fixture(scope="module")
def row() -> dict[str, Any]:
    return next(generate(1, 17, rows=7, cols=7, B=2, L=34, N=1.0))


def test_what_follows_the_rescue_costs(scorer: Any, row: dict[str, Any]) -> None:
    plan = checker.gold_of(row)
    for more in (1, 10, 1_000):
        longer = [*plan, *[plan[1]] * more]
        assert reward(scorer, row, str(longer)) == pytest.approx(len(plan) / len(longer))


def test_completing_a_plan_pays_twice_as_much(scorer: Any, row: dict[str, Any]) -> None:
    plan = checker.gold_of(row)
    partial_rewards = [reward(scorer, row, str(plan[:count])) for count in range(1, len(plan))]
    assert partial_rewards[0] == 0.0
    assert partial_rewards == sorted(partial_rewards)
    assert partial_rewards[-1] < 0.5
    # what comes after an illegal action is not walked
    broken = [*plan[:20], "move_to: ZZ9", *plan[20:]]
    assert 0 < reward(scorer, row, str(broken)) <= partial_rewards[19]


def test_cycles_and_detours_collect_nothing(scorer: Any, row: dict[str, Any]) -> None:
    plan = checker.gold_of(row)
    back = plan[0].replace("start", "move_to")
    to = next(action for action in plan if action.startswith("move_to"))
    if plan[1] != to:
        pytest.skip("the plan picks up a key first")
    assert reward(scorer, row, str([plan[0], *[to, back] * 50])) == 0.0
    assert reward(scorer, row, str([plan[0], *[to, back] * 50, to])) < 0.001
    assert reward(scorer, row, str([plan[1], *plan])) == 0.0


def test_a_maze_without_a_way_is_no_record(scorer: Any) -> None:
    context = (
        "Room A1 and A2 are connected by a closed and locked door. Bob is in room A1. Alice is in room A2."
    )
    plan = "['start: A1', 'move_to: A2', 'rescue: Alice']"
    score = relfast.score(
        [{"task": "SeqBench", "question": context, "answer": {"actions": plan}, "response": plan}],
        policy="strict",
        workers=0,
    )[0]
    assert (score.status, score.reward) == ("invalid_record", None)


SETTINGS = ({"B": 2}, {"rows": 8, "cols": 8, "B": 3, "N": 1.0}, {"rows": 10, "cols": 10, "B": 5, "N": 0.2})


def blind(scorer: Any, name: str, **settings: Any) -> float:
    """Mean reward of a strategy."""
    rng = random.Random(7)
    earned = []
    for row in generate(60, 4711, **settings):
        earned.append(reward(scorer, row, STRATEGIES[name]({"question": row["context"]}, rng)))
    return sum(earned) / len(earned)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_order_of_facts_gives_nothing_away(scorer: Any, settings: dict[str, Any]) -> None:
    assert blind(scorer, "facts in printed order", **settings, ordered=True) == 1.0
    assert blind(scorer, "facts in printed order", **settings) < 0.05


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "facts in printed order"])
def test_blind_strategies_earn_next_to_nothing(scorer: Any, name: str) -> None:
    assert blind(scorer, name, rows=8, cols=8, B=2, N=0.4) < 0.03


@pytest.mark.parametrize(
    "question", [None, "no maze", "Bob is in room A1.", "Room A1 and A2 are connected by an open door."]
)
def test_without_a_maze_a_blind_plan_is_empty(question: str | None) -> None:
    for name in ("straight to the goal, doors ignored", "facts in printed order"):
        assert STRATEGIES[name]({"question": question}, random.Random(1)) == "[]"
