"""What every task owes, over the whole table."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from contract_records import gold
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_texts import UNITS, nasty_text
from relfast_kernels.layouts import MAX_STRICT

import relfast
from relfast.records import Record
from relfast.tasks import TASKS, AllOptions, find_task, get_task
from relfast.tasks.realign.extract import MAX_STEPS, parse_steps, read_final_answer, without_repeats
from relfast.tasks.realign.gate import working
from relfast.tasks.reasoning import strip_reasoning

GARBAGE: list[Any] = [
    "", " ", "garbage", "\x00", "\ud800", "<", "[", "{}", "null", "\u2028", "\U0001f600" * 50, "Answer", "yes no", "<smiles>", "'" * 99,
    "<think>", "\\boxed{", "Step 1:", "['", "\ufeff", None, 0, 1, -1.5, True, {}, {"a": []}, b"bytes", ("x",), object(),
]  # fmt: skip

BAD_GOLD: list[Any] = [
    None, 5, "x", [], {}, {"target": "x"}, {"label": 5, "taxa": []}, {"label": "y", "taxa": 3}, {"label": None}, {"smiles": 7},
    {"missing_smiles": "C"}, {"missing_smiles": [None, 3]}, {"actions": 3}, {"benchmark_solution": 4}, {"smiles": "not one"},
]  # fmt: skip


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=("reference", "strict"))
def policy(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def in_process(records: list[dict[str, Any]], **options: Any) -> list[relfast.Score]:
    """Without workers, whose start would be most of the time; `tests/engine` and `tests/rewards` have them."""
    return relfast.score(records, workers=0, **options)


def test_gold_is_right_nothing_is_no_answer_and_metrics_are_the_tables(task: str, policy: str) -> None:
    known = TASKS[task].metric_by_name
    for record, response in gold(task):
        texts = (response, "", "garbage")
        scores = in_process([{**record, "response": text} for text in texts], policy=policy)
        right, empty, _ = scores
        assert (right.status, right.error, right.correct) == ("ok", None, True)
        assert right.reward == pytest.approx(1.0, abs=1e-6)
        flat = relfast.evaluate_response(record["question"], record["answer"], response, task, policy=policy)
        assert flat["correct"] is True
        assert empty.status == "no_answer"
        if policy == "strict":
            assert empty.correct is False
            assert empty.reward is not None
            assert empty.reward <= 0
        for score in scores:
            assert set(TASKS[task].metrics) <= set(score.metrics) <= set(known)
            assert policy == "strict" or not any(known[name].strict_only for name in score.metrics)
            assert policy == "strict" or "reason" not in score.metrics


def test_nothing_raises_for_garbage_or_bad_gold(task: str, policy: str) -> None:
    metric = TASKS[task].default_reward(policy)  # type: ignore[arg-type]
    # an overlap is -1 where gold has no taxa
    least = -1.0 if task == "REL-B1" and metric != "correct" else 0.0
    question, right = gold(task)[0][0]["question"], gold(task)[0][1]
    pairs = [(record["answer"], response) for record, _ in gold(task)[:2] for response in GARBAGE]
    pairs += [(answer, right) for answer in BAD_GOLD]
    together = relfast.score_batch(task, *zip(*pairs, strict=True), policy=policy, workers=0)
    for (answer, response), score in zip(pairs, together.scores, strict=True):
        flat = relfast.evaluate_response(question, answer, response, task, policy=policy)
        assert flat["correct"] is False or response != right
        assert isinstance(flat["correct"], bool)
        assert score.status in ("ok", "no_answer", "invalid_record")
        assert score.reward is None or least <= score.reward <= 1.0
        if score.status == "invalid_record":
            assert (score.correct, score.reward) == (None, None)
            assert score.error is not None
            assert score.error["message"]
            assert "\n" not in score.error["message"]


NO_TEXT = [("", "empty"), (None, "not_text"), ("<think>4", "only_reasoning"), ("4 \ud800", "lone_surrogate"), ("x" * 1_000_001, "too_long")]  # fmt: skip


@pytest.mark.parametrize(("response", "reason"), NO_TEXT, ids=[reason for _, reason in NO_TEXT])
def test_why_a_response_is_no_answer(task: str, response: Any, reason: str) -> None:
    record, _ = gold(task)[0]
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        row = scorer.score_one(task, record["answer"], response, record["question"])
    assert (row.status, row.correct, row.metrics["reason"]) == ("no_answer", False, reason)
    assert row.reward is not None
    assert row.reward <= 0


def structure(**fields: Any) -> dict[str, Any]:
    return {"completion": "['start: A1']", "structural_details": {"structure": fields}}


UNUSABLE = [
    *(("ReAlign", gold, "benchmark_solution") for gold in (None, {}, {"benchmark_solution": None}, {"benchmark_solution": 7}, ["text"])),
    ("ReAlign", {"benchmark_solution": "ab\n" * (MAX_STEPS + 1)}, "benchmark_solution"),
    ("ReAlign", {"solution": ["a"]}, "solution"),
    *(("ReAlign", {"benchmark_steps": steps}, "benchmark_steps") for steps in ("abc def", [1, 2])),
    *(("SeqBench", gold, "completion") for gold in (None, {}, "gold", {"actions": []}, {"structural_details": "{}"})),
    *(("SeqBench", {"completion": said}, "completion") for said in (None, 7, "none")),
    ("SeqBench", {"actions": ["start: A1", "jump: B2"]}, "gold item 1"),
    *(("SeqBench", {"completion": "['start: A1']", "structural_details": said}, "structur") for said in ("{", "[]", "{}")),
    ("SeqBench", structure(adjacency_list={}), "start_room_coord"),
    ("SeqBench", structure(adjacency_list={"0,0": 7}), "adjacency_list"),
    ("SeqBench", structure(adjacency_list={}, door_details={"0,0": {}}), "door_details"),
]  # fmt: skip
"""Gold, and what is named of it; of REL's, `tests/formats/test_formats.py` and `tests/tasks/test_rel_parity.py`."""


@pytest.mark.parametrize(("of", "answer", "said"), UNUSABLE)
def test_unusable_gold_is_named(of: str, answer: Any, said: str, policy: str) -> None:
    flat = relfast.evaluate_response("2 + 3?", answer, "['start: A1']", of, policy=policy)
    assert flat["correct"] is False
    assert said in flat["error"]
    assert "\n" not in flat["error"]


def test_batch_gives_what_singles_give(task: str, policy: str) -> None:
    options = AllOptions(policy=policy)  # type: ignore[arg-type]
    others = ("", "garbage", None, nasty_text("tags", 50), "yes 4")
    records: list[Record] = []
    for record, response in gold(task):
        for text in (response, f"{response} {response}", *others):
            answer, question = record["answer"], record["question"]
            records.append(Record(len(records), "x", task, answer, text, question, row=record))
    together = TASKS[task].score(records, options)
    assert together == [TASKS[task].score([one], options)[0] for one in records]
    assert TASKS[task].score(records[::-1], options) == together[::-1]
    assert TASKS[task].score([], options) == []


def test_every_reward_metric(task: str, policy: str) -> None:
    record, response = gold(task)[0]
    for metric in TASKS[task].reward_metrics:
        if policy != "strict" and metric != "correct" and TASKS[task].metric_by_name[metric].strict_only:
            with pytest.raises(relfast.UsageError, match="strict only"):
                in_process([record], policy=policy, rewards={task: metric})
            continue
        (score,) = in_process([{**record, "response": response}], policy=policy, rewards={task: metric})
        value = score.correct if metric == "correct" else score.metrics[metric]
        assert score.reward == (None if value is None else pytest.approx(float(value)))


def test_names(task: str) -> None:
    assert find_task(task.lower()) is find_task(task.upper()) is TASKS[task]
    assert find_task(f" {task}") is None
    assert find_task(None) is None
    with pytest.raises(relfast.UnknownTaskError, match="known tasks: REL-A1, REL-A2"):
        get_task(f"{task}x")


# what every task's extractor owes: total on any text, in time linear in its length


POLICIES = {
    "reference": AllOptions(),
    "strict": AllOptions(policy="strict"),
    "stripped": AllOptions(strip_reasoning=True),
}

PIECES = st.sampled_from(
    [
        *(head + unit for head, unit in UNITS.values()), "yes", "no", "4", "\n", " ", "taxon_7", "C",
        "</smiles>", "]",
    ]
)  # fmt: skip
TEXT = st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join)


def extract(task: str, response: Any, policy: str) -> Any:
    return TASKS[task].scorer.extract(response, POLICIES[policy])


DISTINCT_TASKS = sorted(set(TASKS) - {f"REL-A{n}" for n in range(2, 8)})
"""A task of each extractor: A2 to A7 are read as A1 is."""


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", DISTINCT_TASKS)
@settings(max_examples=60, deadline=None)
@given(response=TEXT)
def test_any_text(task: str, policy: str, response: str) -> None:
    found = extract(task, response, policy)
    assert found is not None
    assert found.found in (True, False)
    if policy == "strict" and not found.found:
        assert found.reason


def read_solution(text: str) -> None:
    """As ReAlign's judge does, with the working and the repeats in it."""
    steps = parse_steps(text)
    read_final_answer(text, reference=True)
    working(steps, text, text[:9])
    without_repeats(steps, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.fuzz
def test_linear_time(name: str) -> None:
    """Up to the longest text that strict reads."""
    reads = [
        partial(extract, task, policy=policy) for task in DISTINCT_TASKS for policy in ("reference", "strict")
    ]
    reads += [strip_reasoning, partial(strip_reasoning, more=(("<cot>", "</cot>"),)), read_solution]
    for read in reads:
        assert_linear(lambda n, read=read: partial(read, nasty_text(name, n)), MAX_STRICT)  # type: ignore[misc]
