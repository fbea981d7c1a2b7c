"""Requests that failed, as clients, servers and tools write them: a row with a response → the row without.

Words are those of OpenAI's, Anthropic's, Gemini's, Azure's and vLLM's servers and of their clients.
"""

from __future__ import annotations

import copy
import random
from typing import Any, Final

from pieces import PIECES

Json = dict[str, Any]

RATE_LIMIT: Final = (
    "Rate limit reached for a-model in organization org-7f3k on tokens per min (TPM): Limit 30000, Used 29312, "
    "Requested 1423. Please try again in 1.47s."
)
TOO_LONG: Final = (
    "This model's maximum context length is 8192 tokens. However, you requested 9310 tokens (7262 in the messages, "
    "2048 in the completion). Please reduce the length of the messages or completion."
)
FILTERED: Final = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify "
    "your prompt and retry.\n\nTo learn more: https://go.microsoft.com/fwlink/?linkid=2198766"
)
REFUSED: Final = "I’m sorry, but I can’t help with that."

ERRORS: Final[tuple[Any, ...]] = (
    {"type": "RateLimitError", "message": f"Error code: 429 - {{'error': {{'message': '{RATE_LIMIT}'}}}}"},
    {"type": "APITimeoutError", "message": "Request timed out. (5 attempts)"},
    {"type": "APIConnectionError", "message": "Connection error."},
    {"message": RATE_LIMIT, "type": "tokens", "param": None, "code": "rate_limit_exceeded"},
    {
        "message": TOO_LONG,
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    },
    {"message": FILTERED, "type": None, "param": "prompt", "code": "content_filter", "status": 400},
    {"object": "error", "message": TOO_LONG, "type": "BadRequestError", "param": None, "code": 400},
    {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": "req_011",
    },
    {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"},
    {
        "code": "batch_expired",
        "message": "This request could not be executed before the completion window expired.",
    },
    f"litellm.RateLimitError: RateLimitError: OpenAIException - {RATE_LIMIT}",
    'Traceback (most recent call last):\n  File "run.py", line 7, in ask\n    raise Timeout\nTimeoutError: \t',
    "ReadTimeout(\"HTTPSConnectionPool(host='api', port=443): Read timed out. (read timeout=600)\")",
)
"""What requests fail with, as texts and objects."""

ODD: Final[tuple[Any, ...]] = (
    None, "", " ", False, True, 0, 1, 429, [], {}, {"type": None, "message": None}, {"message": ""}, {"error": "inner"},
    {"error": {"error": {"code": "x", "message": "é\u2028\u00a0 \x1f\x00\b\"\\ /"}}}, {"type": "", "code": "c", "message": "m" * 600},
    {"message": {"a": [1, "é", None]}}, {"message": ["a", {"b": "\n"}]}, {"message": 7}, {"code": 7, "param": "p"}, {"type": 3, "message": "\ud83d\ude00" * 501},
    {"error": {"type": None}}, {"error": False, "code": "q\"\\\n"}, {"message": False, "error": ""}, "x " * 251, "é" * 499 + "  z", "\u3000\u2003", "\x7f\x85",
    [None, "later"], [{"message": "one"}, "two"], ["", None], {"message": "a", "type": "T\u00e9\n"}, {"message": "1e5", "n": 1.5}, "<think>no", "\\u0041",
)  # fmt: skip
"""What else can stand there."""

STATUSES: Final = (
    429,
    500,
    503,
    504,
    400,
    200,
    201,
    None,
    "429",
    "500",
    "ok",
    42.0,
    1000,
    -1,
    True,
    "0429",
    " 429",
)
REASONS: Final = ("stop", "length", "content_filter", "tool_calls", None, "", "abort", "error", 'é"\n', 3)
CALLS: Final = [
    {"id": "call_1", "type": "function", "function": {"name": "python", "arguments": '{"code": "1+1"}'}}
]


def error(rng: random.Random, odd: float = 0.3) -> Any:
    """An error of some sort."""
    found = copy.deepcopy(rng.choice(ODD if rng.random() < odd else ERRORS))
    if isinstance(found, dict) and isinstance(found.get("message"), str) and rng.random() < odd:
        found["message"] += "".join(rng.choices(PIECES, k=3))
    return found


def _message(rng: random.Random) -> Json:
    """What an assistant has not said."""
    return {
        "role": "assistant",
        **rng.choice(
            (
                {"content": None},
                {"content": None, "reasoning_content": "Let me see. Answer 3"},
                {"content": "", "reasoning": "Let me see."},
                {"content": None, "tool_calls": CALLS},
                {"content": None, "refusal": REFUSED},
                {"content": "", "refusal": ""},
                {"content": []},
                {},
                {"content": [{"type": "refusal", "refusal": rng.choice((REFUSED, None, ""))}]},
                {"content": [{"type": "thinking", "thinking": "Answer 2"}]},
                {
                    "content": [
                        {"type": "tool_use", "name": "python", "input": {}},
                        {"type": "text", "text": ""},
                    ]
                },
                {"content": [{"type": "text", "text": "Answer 4"}, {"type": "refusal"}]},
            )
        ),
    }


def _openai(row: Json, rng: random.Random) -> None:
    body = row["response"].get("body", row["response"])
    sort = rng.randrange(7)
    if sort == 0:
        row["response"], row["error"] = None, error(rng)
    elif sort == 1:
        row["response"] = {
            "status_code": rng.choice(STATUSES),
            "request_id": "r",
            "body": {"error": error(rng)},
        }
    elif sort == 2:
        row["response"]["status_code"] = rng.choice(STATUSES)
    elif sort == 3:
        body["choices"] = rng.choice(([], None, [None], [{"finish_reason": rng.choice(REASONS)}]))
    elif sort == 4:
        output = [{"type": "reasoning"}, {"type": "message", **_message(rng)}][: rng.randrange(3)]
        details = {"incomplete_details": rng.choice((None, {"reason": rng.choice(REASONS)}))}
        row["response"]["body"] = {"object": "response", "output": output, "error": None, **details}
    else:
        choice = {"index": 0, "message": _message(rng), "finish_reason": rng.choice(REASONS)}
        if rng.random() < 0.3:
            choice = {"text": rng.choice((None, "")), "finish_reason": rng.choice(REASONS)}
        body["choices"] = [*body.get("choices", ())[1:], choice]


def _listed(said: Any, nothing: Any, rng: random.Random) -> Any:
    """A response, or one of several, that is not there."""
    if not isinstance(said, list) or not said or rng.random() < 0.5:
        return nothing
    said = list(said)
    said[rng.randrange(len(said))] = nothing
    return said


def failed(row: Json, rng: random.Random) -> Json:
    """The row of a request that failed, or of one of its samples."""
    row = copy.deepcopy(row)
    if isinstance(row.get("response"), dict) and "custom_id" in row:
        _openai(row, rng)
    elif isinstance(row.get("response"), dict) and "candidates" in row["response"]:
        candidate = row["response"]["candidates"][-1]
        candidate["finishReason"] = rng.choice(("MAX_TOKENS", "SAFETY", None, "é"))
        candidate["content"] = rng.choice(
            ({}, None, {"role": "model"}, {"parts": []}, {"parts": [{"thought": True, "text": "Answer 3"}]},
             {"parts": [{"thought": True, "text": "Hm."}, {"text": "Answer 4", "thoughtSignature": "x"}]},
             {"parts": [{"functionCall": {"name": "f"}}]}, {"parts": [{"text": ""}, {"text": "a"}]})
        )  # fmt: skip
        if rng.random() < 0.1:
            row["response"]["candidates"] = []
        elif rng.random() < 0.2:
            del row["response"]
    elif "result" in row and "custom_id" in row:
        row["result"] = rng.choice(
            ({"type": "errored", "error": error(rng)}, {"type": "errored", "error": ERRORS[7]}, {"type": "expired"},
             {"type": "canceled", "error": None}, {"type": "succeeded", "message": _message(rng)}, {"type": "é\n"}, {})
        )  # fmt: skip
    elif "result" in row:
        row["result"].update(
            rng.choice(
                (
                    {"success": False, "error": rng.choice((None, "", TOO_LONG, "a\n b", 3))},
                    {"completions": []},
                )
            )
        )
    elif "epoch" in row:
        row["output"] = rng.choice(
            ({"choices": []}, {"choices": [], "error": error(rng)}, row["output"],
             {"choices": [{"message": _message(rng), "stop_reason": rng.choice(REASONS)}], "completion": ""})
        )  # fmt: skip
        row["limit"] = rng.choice((None, {"type": "token", "limit": 9.0}, {"type": "time"}, {}))
        if rng.random() < 0.5:
            row["error"] = {"message": TOO_LONG, "traceback": "Traceback …\n", "traceback_ansi": "\x1b[31m"}
    elif "traces" in row:
        trace = rng.choice(row["traces"])
        trace.update(
            rng.choice(({"ok": False, "errors": [error(rng)]}, {"ok": False}, {"nodes": []}, {"nodes": None}))
        )
        if rng.random() < 0.2:
            row.update(traces=[], ok=False, errors=[error(rng)][: rng.randrange(2)])
    elif "outputs" in row:
        output = rng.choice(row["outputs"])
        output.update(text=rng.choice(("", "", None)), finish_reason=rng.choice(REASONS))
        if rng.random() < 0.1:
            row["outputs"] = []
    elif "model_response" in row:
        row["model_response"]["text"] = rng.choice(([], None, "", [None], [""]))
    elif "resps" in row:
        row["resps"] = rng.choice(([[None]], [], [[]], [[""]], [["Answer 4", None]], None))
        row["filtered_resps"] = rng.choice(([None], [], row["filtered_resps"]))
    else:
        for name in ("response", "completion", "output", "prediction"):
            if name in row:
                row[name] = _listed(row[name], rng.choice((None, None, "", [_message(rng)])), rng)
                if rng.random() < 0.2:
                    del row[name]
                elif rng.random() < 0.2:
                    row[name] = {"error": error(rng)}
                break
    if rng.random() < 0.6:
        n = rng.randrange(4)
        row["error"] = (
            error(rng) if rng.random() < 0.9 else [rng.choice((None, error(rng))) for _ in range(n)]
        )
    if rng.random() < 0.15:
        row["status_code"] = rng.choice(STATUSES)
    for name in ("answer", "task"):
        if name in row and rng.random() < 0.1:
            row[name] = rng.choice((None, "x", {"label": "Yes"}, "REL-C3", "realign", "SeqBench"))
            if rng.random() < 0.5:
                del row[name]
    return row


def of_client(row: Json, rng: random.Random) -> Json:
    """A record whose request failed, as a client that goes on writes it: limits, timeouts, filters, contexts too
    long; of several samples one or all."""
    error = dict(rng.choice([each for each in ERRORS if isinstance(each, dict) and "message" in each]))
    if isinstance(row["response"], list) and rng.random() < 0.5:
        responses = list(row["response"])
        responses[rng.randrange(len(responses))] = None
        return {**row, "response": responses, "error": error}
    return {**row, "response": None, "error": rng.choice((error, f"{error['message']} (5 attempts)"))}


def of_batch(row: Json, rng: random.Random) -> Json:
    """A row of OpenAI's batch output whose request failed, ran out of tokens while it thought, was filtered,
    refused, or called a tool."""
    status, error = rng.choice(((429, ERRORS[3]), (400, ERRORS[4]), (400, ERRORS[5]), (500, ERRORS[9])))
    if rng.random() < 0.5:
        body = {"error": error}
        return {**row, "response": {**row["response"], "status_code": status, "body": body}, "error": None}
    if rng.random() < 0.3:
        return {**row, "response": None, "error": error}
    content, refusal, calls, reason = rng.choice(
        (("", None, None, "length"), (None, None, CALLS, "tool_calls"), (None, REFUSED, None, "stop"),
         (None, None, None, "content_filter"))
    )  # fmt: skip
    message = {"role": "assistant", "content": content, "refusal": refusal, "tool_calls": calls}
    body = {**row["response"]["body"], "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    return {**row, "response": {**row["response"], "body": body}}
