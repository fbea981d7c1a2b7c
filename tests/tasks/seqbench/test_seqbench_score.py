"""Scores of SeqBench responses: the worked examples, every violation, both policies, hostile gold."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import seqbench_checker as checker
from corpora import DATA
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st

from relfast.errors import InputError
from relfast.records import Outcome, Record
from relfast.seqbench import Maze, generate, parse_actions, shortest_plan, validate
from relfast.tasks.options import AllOptions
from relfast.tasks.seqbench import TASK
from relfast.tasks.seqbench import maze as reading
from relfast.tasks.seqbench import score as room
from relfast.tasks.seqbench.maze import Fields, from_facts
from relfast.tasks.seqbench.score import Problem, ProblemCache

EXAMPLES = json.loads((DATA / "seqbench/few_shot_examples.json").read_text())["examples"]

STRICT = AllOptions(policy="strict")
REFERENCE = AllOptions()


def record(row: dict[str, Any], response: Any, sample: int = 0) -> Record:
    """A dataset row with a response, as the formats layer hands it over."""
    answer = {key: row[key] for key in row if key not in ("instance_id", "context")}
    return Record(0, row.get("instance_id"), "SeqBench", answer, response, row.get("context"), sample)


def score(records: list[Record], options: AllOptions = REFERENCE) -> list[Outcome]:
    return room.score([(r, room.extract(r, options)) for r in records], options)


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
@pytest.mark.parametrize("options", [REFERENCE, STRICT], ids=["reference", "strict"])
def test_worked_examples(example: dict[str, Any], options: AllOptions) -> None:
    """Gold is legal, optimal and our shortest plan (source: few_shot_examples.json)."""
    context = " ".join(example["facts"])
    maze = Maze.from_row({"context": context})
    assert maze.source == "context"
    assert shortest_plan(maze) == example["completion"]
    assert validate(maze, example["completion"]) == (True, None, None, *[len(example["completion"])] * 2)
    world = checker.from_context(context, "Bob", "Alice")
    assert checker.run(world, example["completion"]) is None
    assert len(checker.all_shortest_plans(world)[0]) == len(example["completion"])
    answer = {"actions": example["completion"]}
    (outcome,) = score(
        [Record(0, "x", "SeqBench", answer, f"Plan: {example['completion']}", context)], options
    )
    assert outcome.correct
    assert outcome.metrics["optimal"]
    assert outcome.metrics["exact_match"]
    assert outcome.metrics["maze"] == "context"
    assert outcome.metrics["noise"] is None
    assert outcome.metrics["logical_depth"] == len(example["completion"])


# the start of a real row (emnlp-submission/seqBench, CC BY 4.0), broken off within a fact
REAL_FACTS = (
    "Room D5 and D4 are connected by a closed and locked door. The locked door between D5 and D4 requires"
    " key 69. Key 69 is in room D5. Room D4 and D3 are connected by an open door. Room D3 and E3 are"
    " connected by an open door. Room E3 and E2 are connected by an open door. Roo"
)


def test_start_of_a_real_row() -> None:
    layout = from_facts(REAL_FACTS)
    assert layout is not None
    assert layout.passages[("D5", "D4")] == (True, "69")
    assert layout.key_rooms == {"69": "D5"}
    assert list(layout.rooms) == ["D5", "D4", "D3", "E3", "E2"]
    context = REAL_FACTS.removesuffix(" Roo") + " Bob is in room D5. Alice is in room E2."
    plan = shortest_plan(Maze.from_row({"context": context}))
    assert plan is not None
    assert plan[:4] == ["start: D5", "pick_up_key: 69", "use_key: 69", "unlock_and_open_door_to: D4"]
    assert len(plan) == 9


def test_gold_under_both_policies(row: dict[str, Any], plan: list[str]) -> None:
    for options in (REFERENCE, STRICT):
        outcome = score_one(row, row["completion"], options)
        assert outcome.correct
        assert outcome.found
        assert outcome.error is None
        keys = [*TASK.metrics, "walk_score", "reason"] if options.strict else list(TASK.metrics)
        assert list(outcome.metrics) == keys
        assert outcome.details["gold"] == row["completion"]
        assert outcome.details["pred"] == row["completion"]
    assert outcome.metrics["maze"] == "structural_details"


def mutations(row: dict[str, Any], plan: list[str]) -> list[tuple[str, int, list[str]]]:
    """Gold broken in one place: (violation, its index, the plan)."""
    world = checker.from_details(row)
    names = [action.split(": ")[0] for action in plan]
    pick, use, unlock = (names.index(name) for name in ("pick_up_key", "use_key", "unlock_and_open_door_to"))
    keys = sorted(world.keys)
    held = plan[pick].split(": ")[1]
    other = next(key for key in keys if key != held)
    second_use = names.index("use_key", use + 1)
    last = len(plan) - 1
    far = next(room for room in world.graph if room not in world.graph[world.start] and room != world.start)
    moves = [index for index, name in enumerate(names) if name == "move_to"]
    middle = moves[len(moves) // 2]

    def put(index: int, *actions: str) -> list[str]:
        return [*plan[:index], *actions, *plan[index + 1 :]]

    return [
        ("bad_action", middle, put(middle, "jump: A1")),
        ("bad_action", 0, put(0, "A1")),
        ("bad_action", last, put(last, "rescue:")),
        ("wrong_start", 0, put(0, f"start: {far}")),
        ("wrong_start", 0, plan[1:]),
        ("wrong_start", middle, put(middle, plan[0])),
        ("wrong_start", 0, put(0, "start: nowhere")),
        ("not_adjacent", 1, put(1, f"move_to: {far}")),
        ("not_adjacent", 1, put(1, f"move_to: {world.start}")),
        ("not_adjacent", 1, put(1, "move_to: ZZ99")),
        ("door_locked", unlock, [*plan[:unlock], *plan[unlock + 1 :]]),
        ("key_not_here", pick, put(pick, f"pick_up_key: {other}")),
        ("key_not_here", pick + 1, [*plan[: pick + 1], *plan[pick:]]),
        ("key_not_here", pick, put(pick, "pick_up_key: 12345")),
        ("key_not_held", use - (use > pick), [*plan[:pick], *plan[pick + 1 :]]),
        ("key_not_held", use, put(use, f"use_key: {other}")),
        ("key_not_held", use, put(use, "use_key: 12345")),
        ("wrong_key", unlock - 1, [*plan[:use], *plan[use + 1 :]]),
        ("wrong_key", use + 3, _detour(plan, use)),
        ("wrong_key", second_use + 1, put(second_use, f"use_key: {held}")),
        ("no_such_door", unlock, put(unlock, f"unlock_and_open_door_to: {far}")),
        ("no_such_door", unlock + 1, [*plan[: unlock + 1], *plan[unlock:]]),
        ("no_such_door", 1, put(1, f"unlock_and_open_door_to: {plan[1].split(': ')[1]}")),
        ("wrong_rescue", last, put(last, "rescue: Mallory")),
        ("wrong_rescue", 1, put(1, plan[last])),
        ("no_rescue", last, plan[:-1]),
        ("no_rescue", 1, plan[:1]),
        ("after_rescue", last + 1, [*plan, plan[-2]]),
        ("after_rescue", last + 1, [*plan, plan[-1]]),
        ("after_rescue", last + 1, [*plan, "jump: A1"]),
    ]


def _rooms(plan: list[str]) -> list[str]:
    return [action.split(": ")[1] for action in plan if action.startswith(("start", "move_to"))]


def _detour(plan: list[str], use: int) -> list[str]:
    """Use the key, walk to the room before and back, then unlock: the key is no longer in use."""
    before, here = _rooms(plan[:use])[-2:]
    return [*plan[: use + 1], f"move_to: {before}", f"move_to: {here}", *plan[use + 1 :]]


def test_every_violation_at_its_index(row: dict[str, Any], plan: list[str]) -> None:
    maze = Maze.from_row(row)
    world = checker.from_details(row)
    seen = set()
    for violation, index, broken in mutations(row, plan):
        assert checker.run(world, broken) == index, (violation, broken)
        verdict = validate(maze, broken)
        assert (verdict.violation, verdict.violation_index) == (violation, index)
        assert verdict.n_legal == index
        assert verdict.n_actions == len(broken)
        metrics = score_one(row, str(broken)).metrics
        assert (metrics["violation"], metrics["violation_index"]) == (violation, index)
        assert not metrics["valid"]
        assert not metrics["optimal"]
        assert not metrics["exact_match"]
        assert metrics["legal_ratio"] == min(index / len(plan), 1)
        seen.add(violation)
    unparsable = score_one(row, "I do not know").metrics
    assert unparsable["violation"] == "unparsable"
    assert unparsable["violation_index"] == 0
    assert {*seen, "unparsable"} == set(room.VIOLATIONS)


def test_published_metrics(row: dict[str, Any], plan: list[str]) -> None:
    changed = [*plan[:5], "move_to: ZZ9", *plan[6:], plan[1]]
    metrics = score_one(row, str(changed)).metrics
    assert metrics["progress_ratio"] == 5 / len(plan)
    overlap = sum(min(changed.count(action), plan.count(action)) for action in set(plan))
    precision, recall = overlap / len(changed), overlap / len(plan)
    assert metrics["precision"] == precision
    assert metrics["recall"] == recall
    assert metrics["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert metrics["n_actions"] == len(changed)


def test_nothing_to_read(row: dict[str, Any]) -> None:
    for response in ("", "no plan here", None, 7, ["start: A1"], {"a": 1}):
        for options in (REFERENCE, STRICT):
            outcome = score_one(row, response, options)
            assert not outcome.found
            assert not outcome.correct
            assert outcome.error is None
            assert outcome.vote is None
            numbers = [
                outcome.metrics[key] for key in ("progress_ratio", "precision", "recall", "f1", "legal_ratio")
            ]
            assert numbers == [0.0] * 5
            assert outcome.metrics["n_actions"] == 0


def test_strict_accepts_any_optimal_plan() -> None:
    # key 2 lies on the way and can be picked up before or after key 1
    context = (
        "Room A1 and A2 are connected by an open door. Room A2 and A3 are connected by a closed and locked"
        " door. The locked door between A2 and A3 requires key 1. Key 1 is in room A1. Bob is in room A2."
        " Alice is in room A4. Room A3 and A4 are connected by a closed and locked door."
        " The locked door between A3 and A4 requires key 2. Key 2 is in room A2."
    )
    maze = Maze.from_row({"context": context})
    plan = shortest_plan(maze)
    assert plan is not None
    other = [action for action in plan if action != "pick_up_key: 2"]
    other.insert(other.index("move_to: A2") + 1, "pick_up_key: 2")
    assert other != plan
    assert validate(maze, other).valid
    row = {"context": context, "completion": str(plan)}
    reference, strict = (score_one(row, str(other), options) for options in (REFERENCE, STRICT))
    assert not reference.correct
    assert not reference.metrics["exact_match"]
    assert strict.correct
    assert strict.metrics["optimal"]
    assert strict.metrics["progress_ratio"] < 1


def test_a_longer_plan_is_valid_but_not_optimal(row: dict[str, Any], plan: list[str]) -> None:
    start, second = _rooms(plan)[:2]
    longer = [plan[0], f"move_to: {second}", f"move_to: {start}", *plan[1:]]
    outcome = score_one(row, str(longer), STRICT)
    assert outcome.metrics["valid"]
    assert not outcome.metrics["optimal"]
    assert not outcome.correct
    assert outcome.metrics["legal_ratio"] == 1.0


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("", "empty"),
        ("<think>['start: A1']</think>", "only_reasoning"),
        ("nothing", "no_answer"),
        ("é ['rescue: é'] or {plan}", None),
        ("{plan} or {plan}", None),
        ("['start: A1'] is wrong.\nSo:\n{plan}", None),
        ("<think>['start: A1'] or</think>{plan}", None),
    ],
)
def test_strict_wants_one_final_answer(row: dict[str, Any], response: str, reason: str | None) -> None:
    outcome = score_one(row, response.replace("{plan}", row["completion"]), STRICT)
    assert outcome.metrics["reason"] == reason
    assert outcome.correct == outcome.found == (reason is None)
    if reason is not None:
        assert outcome.metrics["violation"] == "unparsable"
        assert outcome.metrics["n_actions"] == 0


def test_reference_reads_the_last_plan_unless_told_to_drop_reasoning(row: dict[str, Any]) -> None:
    response = f"{row['completion']}<think> ['start: A1'] "
    assert not score_one(row, response).correct
    assert score_one(row, response, AllOptions(strip_reasoning=True)).correct


def test_forms_of_gold(row: dict[str, Any], plan: list[str]) -> None:
    fields = {key: row[key] for key in row if key not in ("instance_id", "context")}
    pairs = [tuple(action.split(": ")) for action in plan]
    for answer in (
        fields,
        json.dumps(fields),
        {**fields, "completion": plan},
        {**fields, "completion": pairs},
        {**fields, "structural_details": json.loads(row["structural_details"])},
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


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "completion"),
        ({}, "completion"),
        ("gold", "completion"),
        ({"completion": None}, "completion"),
        ({"completion": 7}, "completion"),
        ({"completion": "none"}, "completion"),
        ({"actions": []}, "completion"),
        ({"actions": ["start: A1", "jump: B2"]}, "gold item 1"),
        ({"structural_details": "{}"}, "completion"),
        ({"completion": "['start: A1']", "structural_details": "{"}, "structural_details"),
        ({"completion": "['start: A1']", "structural_details": "[]"}, "structural_details"),
        ({"completion": "['start: A1']", "structural_details": "{}"}, "structure"),
        (
            {"completion": "['start: A1']", "structural_details": {"structure": {"adjacency_list": {}}}},
            "start_room_coord",
        ),
        (
            {
                "completion": "['start: A1']",
                "structural_details": {"structure": {"adjacency_list": {"0,0": 7}}},
            },
            "adjacency_list",
        ),
        (
            {
                "completion": "['start: A1']",
                "structural_details": {"structure": {"adjacency_list": {}, "door_details": {"0,0": {}}}},
            },
            "door_details",
        ),
    ],
)
def test_gold_that_cannot_be_used(answer: Any, message: str) -> None:
    given = Record(0, "x", "SeqBench", answer, "['start: A1']", None)
    for options in (REFERENCE, STRICT):
        (outcome,) = score([given], options)
        assert outcome.error is not None
        assert message in outcome.error
        assert not outcome.correct


def test_without_any_maze(plan: list[str]) -> None:
    """The published measures need gold only; running the plan is not possible, and strict says so."""
    given = Record(0, "x", "SeqBench", {"actions": plan}, str(plan), "Which way?")
    (outcome,) = score([given])
    assert outcome.correct
    assert outcome.metrics["exact_match"]
    assert outcome.metrics["f1"] == 1
    assert [outcome.metrics[key] for key in ("valid", "optimal", "legal_ratio", "violation", "maze")] == [
        None
    ] * 5
    (outcome,) = score([given], STRICT)
    assert outcome.error is not None
    assert "no maze" in outcome.error


def test_gold_with_rooms_that_the_facts_lack() -> None:
    answer = {"actions": ["start: A1", "move_to: A2", "move_to: Q9", "use_key: 5", "rescue: Alice"]}
    context = "Room A1 and A2 are connected by an open door. Bob is in room A1. Alice is in room A2."
    (outcome,) = score([Record(0, "x", "SeqBench", answer, str(answer["actions"]), context)])
    assert outcome.correct
    assert outcome.metrics["violation"] == "not_adjacent"


def test_long_batches_are_cut(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(row, f"{at} {row['completion']}") for at in range(7)]
    whole = score(records)
    monkeypatch.setattr(room, "MAX_JOINED", 1500)
    assert score(records) == whole


def test_votes(row: dict[str, Any], plan: list[str]) -> None:
    pairs = [tuple(action.split(": ")) for action in plan]
    votes = [score_one(row, response).vote for response in (str(plan), f"x {pairs} y", str(plan[:-1]))]
    assert votes[0] == votes[1] != votes[2]


@settings(deadline=None, max_examples=60)
@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["structure", "mappings", "adjacency_list", "door_details", "key_locations", "start_room_coord", "end_room_coord", "coordinate_to_name", "0,0", "0,0_0,1", "status"]), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_any_structure(structure: Any) -> None:
    for details in (structure, {"structure": structure}, json.dumps(structure)):
        answer = {"completion": "['start: A1', 'rescue: Al']", "structural_details": details}
        (outcome,) = score([Record(0, "x", "SeqBench", answer, "['start: A1']", "facts")])
        assert outcome.error is None or outcome.error


def test_each_maze_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    original = reading.from_structure
    monkeypatch.setattr(reading, "from_structure", lambda text: decoded.append(1) or original(text))
    monkeypatch.setattr(room, "PROBLEMS", ProblemCache())
    rows = list(generate(5, 23, rows=5, cols=5, B=1))
    for _ in range(3):
        # every record brings its own copy of the text, as lines decoded one by one do
        score([record(json.loads(json.dumps(rows[at % 5])), rows[at % 5]["completion"]) for at in range(40)])
    assert len(decoded) == 5


def test_cache_is_bounded() -> None:
    cache = ProblemCache(limit=60_000)
    sizes = []
    for row in generate(40, 29, rows=6, cols=6, B=1):
        fields = Fields.of(row, row["context"])
        problem = cache.get(fields, fields.key)
        assert isinstance(problem, Problem)
        sizes.append(problem.n_bytes)
        assert cache.n_bytes <= 60_000
    assert cache.misses == 40
    assert sum(sizes) > 60_000
    assert cache.n_bytes > 60_000 - 2 * max(sizes)


def test_golds_that_are_written_alike_are_two() -> None:
    """A list of pairs, and the text that Python writes for it; a structure, and a text that is none."""
    facts = "Room A1 and A2 are connected by an open door. Bob is in room A1. Alice is in room A2."
    pairs = [("start", "A1"), ("move_to", "A2"), ("rescue", "Alice")]
    as_list, as_text = ({"actions": actions} for actions in (pairs, str(pairs)))
    for first, second in ((as_list, as_text), (as_text, as_list)):
        cache = ProblemCache()
        for answer in (first, second):
            fields = Fields.of(answer, facts)
            problem = cache.get(fields, fields.key)
            assert isinstance(problem, Problem)
            said = str(pairs) if answer is as_text else str([f"{name}: {what}" for name, what in pairs])
            assert problem.text == said
        assert cache.misses == 2
    keys = {
        Fields.of({"actions": "['start: A1']", **more}, question, row).key
        for more, question, row in (
            ({}, "ab", None),
            ({}, None, None),
            ({}, "None", None),
            ({"structural_details": "ab"}, None, None),
            ({"structural_details": {"structure": 1}}, None, None),
            ({"structural_details": "{'structure': 1}"}, None, None),
            ({}, "ab", {"instance_metadata": {"agent_name": "x"}}),
            ({}, "ab", {"instance_metadata": {"target_name": "x"}}),
        )
    }
    assert len(keys) == 8


def test_from_row_says_what_is_missing() -> None:
    for row, field in (
        ({}, "context"),
        ({"context": "Hello."}, "context"),
        ({"structural_details": "x"}, "JSON"),
    ):
        with pytest.raises(InputError, match=field):
            Maze.from_row(row)
    with pytest.raises(InputError, match="rescue"):
        Maze.from_row({"context": "Room A1 and A2 are connected by an open door. Bob is in room A1."})


def test_who_is_who_in_facts() -> None:
    facts = "Room A1 and A2 are connected by an open door. {} is in room A2. {} is in room A1."
    assert shortest_plan(Maze.from_row({"context": facts.format("Alice", "Bob")})) == [
        "start: A1",
        "move_to: A2",
        "rescue: Alice",
    ]
    assert shortest_plan(Maze.from_row({"context": facts.format("Carol", "Dan")})) == [
        "start: A2",
        "move_to: A1",
        "rescue: Dan",
    ]
    row = {
        "context": facts.format("Carol", "Dan"),
        "instance_metadata": {"agent_name": "Dan", "target_name": "Carol"},
    }
    assert shortest_plan(Maze.from_row(row)) == ["start: A1", "move_to: A2", "rescue: Carol"]
    row = {"context": facts.format("Carol", "Dan"), "completion": "['start: A1', 'rescue: Carol']"}
    assert shortest_plan(Maze.from_row(row)) == ["start: A1", "move_to: A2", "rescue: Carol"]


def test_facts_within_a_prompt() -> None:
    prompt = (
        "You are in a maze. Bob has to rescue Alice.\nFacts:\n- Room A1 and A2 are connected by an open door.\n"
        "- Bob is in room A1.\n* Alice is in room A2\n\nWhich way? Answer with a list."
    )
    plan = ["start: A1", "move_to: A2", "rescue: Alice"]
    assert shortest_plan(Maze.from_row({"question": prompt, "answer": {"actions": plan}})) == plan
    for example in EXAMPLES:
        assert shortest_plan(Maze.from_row(example)) == example["completion"]


@pytest.mark.parametrize(
    "unit", ["Room ", "Room A1 and ", "x is in room", "Key ", "a", ". ", "Door between A and B requires key "]
)
@pytest.mark.fuzz
def test_long_contexts_take_linear_time(unit: str) -> None:
    assert_linear(lambda n: partial(from_facts, unit * (n // len(unit))), 2_000_000)
    assert_linear(lambda n: partial(from_facts, "Room " + "x" * n), 2_000_000)


def test_public_validation_takes_text_and_nothing(row: dict[str, Any], plan: list[str]) -> None:
    maze = Maze.from_row(row)
    assert validate(maze, row["completion"]).valid
    assert validate(maze, [tuple(action.split(": ")) for action in plan]).valid
    assert validate(maze, parse_actions("none")) == (False, "unparsable", 0, 0, 0)
    assert validate(maze, []).violation == "no_rescue"


def test_search_limits_do_not_break_scoring() -> None:
    """Where the search for the shortest plan is given up, gold's length stands for it."""
    ring = [(room, (room + 1) % 64) for room in range(64)]
    facts = [f"Room R{a} and R{b} are connected by a closed and locked door." for a, b in ring]
    facts += [f"Door between R{a} and R{b} requires key {a}." for a, b in ring]
    facts += [f"Key {key} is in room R0." for key in range(64)]
    context = " ".join([*facts, "Bob is in room R0.", "Alice is in room R1."])
    plan = [
        "start: R0",
        "pick_up_key: 0",
        "use_key: 0",
        "unlock_and_open_door_to: R1",
        "move_to: R1",
        "rescue: Alice",
    ]
    outcome = score_one({"context": context, "completion": str(plan)}, str(plan), STRICT)
    assert outcome.correct
    assert outcome.metrics["optimal"]
    assert outcome.metrics["reason"] == "search_given_up"
    with pytest.raises(InputError, match="too many doors"):
        shortest_plan(Maze.from_row({"context": context}))


def test_a_way_on_that_is_not_searched_for_to_the_end_is_told() -> None:
    """A maze whose shortest plan is found, and a plan that breaks off where there are too many ways on."""
    ring = [(room, (room + 1) % 8) for room in range(8)]
    facts = [f"Room R{a} and R{b} are connected by a closed and locked door." for a, b in ring]
    facts += [f"Door between R{a} and R{b} requires key {a}." for a, b in ring]
    facts += [f"Key {key} is in room R0." for key in range(8)]
    context = " ".join([*facts, "Bob is in room R0.", "Alice is in room R2."])
    gold = shortest_plan(Maze.from_row({"context": context}))
    assert gold is not None
    record = {"context": context, "completion": str(gold)}
    assert score_one(record, str(gold), STRICT).metrics["reason"] is None
    near = score_one(record, str([*gold[:-2], "dance: here"]), STRICT)
    assert near.metrics["walk_score"] > 0
    assert near.metrics["reason"] is None
    far = score_one(record, str([gold[0], "pick_up_key: 7", "dance: here"]), STRICT)
    assert far.metrics["walk_score"] == 0
    assert far.metrics["reason"] == "search_given_up"
