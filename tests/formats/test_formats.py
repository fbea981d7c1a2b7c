"""Input dialects: what other programs write, brought to records; and the paths into rows that dialects are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tool_rows
from engine_runs import write_dump

import relfast
from relfast.formats import read_row
from relfast.formats.entry import samples_of
from relfast.formats.failure import NoResponse
from relfast.formats.hints import place_of
from relfast.formats.paths import MISSING, path_of

A1 = {"id": "a", "task": "REL-A1", "question": "Which?", "answer": {"target": 3}}
C2 = {"id": "c", "task": "REL-C2", "question": "Motif?", "answer": {"smiles": "CCO"}}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "gold.jsonl", (A1, C2))


def in_process(records: list[Any], **options: Any) -> list[relfast.Score]:
    return relfast.score(records, workers=0, **options)


def one(row: dict[str, Any], **options: Any) -> relfast.Score:
    (score,) = in_process([row], **options)
    return score


LM_EVAL = tool_rows.lm_eval(A1, ["Answer 4"], 7)
VERL = tool_rows.verl(A1, ["Answer 4"], 3)
SEQBENCH = {
    "instance_id": "1_rkc0_n0.0",
    "context": "Bob is in room A1.",
    "completion": "['start: A1']",
    "response": "['start: A1']",
}
REALIGN = {"id": "r", "question": "?", "benchmark_solution": "one\ntwo", "llm_solution": "one"}


def test_verl_names_its_task_by_data_source() -> None:
    assert one({**VERL, "data_source": "rel-a3"}).task == "REL-A3"
    # a source of the trainer's own is no task: gold says what it is
    assert one({**VERL, "data_source": "openai/gsm8k"}).task == "REL-A1"
    assert one({**VERL, "data_source": "mine"}, task="REL-A2").task == "REL-A2"


def test_rows_of_seqbench_and_realign() -> None:
    entry = read_row(SEQBENCH, "auto")
    assert (entry.id, entry.task, entry.question) == ("1_rkc0_n0.0", "SeqBench", "Bob is in room A1.")
    assert entry.answer == {"completion": "['start: A1']"}
    assert entry.response == "['start: A1']"
    entry = read_row(REALIGN, "auto")
    assert (entry.id, entry.task, entry.response) == ("r", "ReAlign", "one")
    assert entry.answer == {"benchmark_solution": "one\ntwo"}
    without = {key: value for key, value in SEQBENCH.items() if key != "response"}
    assert read_row(without, "seqbench").response is MISSING


def test_data(gold: Path) -> None:
    scores = in_process(
        [
            {"id": "c", "response": "<smiles>OCC</smiles>"},
            {"id": "a", "response": ["Answer 4", "Answer 1"]},
            {"id": "a", "answer": {"target": 0}, "response": "Answer 1"},
            {"id": "b", "response": "Answer 1"},
            {"response": "Answer 1"},
            {"id": ["a"], "response": "Answer 1"},
            {"id": "c", "answer": None, "task": None, "response": "<smiles>C</smiles>"},
        ],
        data=gold,
    )
    assert [score.correct for score in scores] == [True, True, False, True, None, None, None, False]
    assert scores[4].error == {"type": "MissingGold", "message": "no gold record with id 'b' in --data"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"task": "REL-A1"}\n', r"gold.jsonl:1: gold record has no usable id \(field 'id'\)"),
        ('\n{"id": 1}\nnot json\n', r"gold.jsonl:3: not JSON: "),
        ('{"id": [1]}\n', "no usable id"),
    ],
)
def test_unusable_data(lines: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(lines)
    with pytest.raises(relfast.InputError, match=message):
        in_process([A1], data=path)


PARTS = [{"type": "thinking", "thinking": "Answer 1", "signature": "s"}, {"type": "text", "text": "Answer 4"}]


@pytest.mark.parametrize(
    ("response", "samples"),
    [
        ([{"role": "assistant", "content": [{"type": "thinking", "text": "Answer 1"}, {"type": "text", "text": "Answer 4"}]}], ["Answer 4"]),
        (5, [5]),
        (PARTS[:1], [NoResponse("MissingResponse", "only reasoning, no answer")]),
        ([PARTS, PARTS[1:]], ["Answer 4", "Answer 4"]),
        ([{"type": "output_text", "text": "Ans", "annotations": []}, {"type": "output_text", "text": "wer 4"}], ["Answer 4"]),
        ([{"type": "refusal", "refusal": "No."}], [NoResponse("Refusal", "No.")]),
        ([{"type": "error", "error": "x"}, *PARTS], [NoResponse("MissingResponse", "x"), *PARTS]),
    ],
)  # fmt: skip
def test_samples(response: Any, samples: list[Any]) -> None:
    assert samples_of(response) == samples


UNION = dict.fromkeys(("target", "label", "taxa", "smiles", "missing_smiles", "molecules"))


@pytest.mark.parametrize(
    ("answer", "response", "task"),
    [
        ({"target": 3}, "Answer 4", "REL-A1"),
        ({"label": "yes", "taxa": [3]}, "Yes, taxon_3", "REL-B1"),
        ({"label": "no"}, "no", "REL-B1"),
        ({"label": "Yes"}, "<Yes>", "REL-C1"),
        ({"smiles": "CCO"}, "<smiles>OCC</smiles>", "REL-C2"),
        ({"missing_smiles": ["CCO"]}, "<smiles>OCC</smiles>", "REL-C3"),
    ],
)
@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
def test_columns_of_a_union(
    answer: dict[str, Any], response: str, task: str, policy: str, as_text: bool
) -> None:
    """A `datasets` column of objects comes back with every key of every row, the foreign ones null; and
    people store the whole as JSON text."""
    filled: Any = {**UNION, **answer}
    if as_text:
        filled = json.dumps(filled)
    named = one({"task": task, "answer": filled, "response": response}, policy=policy)
    assert (named.status, named.correct) == ("ok", True)
    if task != "REL-B1" or "taxa" in answer:  # a lone null `taxa` does not tell B1 from C1
        inferred = one({"task": None, "answer": filled, "response": response}, policy=policy)
        assert (inferred.task, inferred.correct) == (task, True)


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        ({}, "MissingField", "field 'answer' (the gold) is missing; --data FILE joins gold records on id"),
        ({"answer": None}, "MissingField", "field 'answer' (the gold) is missing; --data FILE joins gold records on id"),
        ({"answer": 5}, "InvalidField", "field 'answer' must be an object, got int"),
        ({"answer": "text"}, "InvalidField", "field 'answer' must be an object, got str"),
        ({"answer": "[1]"}, "InvalidField", "field 'answer' must be an object, got list"),
        ({"answer": {}}, "MissingField", "field 'task' is missing and cannot be inferred from the answer's keys"),
        ({"answer": {"target": 1}}, "MissingField", "field 'response' is missing; --map response=PATH says where it is"),
        ({"answer": {"target": 1}, "response": []}, "InvalidField", "field 'response' is an empty list"),
        ({"answer": {"target": "x"}, "response": "1"}, "InvalidGold", "Target must be an integer, got <class 'str'>"),
        ({"answer": {}, "task": "REL-A1", "response": "1"}, "InvalidGold", "Missing target in answer"),
        ({"answer": {}, "task": "REL-C1", "response": "1"}, "InvalidGold", "Missing label in answer"),
        ({"answer": {}, "task": "REL-C2", "response": "1"}, "InvalidGold", "Missing smiles in answer"),
        ({"answer": {"target": 1}, "response": {"a": 1}}, "InvalidResponse", "response is an object, not text; --map response=PATH says where the text is"),
    ],
)  # fmt: skip
def test_invalid_records_name_the_field(row: dict[str, Any], kind: str, message: str) -> None:
    score = one({"id": 5, **row})
    assert (score.id, score.status, score.correct, score.reward, score.metrics) == (
        5,
        "invalid_record",
        None,
        None,
        {},
    )
    assert score.error == {"type": kind, "message": message}


def test_other_rows_that_are_none() -> None:
    (listed,) = in_process([["not", "a", "dict"]])
    assert listed.error == {"type": "InvalidRecord", "message": "list, not a dict"}
    assert one({**LM_EVAL, "doc": {key: value for key, value in A1.items() if key != "id"}}).id == 7
    assert one({**LM_EVAL, "doc": "text"}).status == "invalid_record"
    score = one({"answer": {"target": 1}, "task": "REL-Z9", "response": "1"})
    assert score.error is not None
    assert score.error["type"] == "UnknownTask"
    assert score.error["message"].startswith("field 'task' is 'REL-Z9'; known tasks: REL-A1, ")
    assert score.task == "REL-Z9"
    assert one({"answer": {"target": 1}, "task": "REL-Z9", "response": "2"}, task="rel-a1").task == "REL-A1"


def test_a_run_whose_responses_are_objects_says_so(tmp_path: Path) -> None:
    """What is no text has no score; the run says where the text is."""
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "<Yes>"}}]}
    gold = {"id": "a", "task": "REL-C1", "answer": {"label": "Yes"}}
    path = write_dump(tmp_path / "run.jsonl", [{**gold, "response": body}])
    for policy in ("reference", "strict"):
        (cause,) = relfast.score_file(path, workers=0, policy=policy, overwrite=True).unusable
        assert cause.describe("command") == (
            "1 × response is an object, not text (line 1 has: id, task, answer, response; "
            "try --map 'response=response.choices.*.message.content') (found there in 1 of the first 1 rows)"
        )
    where = {"response": "response.choices.*.message.content"}
    summary = relfast.score_file(path, workers=0, map=where, overwrite=True)
    assert summary.tasks["REL-C1"].found == 1
    assert not summary.notes
    # what is not where its dialect has it is told by the row, and ends no run
    path.write_text('{"instance": {}, "request": {}, "result": {"completions": 5}}\n')
    summary = relfast.score_file(path, workers=0, overwrite=True)
    assert [cause.message for cause in summary.unusable] == ["result.completions is empty"]
    assert not summary.notes


# paths into rows: dialects are made of them, and where another tool's response is is said by one


ROW: dict[str, Any] = {
    "a": {"b": [1, {"c": "x", "on": True, "no": None}, [2, 3]], "at": [1], "n": 0},
    "text": '{"c": {"d": 4}}',
    "list": [{"k": 1, "tags": ["right", 1]}, {"k": 2, "tags": "right"}, {"k": 0}],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("", [ROW]),
        ("a.b.*.c", ["x"]),
        ("a.b.*.*?", [1, ROW["a"]["b"][1], 2, 3]),
        ("a.nothing?.n", [0]),
        ("a.b[at].c", ["x"]),
        ("a.b[n]", [1]),
        ("a.b[nothing]", []),
        ("list.*.k!.k", [1, 2]),
        ("list.*.!tags=right.k", [0]),
        ("a.b.*.on=true.c", ["x"]),
        ("a.b.*.on=false.c", []),
        ("a.n=false", []),
        ("text.@.c.d", [4]),
        ("list.@.k", [1]),
        ("a.b.*.{}.c", ["x"]),
        ("a.b.*.[]", [[2, 3]]),
        ("a.b.1.~", [{"c": "x", "on": True}]),
        ("text.c", []),
    ],
)
def test_a_path_leads_to(path: str, values: list[Any]) -> None:
    assert [*path_of(path).walk(ROW)] == values


@pytest.mark.parametrize("path", ["a..b", "a.b!=c", "a.[b]", "#a", "a b"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="no step of a path"):
        path_of(path)


# the path is the model's words, and never the prompt


Q = "Which of the panels completes it? Return exactly Answer 1 or Answer 2."
ASKED = {"role": "user", "content": Q}
SAID = {"role": "assistant", "content": "Answer 4"}
CHAT = [{"role": "system", "content": "Answer 3"}, ASKED, SAID]
ASKED_IN_PARTS = {"role": "user", "content": [{"type": "text", "text": Q}]}
SAID_IN_PARTS = {"role": "assistant", "content": [{"type": "text", "text": "Answer 4"}]}


FOUND: dict[str, tuple[dict[str, Any], str]] = {
    "Bedrock's batches": (
        {"modelInput": {"messages": [ASKED_IN_PARTS]}, "modelOutput": SAID_IN_PARTS, "recordId": "v1"},
        "modelOutput.content",
    ),
    "Vertex AI's batches": (
        {
            "request": {"contents": [{"role": "user", "parts": [{"text": Q}]}]},
            "status": "",
            "response": {"candidates": [{"content": {"parts": [{"text": "Answer 4"}]}, "finishReason": "STOP"}]},
            "processed_time": "2026-01-01",
        },
        "response.candidates.*.content.parts.-1.text",
    ),
    "Vertex AI's batches, with thoughts": (
        {"response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Answer 2?", "thought": True}, {"text": "Answer 4"}]}}]}},
        "response.candidates.*.content.parts.-1.text",
    ),
    "conversations": ({"conversations": [CHAT, CHAT]}, "conversations.*"),
    "ShareGPT's": (
        {"conversations": [{"from": "human", "value": Q}, {"from": "gpt", "value": "Answer 4"}]},
        "conversations.-1.value",
    ),
    "LangChain's messages": (
        {"state": {"messages": [{"type": "human", "content": Q}, {"type": "ai", "content": "Answer 4"}]}},
        "state.messages.-1.content",
    ),
    "a message": ({"message": SAID, "done": True}, "message.content"),
    "a text beside what was said": ({"text": Q, "result": {"choices": [{"message": SAID}]}}, "result.choices.*.message.content"),
    "a key of several words": ({"modelOutput": "Answer 4", "outputFormat": "text"}, "modelOutput"),
    "a row of some type": ({"type": "reasoning", "completion": "Answer 4"}, "completion"),
    "a choice that failed": (
        {"choices": [{"message": {"content": "Answer 4"}}, {"message": None}, {"error": "x"}]},
        "choices.*.message.content",
    ),
    "lists of lists": ({"outputs": {"generations": [[{"text": "Answer 4"}], [{"text": "Answer 4"}]]}}, "outputs.generations.*.*.text"),
    "turns": ({"turns": [{"text": "Let me see."}, {"text": "Answer 4"}]}, "turns.-1.text"),
}  # fmt: skip

NOT_FOUND: dict[str, dict[str, Any]] = {
    "arguments": {"kwargs": {"content": Q}, "args": [{"text": Q}], "params": {"text": Q}},
    "contents": {"contents": [{"parts": [{"text": Q}]}]},
    "a question": {"messages": [ASKED]},
    "a question after examples": {"messages": [ASKED, SAID, ASKED]},
    "a message of somebody unknown": {"turns": [{"role": "narrator", "content": Q}]},
    "messages of nobody": {"messages": [{"content": Q}]},
    "what a tool said": {"turns": [{"role": "tool", "content": "Answer 1"}]},
    "parts of an input": {"turns": [{"content": [{"type": "input_text", "text": Q}]}]},
    "gold": {
        "expected_output": "Answer 1",
        "reference": {"text": "Answer 1"},
        "answer": {"text": "Answer 1"},
    },
    "thoughts": {"reasoning_output": "Answer 1", "message": {"thinking": {"text": "Answer 1"}}},
    "what is said of a response": {"response_id": "r1", "response_format": "text", "output_path": "x"},
}


@pytest.mark.parametrize(("row", "path"), FOUND.values(), ids=FOUND)
def test_the_path_leads_to_what_the_model_said(row: dict[str, Any], path: str) -> None:
    assert place_of("response", row) == path
    gold = {"id": "v1", "task": "REL-A1", "answer": {"target": 3}}
    scores = relfast.score([{**row, **gold}], workers=0, map={"response": path})
    assert {score.pred for score in scores if score.error is None} == {"4"}


@pytest.mark.parametrize("row", NOT_FOUND.values(), ids=NOT_FOUND)
def test_no_path_leads_into_a_prompt(row: dict[str, Any]) -> None:
    assert place_of("response", row) is None
    assert place_of("response", {"batch": [{"line": row}], "run": row}) is None
