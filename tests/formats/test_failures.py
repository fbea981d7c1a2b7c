"""A record that says that its response failed has no score, in every dialect, and keeps its error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tool_rows

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


def samples_row(resps: Any, **fields: Any) -> dict[str, Any]:
    return {**tool_rows.lm_eval(RECORD, [], 0), "resps": resps, "filtered_resps": resps, **fields}


def rollout(**fields: Any) -> dict[str, Any]:
    return {**tool_rows.verl(RECORD, [RIGHT], 3), **fields}


def epoch(text: Any = RIGHT, *, reason: str = "stop", choices: Any = ..., **fields: Any) -> dict[str, Any]:
    """A sample of Inspect's log."""
    row = tool_rows.inspect(RECORD, [text], 0)
    row["output"]["choices"][0]["stop_reason"] = reason
    row["output"] |= {"completion": text or ""} | ({} if choices is ... else {"choices": choices})
    return {**row, **fields}


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


def request(*texts: Any, reason: str = "stop") -> dict[str, Any]:
    """vLLM's ``RequestOutput``, with gold."""
    outputs = [{"index": n, "text": text, "finish_reason": reason} for n, text in enumerate(texts)]
    return {**tool_rows.vllm(RECORD, [], 0), "outputs": outputs, "answer": GOLD}


def completion(value: Any) -> dict[str, Any]:
    """A row of TRL's log, with gold."""
    return {**tool_rows.trl(RECORD, [value], 0), "answer": json.dumps(GOLD)}


def detail(texts: Any) -> dict[str, Any]:
    return tool_rows.lighteval(RECORD, texts, 0)


def state(*texts: Any, **result: Any) -> dict[str, Any]:
    """A request of HELM's scenario state."""
    row = tool_rows.helm(RECORD, [*texts], 0)
    return {**row, "result": {**row["result"], **result}}


def prediction(value: Any) -> dict[str, Any]:
    return tool_rows.opencompass(RECORD, [value], 0)


def result(*blocks: dict[str, Any], kind: str = "succeeded", **fields: Any) -> dict[str, Any]:
    """A line of Anthropic's batches."""
    row = tool_rows.anthropic(RECORD, [RIGHT], 0)
    row["result"]["message"]["content"] = [*blocks]
    return {**row, "result": {"type": kind, **(fields or {"message": row["result"]["message"]})}}


def generated(reason: str) -> dict[str, Any]:
    """A line of Gemini's batch mode without a text, with gold."""
    row = tool_rows.gemini(RECORD, [RIGHT], 0)
    row["response"]["candidates"][0] |= {"content": {"parts": [], "role": "model"}, "finishReason": reason}
    return {**row, "task": "REL-A1", "answer": GOLD}


def problem(**fields: Any) -> dict[str, Any]:
    """An entry of ``relfast realign``."""
    return {
        "id": "a",
        "question": "1 + 1?",
        "benchmark_solution": "It is \\boxed{2}.",
        "llm_solution": None,
        **fields,
    }


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "a", "task": "REL-A1", "answer": GOLD}) + "\n", "utf-8")
    return path


def scored(row: dict[str, Any], gold: Path, **options: Any) -> list[relfast.Score]:
    data = gold if "custom_id" in row else ()
    return relfast.score([row], workers=0, data=data, **options)


FAILED = [
    (native(response=None, error=UNREACHABLE), tuple(UNREACHABLE.values())),
    (native(error=UNREACHABLE), tuple(UNREACHABLE.values())),
    (native(response=None, error="timed out"), ("MissingResponse", "timed out")),
    (native(response=RIGHT, error="cut off"), ("MissingResponse", "cut off")),
    (native(response="", error={"message": "cut off"}), ("MissingResponse", "cut off")),
    (native(response=RIGHT, error={"code": "rate_limit", "param": 7}), ("rate_limit", '{"code":"rate_limit","param":7}')),
    (native(response=RIGHT, error=True), ("MissingResponse", "error is true")),
    (native(response=RIGHT, status_code=503), ("MissingResponse", "the server answered with status 503")),
    (native(response=RIGHT, status_code="429"), ("MissingResponse", "the server answered with status 429")),
    (native(response=None), ("MissingResponse", "the response is null")),
    (native(response=[{"role": "assistant", "content": None}]), ("MissingResponse", "the message has no content")),
    (native(response=[{"role": "assistant", "content": []}]), ("MissingResponse", "the message has no content")),
    (native(response=[{"role": "assistant", "content": None, "refusal": REFUSED}]), ("Refusal", REFUSED)),
    (native(response=[{"role": "assistant", "content": [{"type": "refusal", "refusal": REFUSED}]}]), ("Refusal", REFUSED)),
    (native(response=[{"role": "user", "content": RIGHT}]), ("MissingResponse", "there is no message of the assistant")),
    (native(response={"error": UNREACHABLE}), tuple(UNREACHABLE.values())),
    # without a task and without gold, it is still the request that failed
    ({"id": "a", "response": None, "error": UNREACHABLE}, tuple(UNREACHABLE.values())),
    (batch(body=None, status=400, error=BAD_REQUEST), ("BadRequestError", BAD_REQUEST["message"])),
    (batch(body=None, status=400, error={"error": BAD_REQUEST}), ("BadRequestError", BAD_REQUEST["message"])),
    (batch(body={"error": BAD_REQUEST}, status=400), ("BadRequestError", BAD_REQUEST["message"])),
    (batch(chat(RIGHT), error={"code": "batch_expired", "message": "It expired."}), ("batch_expired", "It expired.")),
    (batch(chat(RIGHT), status=500), ("MissingResponse", "the server answered with status 500")),
    (batch(chat(None)), ("MissingResponse", "the message has no content (finish_reason stop)")),
    (batch(chat(None, refusal=REFUSED)), ("Refusal", REFUSED)),
    (batch(chat("", reason="content_filter")), ("ContentFilter", "the content filter left nothing of the response")),
    (batch(chat(None, reason="content_filter")), ("ContentFilter", "the content filter left nothing of the response")),
    (batch({"index": 0, "text": None, "finish_reason": "abort"}), ("MissingResponse", "the message has no content (finish_reason abort)")),
    (batch(body={"object": "response", "status": "incomplete", "error": None, "output": [{"type": "reasoning", "summary": []}],
                 "incomplete_details": {"reason": "max_output_tokens"}}),
     ("MissingResponse", "the message has no content (finish_reason max_output_tokens)")),
    (batch(body={"object": "response", "output": [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": REFUSED}]}]}),
     ("Refusal", REFUSED)),
    ({"custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "It expired."}}, ("batch_expired", "It expired.")),
    (samples_row([]), ("MissingResponse", "resps holds no response")),
    (samples_row([[]]), ("MissingResponse", "resps holds no response")),
    (samples_row([[None]]), ("MissingResponse", "the response is null")),
    (samples_row([[RIGHT]], error="OOM"), ("MissingResponse", "OOM")),
    (rollout(output=None), ("MissingResponse", "the response is null")),
    (rollout(error="aborted"), ("MissingResponse", "aborted")),
    (epoch(error={"message": "overloaded", "traceback": "…"}), ("MissingResponse", "overloaded")),
    (epoch(None, choices=[]), ("MissingResponse", "output.choices is empty")),
    (epoch(None, choices=[], limit={"type": "token", "limit": 9.0}), ("MissingResponse", "output.choices is empty (limit token)")),
    (epoch("", reason="content_filter"), ("ContentFilter", "the content filter left nothing of the response")),
    (trace({"role": "assistant", "content": RIGHT}, ok=False, errors=[UNREACHABLE]), tuple(UNREACHABLE.values())),
    (trace({"role": "user", "content": RIGHT}), ("MissingResponse", "no message of the trace was sampled")),
    ({**trace(), "nodes": None, "traces": []}, ("MissingResponse", "the episode holds no trace")),
    ({**trace(), "nodes": None, "traces": [], "ok": False, "errors": [UNREACHABLE]}, tuple(UNREACHABLE.values())),
    ({"example_id": "a", "completion": None, "prompt": "?", "task": "REL-A1", "answer": json.dumps(GOLD)}, ("MissingResponse", "the response is null")),
    (request("", reason="abort"), ("MissingResponse", "no text (finish_reason abort)")),
    (request(), ("MissingResponse", "outputs is empty")),
    (completion(None), ("MissingResponse", "the response is null")),
    (detail([]), ("MissingResponse", "model_response.text is empty")),
    (state(success=False, error="overloaded"), ("MissingResponse", "overloaded")),
    (state(), ("MissingResponse", "result.completions is empty")),
    ({"instance_id": "id0", "predicted_text": None, "train_trial_index": 0}, ("MissingResponse", "the response is null")),
    (prediction(None), ("MissingResponse", "the response is null")),
    (result(kind="errored", error={"type": "error", "error": UNREACHABLE}), tuple(UNREACHABLE.values())),
    (result(kind="expired", error=None), ("MissingResponse", "the request has expired")),
    (result(), ("MissingResponse", "the message has no content")),
    (generated("SAFETY"), ("MissingResponse", "the candidate has no text (finishReason SAFETY)")),
    ({**MAZE, "response": None, "error": UNREACHABLE}, tuple(UNREACHABLE.values())),
    ({**MAZE, "response": PLAN, "error": UNREACHABLE}, tuple(UNREACHABLE.values())),
    ({**MAZE, "response": None}, ("MissingResponse", "the response is null")),
    (problem(error=UNREACHABLE), tuple(UNREACHABLE.values())),
    (problem(), ("MissingResponse", "the response is null")),
]  # fmt: skip


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize(("row", "error"), FAILED)
def test_it_has_no_score_and_keeps_its_error(
    row: dict[str, Any], error: tuple[str, str], policy: str, gold: Path
) -> None:
    (score,) = scored(row, gold, policy=policy)
    assert (score.status, score.correct, score.reward, score.metrics) == ("invalid_record", None, None, {})
    assert score.error == {"type": error[0], "message": error[1]}


def test_every_dialect_is_there() -> None:
    """So that a new one is not forgotten above."""
    assert {detect(row) for row, _ in FAILED} == set(DIALECTS)


ANSWERED = [
    native(response=RIGHT, error=None),
    native(response=RIGHT, error=""),
    native(response=RIGHT, error={}),
    native(response=RIGHT, error={"type": None, "message": None}),
    native(response=RIGHT, error=[]),
    native(response=RIGHT, error=float("nan")),
    native(response=RIGHT, error=False, status_code=200),
    native(response=RIGHT, status_code=None),
    native(response=[{"role": "assistant", "content": RIGHT, "refusal": None}]),
    batch(chat(RIGHT)),
    batch(body={"object": "text_completion", "choices": [{"index": 0, "text": RIGHT}]}),
    batch(body={"object": "response", "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Answer 1"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": RIGHT}]},
    ]}),
    batch(chat(RIGHT, reason="content_filter")),
    batch(chat(RIGHT, reason="length"), status=None),
    batch(chat(RIGHT), status=201, error={}),
    samples_row([[RIGHT]]),
    samples_row([[RIGHT]], filtered_resps=["nothing"]),
    {name: value for name, value in samples_row([RIGHT]).items() if name != "resps"},
    rollout(error=None),
    rollout(gts=GOLD),
    epoch(error=None),
    epoch(RIGHT, limit={"type": "token", "limit": 9.0}),
    epoch("attachment://abc", attachments={"abc": RIGHT}),
    trace({"role": "user", "content": "Which?"}, {"role": "assistant", "content": RIGHT}),
    trace(root_reply=RIGHT),
    trace({"role": "assistant", "content": RIGHT}, stop_condition="max_turns"),
    {**trace(), "nodes": None, "traces": [trace({"role": "assistant", "content": RIGHT})]},
    {"example_id": 1, "completion": [{"role": "assistant", "content": RIGHT}], "info": json.dumps({"task": "REL-A1", "answer": GOLD})},
    request(RIGHT, reason="length"),
    completion([{"role": "assistant", "content": RIGHT}]),
    completion(RIGHT),
    detail([RIGHT]),
    state(RIGHT),
    prediction(RIGHT),
    {"custom_id": "a", "response": {"id": "x", "choices": [chat(RIGHT)]}, "error": None},
    result({"type": "thinking", "thinking": "Answer 1"}, {"type": "text", "text": RIGHT}),
]  # fmt: skip


@pytest.mark.parametrize("row", ANSWERED)
def test_what_says_nothing_of_a_failure_is_scored(row: dict[str, Any], gold: Path) -> None:
    for dialect in ("auto", detect(row)):
        (score,) = scored(row, gold, input_format=dialect)
        assert (score.task, score.status, score.correct) == ("REL-A1", "ok", True)


@pytest.mark.parametrize(
    "row", [native(response=""), batch(chat("")), samples_row([[""]]), rollout(output=""), {**MAZE, "response": ""}]
)  # fmt: skip
def test_an_empty_text_is_a_response(row: dict[str, Any], gold: Path) -> None:
    (score,) = scored(row, gold)
    assert score.status == "no_answer"
    assert score.reward is not None


ONE_OF_THREE = [
    (native(response=[RIGHT, None, "Answer 1"], error=[None, UNREACHABLE, None]), tuple(UNREACHABLE.values())),
    (native(response=[RIGHT, None, "Answer 1"], error=UNREACHABLE), tuple(UNREACHABLE.values())),
    (native(response=[RIGHT, None, "Answer 1"]), ("MissingResponse", "the response is null")),
    (native(response=[RIGHT, {"error": UNREACHABLE}, "Answer 1"]), tuple(UNREACHABLE.values())),
    (native(response=[[{"role": "assistant", "content": text}] for text in (RIGHT, None, "Answer 1")]),
     ("MissingResponse", "the message has no content")),
    (batch(chat(RIGHT), chat(None, refusal=REFUSED), chat("Answer 1")), ("Refusal", REFUSED)),
    (batch(chat(RIGHT), "torn", chat("Answer 1")), ("MissingResponse", "the choice is no object")),  # type: ignore[arg-type]
    (samples_row([[RIGHT, None, "Answer 1"]]), ("MissingResponse", "the response is null")),
    (samples_row([[RIGHT], [None], ["Answer 1"]]), ("MissingResponse", "the response is null")),
    (detail([RIGHT, None, "Answer 1"]), ("MissingResponse", "the response is null")),
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


def test_a_failure_of_the_whole_is_one_of_each_sample() -> None:
    row = native(response=[RIGHT, "Answer 1"], error=UNREACHABLE)
    assert read_row(row, "auto").samples() == [NoResponse(*UNREACHABLE.values())] * 2
    both = native(
        response=[None, [{"role": "assistant", "content": None, "refusal": REFUSED}]], error=UNREACHABLE
    )
    assert read_row(both, "auto").samples() == [
        NoResponse(*UNREACHABLE.values()),
        NoResponse("Refusal", REFUSED),
    ]


MAPPED = [
    ({"out": {"text": RIGHT, "failure": None}}, True),
    ({"out": {"text": RIGHT, "failure": "timed out"}}, None),
    ({"out": {"text": None}}, None),
    ({"out": {"text": [RIGHT]}}, True),
    ({"out": {"text": RIGHT}, "error": "timed out"}, None),
]


@pytest.mark.parametrize(("fields", "correct"), MAPPED)
def test_map(fields: dict[str, Any], correct: bool | None) -> None:
    field_map = {"response": "out.text", "error": "out.failure"}
    if "error" in fields:
        del field_map["error"]
    (score,) = relfast.score([native(**fields)], workers=0, map=field_map)
    assert score.correct is correct


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


def test_no_mean_counts_them(tmp_path: Path) -> None:
    rows = [native(response=RIGHT), native(response=None, error=UNREACHABLE), native(response=[RIGHT, None])]
    rows = [{**row, "id": f"r{n}"} for n, row in enumerate(rows)]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    task = relfast.score_file(path, workers=0).tasks["REL-A1"].to_dict()
    assert (task["records"], task["prompts"], task["correct"], task["reward"], task["parsed"]) == (
        4,
        2,
        1.0,
        1.0,
        1.0,
    )
    assert (task["statuses"]["ok"], task["statuses"]["invalid_record"]) == (2, 2)
