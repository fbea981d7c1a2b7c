"""Scores of SeqBench responses: the worked examples, every violation, both policies, hostile gold."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
import seqbench_checker as checker
from corpora import DATA
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from relfast.errors import InputError
from relfast.records import Outcome, Record
from relfast.seqbench import Maze, generate, shortest_plan
from relfast.tasks import AllOptions
from relfast.tasks.seqbench import machine
from relfast.tasks.seqbench import score as room
from relfast.tasks.seqbench.l0 import CHI2_95, aggregate, fit_l0
from relfast.tasks.seqbench.maze import Fields, from_facts
from relfast.tasks.seqbench.score import Problem, ProblemCache

EXAMPLES = json.loads((DATA / "seqbench/few_shot_examples.json").read_text())["examples"]

STRICT = AllOptions(policy="strict")
REFERENCE = AllOptions()


def record(row: dict[str, Any], response: Any) -> Record:
    """A dataset row with a response, as the formats layer hands it over."""
    answer = checker.answer_of(row)
    return Record(0, row.get("instance_id"), "SeqBench", answer, response, row.get("context"))


def score(records: list[Record], options: AllOptions = REFERENCE) -> list[Outcome]:
    return room.score([(r, room.extract(r.response, options)) for r in records], options)


def score_one(row: dict[str, Any], response: Any, options: AllOptions = REFERENCE) -> Outcome:
    (outcome,) = score([record(row, response)], options)
    return outcome


@pytest.fixture(scope="module")
def row() -> dict[str, Any]:
    """A 7 × 7 maze with two doors, all facts in the context."""
    return next(generate(1, 17, rows=7, cols=7, B=2, L=34, N=1.0))


@pytest.fixture(scope="module")
def plan(row: dict[str, Any]) -> list[str]:
    return checker.gold_of(row)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_worked_examples(example: dict[str, Any]) -> None:
    """Gold is legal, optimal and our shortest plan (source: few_shot_examples.json)."""
    context, gold = " ".join(example["facts"]), example["completion"]
    assert shortest_plan(Maze.from_row({"context": context})) == shortest_plan(Maze.from_row(example)) == gold
    expected = {"exact_match": True, "maze": "context", "noise": None, "logical_depth": len(gold)}
    for options in (REFERENCE, STRICT):
        outcome = score_one({"actions": gold, "context": context}, f"Plan: {gold}", options)
        assert outcome.correct
        assert outcome.metrics.items() >= expected.items()


def test_forms_of_gold(row: dict[str, Any], plan: list[str]) -> None:
    fields = checker.answer_of(row)
    pairs = [tuple(action.split(": ")) for action in plan]
    for answer in (
        fields,
        json.dumps(fields),
        {**fields, "completion": plan},
        {**fields, "completion": pairs},
        {**fields, "structural_details": json.loads(row["structural_details"])},
        {**fields, "structural_details": json.dumps(json.loads(row["structural_details"]), indent=1)},
        {**fields, "instance_metadata": None, "complexity_parameters": None},
        {"completion": row["completion"], "structural_details": None, "label": None},
        {"actions": plan},
        {"actions": pairs},
        {"actions": str(pairs)},
        json.dumps({"actions": plan}),
    ):
        for options in (REFERENCE, STRICT):
            given = Record(0, "x", "SeqBench", answer, row["completion"], row["context"])
            (outcome,) = score([given], options)
            assert outcome.correct, answer
            assert outcome.metrics["logical_depth"] == len(plan)
            assert outcome.metrics["backtracking"] == 2
    whole = Record(0, "x", "SeqBench", None, row["completion"], None, row=row)
    assert score([whole])[0].correct
    assert score([whole])[0].metrics["maze"] == "structural_details"


@pytest.mark.parametrize("name", ["Ä", 'q"t', "b\\s", "x_y", "a\nb", "Ω" * 200])
def test_names_of_rooms_that_json_escapes(row: dict[str, Any], plan: list[str], name: str) -> None:
    details, start = row["structural_details"], plan[0].removeprefix("start: ")
    answer = {
        "actions": [action.replace(f": {start}", f": {name}") if action.endswith(f": {start}") else action for action in plan],
        "structural_details": details.replace(f'"{start}"', json.dumps(name)),
    }  # fmt: skip
    for said in (answer, {**answer, "structural_details": json.loads(answer["structural_details"])}):
        outcome = score_one({**row, **said, "completion": None}, str(answer["actions"]), STRICT)
        assert outcome.metrics.items() >= {"valid": True, "optimal": True, "walk_score": 1.0}.items()


def test_without_any_maze(plan: list[str]) -> None:
    """The published measures need gold only; running the plan is not possible, and strict says so."""
    row = {"actions": plan, "context": "Which way?"}
    outcome = score_one(row, str(plan))
    assert outcome.correct
    unknown = dict.fromkeys(("valid", "optimal", "legal_ratio", "violation", "maze"))
    assert outcome.metrics.items() >= {"exact_match": True, "f1": 1, **unknown}.items()
    assert "no maze" in str(score_one(row, str(plan), STRICT).error)


def test_gold_with_rooms_that_the_facts_lack() -> None:
    plan = ["start: A1", "move_to: A2", "move_to: Q9", "use_key: 5", "rescue: Alice"]
    context = "Room A1 and A2 are connected by an open door. Bob is in room A1. Alice is in room A2."
    outcome = score_one({"actions": plan, "context": context}, str(plan))
    assert outcome.correct
    assert outcome.metrics["violation"] == "not_adjacent"


def test_long_batches_are_cut(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(row, f"{at} {row['completion']}") for at in range(7)]
    whole = score(records)
    monkeypatch.setattr(room, "MAX_JOINED", 1500)
    assert score(records) == whole


@settings(deadline=None, max_examples=60)
@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["structure", "mappings", "adjacency_list", "door_details", "key_locations", "start_room_coord", "end_room_coord", "coordinate_to_name", "0,0", "0,0_0,1", "status"]), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_any_structure(structure: Any) -> None:
    for details in (structure, {"structure": structure}, json.dumps(structure)):
        answer = {"completion": "['start: A1', 'rescue: Al']", "structural_details": details}
        (outcome,) = score([Record(0, "x", "SeqBench", answer, "['start: A1']", "facts")])
        assert outcome.error is None or outcome.error


def test_cache_is_bounded() -> None:
    cache = ProblemCache(limit=60_000)
    sizes = []
    for row in generate(40, 29, rows=6, cols=6, B=1):
        fields = Fields.of(row, row["context"])
        problem = cache.get(fields, fields.key)
        assert isinstance(problem, Problem)
        sizes.append(problem.n_bytes)
        assert cache.n_bytes <= 60_000
    assert sum(sizes) > 60_000
    assert cache.n_bytes > 60_000 - 2 * max(sizes)


def test_golds_that_are_written_alike_are_two() -> None:
    """A list and the text that Python writes for it, a structure and a text that is none: each has its own key."""
    plan = "['start: A1']"
    keys = {
        Fields.of({"actions": plan, **more}, question, row).key
        for more, question, row in (
            ({}, "ab", None),
            ({"actions": ["start: A1"]}, "ab", None),
            ({}, None, None),
            ({}, "None", None),
            ({"structural_details": "ab"}, None, None),
            ({"structural_details": {"structure": 1}}, None, None),
            ({"structural_details": "{'structure': 1}"}, None, None),
            ({}, "ab", {"instance_metadata": {"agent_name": "x"}}),
            ({}, "ab", {"instance_metadata": {"target_name": "x"}}),
        )
    }
    assert len(keys) == 9


@pytest.mark.parametrize(
    ("here", "there", "more", "plan"),
    [
        ("Alice", "Bob", {}, ["start: A1", "move_to: A2", "rescue: Alice"]),
        ("Carol", "Dan", {}, ["start: A2", "move_to: A1", "rescue: Dan"]),
        ("Carol", "Dan", {"instance_metadata": {"agent_name": "Dan", "target_name": "Carol"}}, ["start: A1", "move_to: A2", "rescue: Carol"]),
        ("Carol", "Dan", {"completion": "['start: A1', 'rescue: Carol']"}, ["start: A1", "move_to: A2", "rescue: Carol"]),
    ],
)  # fmt: skip
def test_who_is_who_in_facts(here: str, there: str, more: dict[str, Any], plan: list[str]) -> None:
    facts = f"Room A1 and A2 are connected by an open door. {here} is in room A2. {there} is in room A1."
    assert shortest_plan(Maze.from_row({"context": facts, **more})) == plan
    listed = facts.replace(". ", ".\n* ")
    prompt = f"You are in a maze.\nFacts:\n- {listed}\n\nWhich way? Answer with a list."
    assert shortest_plan(Maze.from_row({"context": prompt, **more})) == plan


@pytest.mark.parametrize(
    "unit", ["Room ", "Room A1 and ", "x is in room", "Key ", "a", ". ", "Door between A and B requires key "]
)
@pytest.mark.fuzz
def test_long_contexts_take_linear_time(unit: str) -> None:
    assert_linear(lambda n: partial(from_facts, unit * (n // len(unit))), 2_000_000)
    assert_linear(lambda n: partial(from_facts, "Room " + "x" * n), 2_000_000)


def ring(count: int, goal: int) -> str:
    """Rooms in a circle, every door locked and all keys in the first room: a search with many states."""
    doors = [(room, (room + 1) % count) for room in range(count)]
    facts = [f"Room R{a} and R{b} are connected by a closed and locked door." for a, b in doors]
    facts += [f"Door between R{a} and R{b} requires key {a}. Key {a} is in room R0." for a, b in doors]
    return " ".join([*facts, "Bob is in room R0.", f"Alice is in room R{goal}."])


def test_search_limits_do_not_break_scoring() -> None:
    """Where the search for the shortest plan is given up, gold's length stands for it."""
    context = ring(64, 1)
    plan = ["start: R0", "pick_up_key: 0", "use_key: 0", "unlock_and_open_door_to: R1", "move_to: R1", "rescue: Alice"]  # fmt: skip
    outcome = score_one({"context": context, "completion": str(plan)}, str(plan), STRICT)
    assert outcome.correct
    assert outcome.metrics["optimal"]
    assert outcome.metrics["reason"] == "search_given_up"
    with pytest.raises(InputError, match="too many doors"):
        shortest_plan(Maze.from_row({"context": context}))


def test_a_way_on_that_is_not_searched_for_to_the_end_is_told() -> None:
    """A maze whose shortest plan is found, and a plan that breaks off where there are too many ways on."""
    context = ring(8, 2)
    gold = shortest_plan(Maze.from_row({"context": context}))
    assert gold is not None
    for plan, pays, reason in (
        (gold, True, None),
        ([*gold[:-2], "dance: here"], True, None),
        ([gold[0], "pick_up_key: 7", "dance: here"], False, "search_given_up"),
    ):
        metrics = score_one({"context": context, "completion": str(gold)}, str(plan), STRICT).metrics
        assert (metrics["walk_score"] > 0, metrics["reason"]) == (pays, reason)


def test_a_maze_without_a_way_is_no_record() -> None:
    context = (
        "Room A1 and A2 are connected by a closed and locked door. Bob is in room A1. Alice is in room A2."
    )
    plan = "['start: A1', 'move_to: A2', 'rescue: Alice']"
    assert score_one({"context": context, "completion": plan}, plan, STRICT).error


def test_work_space_is_each_threads_own_and_grows(
    row: dict[str, Any], plan: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        str(plan),
        str(plan[:-3]),
        "none",
        f"{'a ' * 40_000}\n{plan}",
        str(plan[:5] * 900),
        "['start: \\x41']",
    ]
    alone = [score_one(row, text, STRICT) for text in texts]
    records = [record(row, text) for text in texts]
    assert score(records * 9, STRICT) == alone * 9
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: score(records, STRICT), range(24)):
            assert found == alone
    # a maze that needs more than there is at first
    gold, outcomes = {"context": ring(12, 6), "completion": "['start: R0', 'rescue: Alice']"}, []
    for numbers in (64, 1 << 22):
        monkeypatch.setattr(machine, "_NUMBERS", numbers)
        monkeypatch.setattr(machine._THREADS, "machine", machine.Machine())
        monkeypatch.setattr(room, "PROBLEMS", ProblemCache())
        outcomes.append(score_one(gold, "['start: R0', 'pick_up_key: 3', 'dance: 1']", STRICT))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].metrics["violation"] == "bad_action"


# L0 from simulated outcomes, its interval, and the aggregates


def simulate(l0: float, n: int, seed: int) -> tuple[Any, Any]:
    """Depths as the dataset spreads them (3 up to a few L0, at least 60), outcomes by the law."""
    rng = np.random.default_rng(seed)
    depths = rng.integers(3, max(60, int(3 * l0)), n)
    return depths, rng.random(n) < np.exp(-depths / l0)


@pytest.mark.parametrize("l0", [3.0, 40.0])
def test_fit_and_interval_by_another_optimizer(l0: float) -> None:
    depths, solved = simulate(l0, 1_000, 3)
    fit = fit_l0(depths, solved)

    def unlikely(found: float) -> float:
        p = np.exp(-np.asarray(depths) / found)
        return -float(np.where(solved, np.log(p), np.log1p(-p)).sum())

    best = minimize_scalar(lambda x: unlikely(math.exp(x)), bounds=(-1, 9), options={"xatol": 1e-9})
    assert fit.l0 == pytest.approx(math.exp(best.x), rel=1e-5)
    for edge in (fit.low, fit.high):
        assert 2 * (unlikely(edge) - unlikely(fit.l0)) == pytest.approx(CHI2_95, abs=1e-6)
    bins = depths // 5
    rates = [(depths[bins == b].mean(), solved[bins == b].mean()) for b in np.unique(bins)]

    def squares(found: float) -> float:
        return float(sum((rate - math.exp(-depth / found)) ** 2 for depth, rate in rates))

    best = minimize_scalar(squares, bounds=(1, 300), options={"xatol": 1e-9})
    assert fit.least_squares == pytest.approx(best.x, rel=1e-4)


def test_all_or_nothing() -> None:
    perfect = fit_l0([10, 20], [True, True])
    assert perfect.l0 == perfect.high == math.inf
    assert perfect.low == pytest.approx(30 / (CHI2_95 / 2))
    hopeless = fit_l0([10, 20], [False, False])
    assert hopeless.l0 == hopeless.low == 0
    assert 0 < hopeless.high < math.inf
    assert perfect.to_dict()["l0"] is None
    assert hopeless.to_dict()["least_squares"] is None
    json.dumps([perfect.to_dict(), hopeless.to_dict()], allow_nan=False)


@pytest.mark.parametrize(
    ("depths", "solved", "message"),
    [([], [], "no outcomes"), ([1], [1, 0], "differ"), ([0], [1], "positive"), ([math.nan], [1], "positive")],
)
def test_what_cannot_be_fitted(depths: list[float], solved: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_l0(depths, solved)


def test_aggregates() -> None:
    tables = aggregate(
        {"3/0/0.0": [1, 1, 1.0], "4/0/0.2": [1, 0, 0.5], "12/1/0.0": [1, 0, 0.25], "14/1/0.0": [1, 1, 1.0],
         "/1/": [1, 1, 1.0]}
    )  # fmt: skip
    assert tables["by_L"] == {
        "0-4": {"n": 2, "pass_at_1": 0.5, "progress_ratio": 0.75},
        "10-14": {"n": 2, "pass_at_1": 0.5, "progress_ratio": 0.625},
    }
    assert tables["by_B"]["1"] == {"n": 3, "pass_at_1": pytest.approx(2 / 3), "progress_ratio": 0.75}
    assert set(tables["by_N"]) == {"0.0", "0.2"}
    assert tables["l0"] == fit_l0([3, 4, 12, 14], [1, 0, 0, 1]).to_dict()
    assert set(tables["l0_by_B_N"]) == {"B=0,N=0.0", "B=0,N=0.2", "B=1,N=0.0"}
    assert tables["l0_by_B_N"]["B=1,N=0.0"] == fit_l0([12, 14], [0, 1]).to_dict()
    json.dumps(tables, allow_nan=False)


def test_counted_outcomes_are_outcomes() -> None:
    depths, solved = simulate(20, 500, 1)
    unique = np.unique(depths)
    right = [int(solved[depths == depth].sum()) for depth in unique]
    tried = [int((depths == depth).sum()) for depth in unique]
    counted, single = fit_l0(unique, right, tried), fit_l0(depths, solved)
    assert counted.to_dict() == pytest.approx(single.to_dict())
    with pytest.raises(ValueError, match="more problems"):
        fit_l0([1], [2], [1])


def test_aggregates_of_nothing() -> None:
    assert aggregate({}) == {"by_L": {}, "by_B": {}, "by_N": {}, "l0": None, "l0_by_B_N": {}}
    assert aggregate({"//": [1, 1, 1.0]})["l0"] is None
