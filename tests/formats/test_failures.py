"""A record that says that its response failed has no score, in every dialect, and keeps its error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tool_rows
from engine_runs import write_dump
from mutated_corpus import ways_of

import relfast
from relfast.formats import DIALECTS, detect, read_row
from relfast.formats.failure import NoResponse

GOLD = {"target": 3}
RECORD = {"id": "a", "task": "REL-A1", "question": "Which?", "answer": GOLD}
RIGHT = "Answer 4"
PLAN = "['start: A1', 'rescue: Alice']"
MAZE = {
    "instance_id": "1_rkc0_n0.0",
    "context": "Bob is in room A1. Alice is in room A1.",
    "completion": PLAN,
    "complexity_parameters": "{'logical_depth_L': 2, 'backtracking_count_B': 0, 'noise_ratio_N': 0.0}",
}

# as `relfast run` writes it of a server that is not there
UNREACHABLE = {"type": "APIConnectionError", "message": "Connection error. (5 attempts)"}

# as vLLM's run_batch writes a request that it turns down
BAD_REQUEST = {
    "object": "error",
    "message": "This model's maximum context length is 2048 tokens.",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}

REFUSED = "I'm sorry, but I can't help with that."


def chat(content: Any, *, reason: str = "stop", refusal: str | None = None, index: int = 0) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal, "annotations": []}
    return {"index": index, "message": message, "logprobs": None, "finish_reason": reason}


def batch(*choices: dict[str, Any], status: Any = 200, error: Any = None, body: Any = ...) -> dict[str, Any]:
    """A line as OpenAI's batch API and vLLM's ``run_batch`` write it."""
    row = tool_rows.openai(RECORD, [], 0)
    body = {**row["response"]["body"], "choices": [*choices]} if body is ... else body
    return {**row, "response": {"status_code": status, "request_id": "req_1", "body": body}, "error": error}


def native(**fields: Any) -> dict[str, Any]:
    return {"id": "a", "task": "REL-A1", "answer": GOLD, **fields}


def of(tool: Callable[..., Any], changes: dict[str, Any] = {}, text: Any = RIGHT) -> dict[str, Any]:  # noqa: B006
    """A row as a tool writes it, with other values at some places."""
    row = tool(RECORD, [text], 0)
    for path, value in changes.items():
        *above, name = path.split(".")
        place = row
        for step in above:
            place = place[int(step) if step.isdigit() else step]
        place[name] = value
    return row


def samples_row(resps: Any, **fields: Any) -> dict[str, Any]:
    return of(tool_rows.lm_eval, {"resps": resps, "filtered_resps": resps, **fields})


def detail(texts: Any) -> dict[str, Any]:
    return tool_rows.lighteval(RECORD, texts, 0)


def trace(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A trace of verifiers."""
    nodes = [{"message": message, "sampled": message["role"] == "assistant"} for message in messages]
    data = {"idx": 0, "id": "a", "prompt": "Which?", "task": "REL-A1", "answer": GOLD}
    return {
        "version": 1,
        "task": {"type": "T", "data": data},
        "nodes": nodes,
        "ok": True,
        "errors": [],
        **fields,
    }


def problem(**fields: Any) -> dict[str, Any]:
    """An entry of ``relfast realign``."""
    solution = "It is \\boxed{2}."
    return {"id": "a", "question": "1 + 1?", "benchmark_solution": solution, "llm_solution": None, **fields}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "gold.jsonl", [{"id": "a", "task": "REL-A1", "answer": GOLD}])


def scored(row: dict[str, Any], gold: Path, **options: Any) -> list[relfast.Score]:
    data = () if {"custom_id", "key"}.isdisjoint(row) else gold
    return relfast.score([row], workers=0, data=data, **options)


FAILED = [
    (native(error=UNREACHABLE), tuple(UNREACHABLE.values())),
    (native(response=RIGHT, error={"code": "rate_limit", "param": 7}), ("rate_limit", '{"code":"rate_limit","param":7}')),
    (native(response=RIGHT, error=True), ("MissingResponse", "error is true")),
    (native(response=RIGHT, status_code=503), ("MissingResponse", "the server answered with status 503")),
    (native(response=[{"role": "assistant", "content": None}]), ("MissingResponse", "the message has no content")),
    (native(response=[{"role": "assistant", "content": None, "refusal": REFUSED}]), ("Refusal", REFUSED)),
    (native(response=[{"role": "user", "content": RIGHT}]), ("MissingResponse", "there is no message of the assistant")),
    (batch(body=None, status=400, error=BAD_REQUEST), ("BadRequestError", BAD_REQUEST["message"])),
    (batch(body={"error": BAD_REQUEST}, status=400), ("BadRequestError", BAD_REQUEST["message"])),
    (batch(chat(RIGHT), status=500), ("MissingResponse", "the server answered with status 500")),
    (batch(chat(None, reason="content_filter")), ("ContentFilter", "the content filter left nothing of the response")),
    (samples_row([]), ("MissingResponse", "resps holds no response")),
    (samples_row([[None]]), ("MissingResponse", "the response is null")),
    (of(tool_rows.inspect, {"output.choices": [], "output.completion": ""}), ("MissingResponse", "output.choices is empty")),
    (of(tool_rows.inspect, {"output.choices": [], "output.completion": "", "limit": {"type": "token", "limit": 9.0}}), ("MissingResponse", "output.choices is empty (limit token)")),
    (of(tool_rows.inspect, {"output.choices.0.stop_reason": "content_filter"}, ""), ("ContentFilter", "the content filter left nothing of the response")),
    (trace({"role": "assistant", "content": RIGHT}, ok=False, errors=[UNREACHABLE]), tuple(UNREACHABLE.values())),
    (trace({"role": "user", "content": RIGHT}), ("MissingResponse", "no message of the trace was sampled")),
    ({**trace(), "nodes": None, "traces": []}, ("MissingResponse", "the episode holds no trace")),
    ({**trace(), "nodes": None, "traces": [], "ok": False, "errors": [UNREACHABLE]}, tuple(UNREACHABLE.values())),
    (of(tool_rows.vllm, {"outputs.0.finish_reason": "abort", "answer": GOLD}, ""), ("MissingResponse", "no text (finish_reason abort)")),
    (of(tool_rows.vllm, {"outputs": [], "answer": GOLD}), ("MissingResponse", "outputs is empty")),
    (detail([]), ("MissingResponse", "model_response.text is empty")),
    (of(tool_rows.helm, {"result.success": False, "result.error": "overloaded", "result.completions": []}), ("MissingResponse", "overloaded")),
    (of(tool_rows.helm, {"result.completions": []}), ("MissingResponse", "result.completions is empty")),
    ({"instance_id": "id0", "predicted_text": None, "train_trial_index": 0}, ("MissingResponse", "the response is null")),
    (of(tool_rows.anthropic, {"result": {"type": "errored", "error": {"type": "error", "error": UNREACHABLE}}}), tuple(UNREACHABLE.values())),
    (of(tool_rows.anthropic, {"result": {"type": "expired", "error": None}}), ("MissingResponse", "the request has expired")),
    (of(tool_rows.anthropic, {"result.message.content": []}), ("MissingResponse", "the message has no content")),
    (of(tool_rows.gemini, {"response.candidates.0.content": {"parts": []}, "response.candidates.0.finishReason": "SAFETY", "task": "REL-A1", "answer": GOLD}), ("MissingResponse", "the candidate has no text (finishReason SAFETY)")),
    (of(tool_rows.vertex, {"status": "Bad Request: no such model", "response": {}, "answer": GOLD}), ("MissingResponse", "Bad Request: no such model")),
    (of(tool_rows.vertex, {"response": {"promptFeedback": {"blockReason": "SAFETY"}}, "answer": GOLD}), ("ContentFilter", "the prompt was blocked (blockReason SAFETY)")),
    (of(tool_rows.nemo_gym, {"response.output": None}), ("MissingResponse", "response.output is missing")),
    (of(tool_rows.nemo_gym, {"response.error": UNREACHABLE}), tuple(UNREACHABLE.values())),
    (of(tool_rows.lmms_eval, {"filtered_resps": []}), ("MissingResponse", "filtered_resps holds no response")),
    (of(tool_rows.evalscope, {"model_output.error": "429 Too Many Requests"}, ""), ("MissingResponse", "429 Too Many Requests")),
    (of(tool_rows.evalscope, {"model_output.choices": []}), ("MissingResponse", "model_output.choices is empty")),
    (of(tool_rows.matharena, {"messages": [], "answer": GOLD}), ("MissingResponse", "messages is empty")),
    (of(tool_rows.nemo_skills, {"generation": "", "error": "context_window_exceeded"}), ("MissingResponse", "context_window_exceeded")),
    (of(tool_rows.skyrl, {"output_response": None}), ("MissingResponse", "the response is null")),
    ({**MAZE, "response": None, "error": UNREACHABLE}, tuple(UNREACHABLE.values())),
    ({**MAZE, "response": None}, ("MissingResponse", "the response is null")),
    (problem(), ("MissingResponse", "the response is null")),
    (of(tool_rows.inspect, {"invalidation": {"author": "me", "reason": "wrong image", "timestamp": "2026"}}), ("MissingResponse", "invalidation: wrong image")),
]  # fmt: skip


THOUGHT = "Answer 1"
RESPONSES_OUTPUT = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]}]


def said(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", **fields}


def answered(**fields: Any) -> dict[str, Any]:
    """Anthropic's message."""
    return {
        "custom_id": "a",
        "result": {"type": "succeeded", "message": {"type": "message", **said(**fields)}},
    }


def candidate(reason: str, *parts: dict[str, Any]) -> dict[str, Any]:
    row = of(tool_rows.gemini, {"task": "REL-A1", "answer": GOLD})
    row["response"]["candidates"][0] |= {"content": {"parts": [*parts]}, "finishReason": reason}
    return row


def incomplete(reason: str, *output: dict[str, Any]) -> dict[str, Any]:
    body = {
        "object": "response",
        "status": "incomplete",
        "incomplete_details": {"reason": reason},
        "output": [*output],
    }
    return batch(body=body)


CUT_OFF = [
    native(response=None, finish_reason="length"),
    native(response="", finish_reason="MAX_TOKENS"),
    native(response=None, generation={"finish_reason": ["FinishReason.MAX_TOKENS"]}),
    native(response=[said(content=None, reasoning_content=THOUGHT)], finish_reason="length"),
    native(response=[said(content="", finish_reason="max_tokens")]),
    native(response=RESPONSES_OUTPUT, incomplete_details={"reason": "max_output_tokens"}),
    batch(chat(None, reason="length")), batch(chat("", reason="length")), batch(chat([], reason="model_length")),
    incomplete("max_output_tokens", *RESPONSES_OUTPUT), incomplete("max_output_tokens"),
    answered(content=[{"type": "thinking", "thinking": THOUGHT}], stop_reason="max_tokens"),
    candidate("MAX_TOKENS"), candidate("MAX_TOKENS", {"text": THOUGHT, "thought": True}),
    of(tool_rows.inspect, {"output.choices.0.stop_reason": "max_tokens"}, ""),
    of(tool_rows.vllm, {"outputs.0.finish_reason": "length", "answer": GOLD}, ""),
]  # fmt: skip

REFUSALS = [
    native(response=RIGHT, finish_reason="content_filter"),
    native(response=RIGHT, stop_reason="refusal"),
    native(response=[said(content=RIGHT, stop_reason="refusal")]),
    native(response=RIGHT, generation={"finish_reason": "contentFilter"}),
    *(candidate(word, {"text": RIGHT}) for word in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII")),
    batch(chat(RIGHT, reason="content_filter")), batch(chat(RIGHT, reason="sensitive")),
    incomplete("content_filter", {"type": "message", **said(content=[{"type": "output_text", "text": RIGHT}])}),
    answered(content=[{"type": "text", "text": RIGHT}], stop_reason="refusal"),
    of(tool_rows.inspect, {"output.choices.0.stop_reason": "content_filter"}),
    of(tool_rows.vllm, {"outputs.0.finish_reason": "content_filter", "answer": GOLD}),
]  # fmt: skip

ONLY_REASONING = [
    *(native(response=[{"role": "user", "content": "Which?"}, said(content=RIGHT, **kind)])
      for kind in ({"type": "cot"}, {"type": "thinking"}, {"type": "reasoning"}, {"channel": "analysis"},
                   {"channel": "commentary"}, {"phase": "commentary"}, {"thought": True})),
    native(response=[{"type": "thinking", "thinking": RIGHT}]),
    native(response=[{"type": "reasoning", "text": RIGHT}, {"type": "redacted_thinking", "data": "x"}]),
    native(response=[said(content=None, reasoning_content=RIGHT)]),
    native(response=[said(content=[{"reasoningContent": {"reasoningText": {"text": RIGHT}}}])]),
    native(response=[said(content=[{"thought": True, "text": RIGHT}])]),
    native(response=[*RESPONSES_OUTPUT, said(type="message", phase="commentary", content=RIGHT)]),
    answered(content=[{"type": "thinking", "thinking": RIGHT}], stop_reason="end_turn"),
]  # fmt: skip

BEFORE_REASONING = [
    native(response=[said(content=RIGHT), said(content=THOUGHT, type="cot")]),
    native(response=[said(content=RIGHT, channel="final"), said(content=THOUGHT, channel="analysis")]),
    native(response=[said(content=[{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": RIGHT}])]),
    native(response=[said(content=RIGHT), said(content=[{"type": "reasoning", "text": THOUGHT}])]),
    native(response=[*RESPONSES_OUTPUT, {"type": "message", **said(content=[{"type": "output_text", "text": RIGHT}])}]),
    batch(body={"output": [{"type": "message", **said(content=RIGHT)}, {"type": "message", **said(content=THOUGHT, phase="commentary")}]}),
]  # fmt: skip

NO_TEXT = ({"a": 1}, 5, 2.5, True, float("nan"), {"role": "assistant", "content": RIGHT}, [[RIGHT]], [[]])
OF_TASKS: list[dict[str, Any]] = [
    native(),
    {"id": "a", "task": "REL-B1", "question": "?", "answer": {"label": "no", "taxa": []}},
    {"id": "a", "task": "REL-C1", "answer": {"label": "Yes"}},
    {"id": "a", "task": "REL-C2", "answer": {"smiles": "CCO"}},
    {"id": "a", "task": "REL-C3", "answer": {"missing_smiles": ["CCO"]}},
    MAZE,
    problem(),
]


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("row", OF_TASKS, ids=lambda row: row.get("task", "") or detect(row))
def test_a_response_that_is_no_text_has_no_score(row: dict[str, Any], policy: Any) -> None:
    """At every door; of several samples the others have theirs."""
    field = "llm_solution" if "llm_solution" in row else "response"
    texts = {**row, field: [RIGHT, {"a": 1}, RIGHT]}
    rows = [*({**row, field: value} for value in NO_TEXT), texts]
    with relfast.Scorer(workers=0, policy=policy) as scorer:
        if row is not OF_TASKS[-1]:  # which embeds
            *alone, first, second, third = scorer.score(rows)
            assert first.to_row() | {"sample": 2} == third.to_row()
            assert (first.error or {}).get("type") != "InvalidResponse"
        else:
            *alone, second = scorer.score(rows[:-1])
        task = str(second.task)
        answer = row.get("answer", {name: row[name] for name in row if name not in (field, "id")})
        calls = [*scorer.score_batch(task, [answer] * len(NO_TEXT), NO_TEXT).rows]
        calls += [scorer.score_one(task, answer, value) for value in NO_TEXT]
    for score in [*alone, second, *calls]:
        assert (score.status, score.correct, score.reward) == ("invalid_record", None, None)
        assert score.error is not None
        assert score.error["type"] == "InvalidResponse"
        assert score.error["message"].startswith("response is a")


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_what_a_server_says_of_the_end(policy: Any, gold: Path) -> None:
    """The table of docs/rows.md."""
    empty = relfast.score([native(response="")], workers=0, policy=policy)[0]
    for row in CUT_OFF:
        (score,) = scored(row, gold, policy=policy)
        assert (score.status, score.correct, score.reward) == ("no_answer", empty.correct, empty.reward), row
        assert score.metrics == {**empty.metrics, "cut_off": True}
    for row in (*REFUSALS, *ONLY_REASONING):
        (score,) = scored(row, gold, policy=policy)
        assert (score.status, score.correct, score.reward) == ("invalid_record", None, None), row
        kinds = ("ContentFilter", "Refusal") if row in REFUSALS else ("MissingResponse",)
        assert score.error is not None
        assert score.error["type"] in kinds
        assert row in REFUSALS or score.error["message"] == "only reasoning, no answer"
    for row in BEFORE_REASONING:
        (score,) = scored(row, gold, policy=policy)
        assert (score.status, score.correct) == ("ok", True), row


def test_what_was_cut_off_is_counted(tmp_path: Path) -> None:
    rows = [
        native(response=None, finish_reason="length"),
        native(response="", finish_reason="stop"),
        native(response=RIGHT),
    ]
    summary = relfast.score_file(write_dump(tmp_path / "run.jsonl", rows), workers=0)
    assert summary.tasks["REL-A1"].to_dict()["cut_off"] == 1
    assert relfast.Summary.from_dict(summary.to_dict()).tasks["REL-A1"].counts.cut_off == 1


@pytest.mark.parametrize(("row", "error"), FAILED)
def test_it_has_no_score_and_keeps_its_error(row: dict[str, Any], error: tuple[str, str], gold: Path) -> None:
    (score,) = scored(row, gold)
    assert (score.status, score.correct, score.reward, score.metrics) == ("invalid_record", None, None, {})
    assert score.error == {"type": error[0], "message": error[1]}


def test_every_dialect_is_there() -> None:
    """So that a new one is not forgotten above."""
    rows = [*(row for row, _ in FAILED), *ANSWERED, *map(of, tool_rows.ALL)]
    assert {detect(row) for row in rows} == set(DIALECTS)


ANSWERED = [
    native(response=RIGHT, error=""),
    native(response=RIGHT, error=[]),
    batch(body={"object": "text_completion", "choices": [{"index": 0, "text": RIGHT}]}),
    batch(body={"object": "response", "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Answer 1"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": RIGHT}]},
    ]}),
    samples_row([[RIGHT]], filtered_resps=["nothing"]),
    {name: value for name, value in samples_row([RIGHT]).items() if name != "resps"},
    of(tool_rows.verl, {"error": None}),
    of(tool_rows.inspect, {"attachments": {"abc": RIGHT}}, "attachment://abc"),
    trace(root_reply=RIGHT),
    {**trace(), "nodes": None, "traces": [trace({"role": "assistant", "content": RIGHT})]},
    {"example_id": 1, "completion": [{"role": "assistant", "content": RIGHT}], "info": json.dumps({"task": "REL-A1", "answer": GOLD})},
    of(tool_rows.vllm, {"outputs.0.finish_reason": "length", "answer": GOLD}),
    of(tool_rows.trl, {"answer": json.dumps(GOLD)}, [{"role": "assistant", "content": RIGHT}]),
    detail([RIGHT]),
    of(tool_rows.helm),
    of(tool_rows.opencompass),
    of(tool_rows.anthropic, {"result.message.content": [{"type": "thinking", "thinking": "Answer 1"}, {"type": "text", "text": RIGHT}]}),
]  # fmt: skip


@pytest.mark.parametrize("row", ANSWERED)
def test_what_says_nothing_of_a_failure_is_scored(row: dict[str, Any], gold: Path) -> None:
    for dialect in ("auto", detect(row)):
        (score,) = scored(row, gold, input_format=dialect)
        assert (score.task, score.status, score.correct) == ("REL-A1", "ok", True)


@pytest.mark.parametrize(
    "row", [native(response=""), batch(chat("")), samples_row([[""]]), of(tool_rows.verl, text=""), {**MAZE, "response": ""}]
)  # fmt: skip
def test_an_empty_text_is_a_response(row: dict[str, Any], gold: Path) -> None:
    (score,) = scored(row, gold)
    assert score.status == "no_answer"
    assert score.reward is not None


def rewarded(text: str) -> dict[str, Any]:
    return trace({"role": "assistant", "content": text}, rewards={"rel": {"score": 1.0}})


ONE_OF_THREE = [
    ({**trace(), "nodes": None, "traces": [
        trace({"role": "assistant", "content": "Answer 2"}),  # of another agent
        rewarded(RIGHT), trace({"role": "user", "content": "Which?"}, ok=False, errors=[UNREACHABLE]), rewarded("Answer 1"),
    ]}, tuple(UNREACHABLE.values())),
    (native(response=[RIGHT, None, "Answer 1"], error=[None, UNREACHABLE, None]), tuple(UNREACHABLE.values())),
    (batch(chat(RIGHT), "torn", chat("Answer 1")), ("MissingResponse", "the choice is no object")),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("row", "error"), ONE_OF_THREE)
def test_one_failed_sample_does_not_discard_the_others(
    row: dict[str, Any], error: tuple[str, str], gold: Path
) -> None:
    first, failed, last = scored(row, gold)
    assert [(s.index, s.sample, s.id, s.task) for s in (first, failed, last)] == [
        (0, sample, "a", "REL-A1") for sample in range(3)
    ]
    assert (first.correct, last.correct) == (True, False)
    assert (failed.status, failed.correct, failed.reward) == ("invalid_record", None, None)
    assert failed.error == {"type": error[0], "message": error[1]}


@pytest.mark.parametrize("kind", ["plain", "strict with details", "joined", "failed, of one task"])
def test_the_fast_path_reads_them_alike(kind: str, gold: Path) -> None:
    rows = [*(row for row, _ in [*FAILED, *ONE_OF_THREE]), *ANSWERED, *CUT_OFF, *REFUSALS, *ONLY_REASONING]
    rows += [*BEFORE_REASONING, *({**row, "response": value} for row in OF_TASKS[:-1] for value in NO_TEXT)]
    lines = [
        json.dumps(row, ensure_ascii=ascii_only).encode() for row in rows for ascii_only in (True, False)
    ]
    ways_of(kind, str(gold)).same(lines)


def test_a_failure_of_the_whole_is_one_of_each_sample() -> None:
    row = native(response=[RIGHT, "Answer 1"], error=UNREACHABLE)
    assert read_row(row, "auto").samples() == [NoResponse(*UNREACHABLE.values())] * 2
    refused = [{"role": "assistant", "content": None, "refusal": REFUSED}]
    both = read_row(native(response=[None, refused], error=UNREACHABLE), "auto")
    assert both.samples() == [NoResponse(*UNREACHABLE.values()), NoResponse("Refusal", REFUSED)]


MAPPED = [
    ({"out": {"text": RIGHT, "failure": None}}, "out.text", [True]),
    ({"out": {"text": RIGHT, "failure": "timed out"}}, "out.text", [None]),
    ({"out": {"text": None}}, "out.text", [None]),
    ({"out": {"text": [RIGHT]}}, "out.text", [True]),
    ({"out": [{"t": RIGHT}, {}]}, "out.*.t", [True, None]),
    ({"out": [[{"t": RIGHT}], [{"t": "Answer 1"}, {"t": RIGHT}]]}, "out.*.*.t", [True, False, True]),
    ({"out": [[{"t": RIGHT}], [{"x": RIGHT}]]}, "out.*.*.t", [True, None]),
    ({"out": json.dumps([{"t": "Answer 1"}])}, "out.@.*.t", [False]),
    ({"out": json.dumps({"t": json.dumps([RIGHT])})}, "out.@.t.@.0", [True]),
    ({"*": {"@": RIGHT}}, "*.@", [True]),
    *(({"out": ["x"]}, path, [None]) for path in ("nowhere", "out.1", "out.x", "id.0", "out.0.0", "out.*.t")),
    ({"out": "no JSON"}, "out.@.t", [None]),
    ({"out": {"t": RIGHT}}, "out.*", [None]),
]


@pytest.mark.parametrize(("fields", "path", "correct"), MAPPED)
def test_map(fields: dict[str, Any], path: str, correct: list[bool | None]) -> None:
    field_map = {"response": path, "error": "out.failure"}
    scores = relfast.score([native(**fields)], workers=0, map=field_map)
    assert [score.correct for score in scores] == correct


def test_map_to_nothing_leaves_the_error() -> None:
    with_error = native(out={"text": RIGHT}, error="timed out")
    assert relfast.score([with_error], workers=0, map={"response": "out.text"})[0].correct is None
    score = relfast.score([native()], workers=0, map={"response": "nowhere"})[0]
    message = "field 'response' is missing; --map response=PATH says where it is"
    assert score.error == {"type": "MissingField", "message": message}


def test_map_comes_before_the_dialect(gold: Path) -> None:
    """The place that is mapped counts; what the line says of its request does too."""
    field_map = {"response": "response.body.choices.0.message.reasoning_content"}
    choice = chat("Answer 1")
    choice["message"]["reasoning_content"] = RIGHT
    assert scored(batch(choice), gold, map=field_map)[0].correct is True
    (failed,) = scored(batch(choice, status=500), gold, map=field_map)
    assert (failed.id, failed.status) == ("a", "invalid_record")
    (score,) = relfast.score([samples_row([["Answer 1"]], raw=RIGHT)], workers=0, map={"response": "raw"})
    assert score.correct is True
