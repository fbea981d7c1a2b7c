"""Paths into rows: the table of dialects is made of them, and where the response of another tool's row is said by one."""

from __future__ import annotations

from typing import Any

import pytest

import relfast
from relfast.formats.near_miss import place_of
from relfast.formats.paths import found, steps_of

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
    assert [*found(ROW, path)] == values


@pytest.mark.parametrize("path", ["a..b", "a.b!=c", "a.[b]", "#a", "a b"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="no step of a path"):
        steps_of(path)


# the path is the model's words, and never the prompt


Q = "Which of the panels completes it? Return exactly Answer 1 or Answer 2."
ASKED = {"role": "user", "content": Q}
SAID = {"role": "assistant", "content": "Answer 4"}
CHAT = [{"role": "system", "content": "Answer 3"}, ASKED, SAID]
ASKED_IN_PARTS = {"role": "user", "content": [{"type": "text", "text": Q}]}
SAID_IN_PARTS = {"role": "assistant", "content": [{"type": "text", "text": "Answer 4"}]}


def chosen(*texts: str) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}


def candidates(*texts: str) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"} for text in texts]
    }


FOUND: dict[str, tuple[dict[str, Any], str]] = {
    "Bedrock's batches": (
        {"modelInput": {"messages": [ASKED_IN_PARTS]}, "modelOutput": SAID_IN_PARTS, "recordId": "v1"},
        "modelOutput.content",
    ),
    "Vertex AI's batches": (
        {
            "request": {"contents": [{"role": "user", "parts": [{"text": Q}]}]},
            "status": "",
            "response": candidates("Answer 4"),
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
    "a text beside what was said": ({"text": Q, "result": chosen("Answer 4")}, "result.choices.*.message.content"),
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
