"""Where the response of another tool's row is: the path is the model's words, and never the prompt."""

from __future__ import annotations

from typing import Any

import pytest

import relfast
from relfast.formats.near_miss import place_of
from relfast.formats.paths import follow
from relfast.formats.said_places import words_of

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
    "Bedrock's batches, of Converse": (
        {
            "modelInput": {"messages": [{"role": "user", "content": [{"text": Q}]}]},
            "modelOutput": {
                "output": {
                    "message": {
                        "role": "assistant",
                        "content": [
                            {"reasoningContent": {"reasoningText": {"text": "Answer 2?"}}},
                            {"text": "Answer 4"},
                        ],
                    }
                }
            },
        },
        "modelOutput.output.message.content.-1.text",
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
    "pipelines of Hugging Face": (
        {"response": [{"generated_text": [ASKED, SAID]}]},
        "response.*.generated_text",
    ),
    "a role of Gemini's": (
        {"conversation": [ASKED, {"role": "model", "content": "Answer 4"}]},
        "conversation.-1.content",
    ),
    "a role of Gemini's, in parts": (
        {"response": [{"role": "user", "parts": [{"text": Q}]}, {"role": "model", "parts": [{"text": "Answer 4"}]}]},
        "response.-1.parts.-1.text",
    ),
    "LiteLLM's callbacks": (
        {"kwargs": {"messages": [ASKED]}, "result": chosen("Answer 4")},
        "result.choices.*.message.content",
    ),
    "parameters beside a completion": (
        {"params": {"messages": [ASKED]}, "completion": chosen("Answer 4")},
        "completion.choices.*.message.content",
    ),
    "a chat": ({"messages": CHAT}, "messages"),
    "a chat beside the request": ({"request": {"messages": [ASKED]}, "run": {"turns": CHAT}}, "run.turns"),
    "conversations": ({"conversations": [CHAT, CHAT]}, "conversations.*"),
    "conversations in objects": ({"runs": [{"chat": CHAT}, {"chat": CHAT}]}, "runs.*.chat"),
    "ShareGPT's": (
        {"conversations": [{"from": "human", "value": Q}, {"from": "gpt", "value": "Answer 4"}]},
        "conversations.-1.value",
    ),
    "LangChain's messages": (
        {"state": {"messages": [{"type": "human", "content": Q}, {"type": "ai", "content": "Answer 4"}]}},
        "state.messages.-1.content",
    ),
    "a message": ({"message": SAID, "done": True}, "message.content"),
    "a row that is a message": (SAID, "content"),
    "a text beside what was said": ({"text": Q, "result": chosen("Answer 4")}, "result.choices.*.message.content"),
    "a key of several words": ({"modelOutput": "Answer 4", "outputFormat": "text"}, "modelOutput"),
    "the same name further in": ({"response": {"response": "Answer 4", "done": True}}, "response.response"),
    "a row of some type": ({"type": "reasoning", "completion": "Answer 4"}, "completion"),
    "deep": ({"a": {"b": {"c": {"d": {"e": {"f": {"text": "Answer 4"}}}}}}}, "a.b.c.d.e.f.text"),
    "gold beside": ({"expected_output": "Answer 1", "run": {"output": "Answer 4"}}, "run.output"),
    # samples
    "choices": ({"response": chosen("Answer 4", "Answer 4")}, "response.choices.*.message.content"),
    "a choice that failed": (
        {"choices": [{"message": {"content": "Answer 4"}}, {"message": None}, {"error": "x"}]},
        "choices.*.message.content",
    ),
    "candidates": ({"response": candidates("Answer 4", "Answer 4")}, "response.candidates.*.content.parts.-1.text"),
    "lists of lists": ({"outputs": {"generations": [[{"text": "Answer 4"}], [{"text": "Answer 4"}]]}}, "outputs.generations.*.*.text"),
    # one after the other
    "turns": ({"turns": [{"text": "Let me see."}, {"text": "Answer 4"}]}, "turns.-1.text"),
    "steps of an agent": ({"run": [{"action": "look"}, {"output": "Answer 4"}]}, "run.-1.output"),
    "kinds of items": (
        {"result": [{"kind": 1, "type": "reasoning", "text": "Answer 2?"}, {"type": "final", "text": "Answer 4"}]},
        "result.-1.text",
    ),
}  # fmt: skip

NOT_FOUND: dict[str, dict[str, Any]] = {
    "a request": {"request": {"contents": [{"role": "user", "parts": [{"text": Q}]}]}},
    "an input in camel case": {"modelInput": {"text": Q, "messages": CHAT}},
    "arguments": {"kwargs": {"content": Q}, "args": [{"text": Q}], "params": {"text": Q}},
    "contents": {"contents": [{"parts": [{"text": Q}]}]},
    "a question": {"messages": [ASKED]},
    "a question in parts": {"turns": [ASKED_IN_PARTS]},
    "a question in a batch of conversations": {"conversations": [[ASKED], [ASKED]]},
    "a question after examples": {"messages": [ASKED, SAID, ASKED]},
    "a question after examples, in ShareGPT's words": {
        "conversations": [{"from": "gpt", "value": "Answer 1"}, {"from": "human", "value": Q}]
    },
    "a message of somebody unknown": {"turns": [{"role": "narrator", "content": Q}]},
    "messages of nobody": {"messages": [{"content": Q}]},
    "a row that is a question": dict(ASKED),
    "what the developer said": {"steps": [{"role": "developer", "content": [{"type": "text", "text": Q}]}]},
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


def test_a_chat_that_ends_with_a_call_is_one_as_a_whole() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{}]}
    assert place_of("response", {"messages": [*CHAT, {"role": "tool", "content": "x"}, call]}) == "messages"


def test_all_samples_are_scored() -> None:
    row = {"response": chosen("Answer 2", "Answer 3", "Answer 4"), "answer": {"target": 3}, "task": "REL-A1"}
    path = place_of("response", row)
    assert path is not None
    assert follow(row, path) == ["Answer 2", "Answer 3", "Answer 4"]
    assert [score.correct for score in relfast.score([row], workers=0, map={"response": path})] == [
        *(False, False, True)
    ]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("modelInput", ["model", "input"]),
        ("model_inputs", ["model", "input"]),
        ("LLMOutput2", ["llm", "output"]),
        ("raw-completion", ["raw", "completion"]),
        ("contents", ["contents"]),
        ("", []),
    ],
)
def test_words_of_keys(key: str, words: list[str]) -> None:
    assert list(words_of(key)) == words
