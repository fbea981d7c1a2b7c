"""Requests that failed, as clients, servers and tools write them: a row with a response → the row without.

Words are those of OpenAI's, Anthropic's, Gemini's, Azure's and vLLM's servers and of their clients.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any, Final

Json = dict[str, Any]

PIECES: Final = [
    "Answer", "answer", "ANSWER", "nswer", "swer", "Answer 4", "Answer #3", "Answer # \n 2", "Answer\t8", "answer 9",
    "Answer 0", "Answer 17", "Answer" + "0" * 30 + "3", "Answer\u00a05", "Answer\u202f#\u30006", "Answer\x1c7", "Answer\x0b2",
    "<Yes>", "<no>", "< YES >", "<\nNo\t>", "<\u2009yes\u00a0>", "<Yes", "<Maybe>", "<", ">",
    "yes", "no", "Yes.", "No.", "eyes", "now", "\no", "n\no", "\\no", "\\\\no", "taxon_15", "taxon 3", "taxon\n7", "TAXON_4",
    "taxon\u00a09", "taxon\u202f15", "\taxon_5", "taxon", "taxon_", "xon", "15", "4th", "_4", "4_", "3.5", "-2", "\n4",
    "\\4", "4\\", "\"4\"", "8", "0", "00", "3 3 15 15 3", " ", "  ", "\n", "\t", "\r", "\f", "\b", "\x0b", "\x1c", "\x1f", "\x85",
    "/", "\\", "\"", "é", "ſ", "４", "–", "“", "×", "→", "你", "Ω", "4é", "é4", "–4–", "4你", "②", "½", "\u00a0", "K", "İ", "ı",
    "\u2028", "\x00", "\x7f", "😀", "\u0301", "ǅ", "٣", "𝟜", "ａ4", ",", ".", "#", "<think>", "</think>", "<THINK>", "</Think>",
    "<thinking>", "</thinking>", "[think]", "[/THINK]", "◁think▷", "<|channel|>final<|message|>", "<|im_end|>", "</s>", "[EOS]",
    "analysis", "Analysis", "assistantfinal", "<｜end▁of▁sentence｜>", "[1]", "[/x]", "</", "<eos>", "<seed:think>",
    "a" * 70, "no" * 40, "1" * 5000, " ".join(map(str, range(300))), "\ud83d", "\udc00",
]  # fmt: skip
"""What extractors, reasoning's marks and JSON's escapes may stumble over."""

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
    429, 500, 503, 504, 400, 200, 201, None, "429", "500", "ok", 42.0, 1000, -1, True, "0429", " 429",
)  # fmt: skip
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


SILENT: Final[tuple[Any, ...]] = (
    {"content": None}, {"content": ""}, {"content": []}, {}, {"content": None, "reasoning_content": "Let me see. Answer 3"},
    {"content": None, "tool_calls": CALLS}, {"content": None, "refusal": REFUSED}, {"content": "", "refusal": ""},
    {"content": [{"type": "refusal", "refusal": REFUSED}]}, {"content": [{"type": "refusal", "refusal": None}]},
    {"content": [{"type": "thinking", "thinking": "Answer 2"}]}, {"content": [{"type": "text", "text": "Answer 4"}, {"type": "refusal"}]},
    {"content": [{"type": "tool_use", "name": "python", "input": {}}, {"type": "text", "text": ""}]},
)  # fmt: skip
"""Messages in which an assistant has said nothing."""

SAID: Final = frozenset({
    "response", "completion", "output", "outputs", "prediction", "body", "choices", "message", "content", "text", "candidates",
    "parts", "result", "completions", "traces", "nodes", "resps", "filtered_resps", "model_response", "error", "errors", "ok",
    "success", "type", "limit", "status_code", "finish_reason", "stop_reason", "finishReason", "refusal",
})  # fmt: skip
"""Where rows have what was said, and what became of a request; `tests/formats/test_failures.py` has each as tools
write it."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where all is in a decoded value: the container and the key or place of each."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield value, name
        yield from places(item)


def _nothing(rng: random.Random) -> Any:
    message = {"role": "assistant", **rng.choice(SILENT)}
    choice = {"index": 0, "message": message, "finish_reason": rng.choice(REASONS)}
    output = [{"type": "reasoning"}, {"type": "message", **message}]
    said = (message, [message], [choice], {"choices": [choice]}, {"output": output})
    kinds = (None, None, "", [], {}, [None], *said)
    return copy.deepcopy(
        rng.choice((*kinds, error(rng), {"error": error(rng)}, rng.choice(STATUSES), rng.choice(REASONS)))
    )


def failed(row: Json, rng: random.Random) -> Json:
    """The row of a request that failed, or of one of its samples: something that was said is nothing."""
    row = copy.deepcopy(row)
    for _ in range(rng.choice((1, 1, 2))):
        if said := [at for at in places(row) if at[1] in SAID or isinstance(at[0], list)]:
            container, name = rng.choice(said)
            container[name] = _nothing(rng)
            if isinstance(container, dict) and rng.random() < 0.2:
                del container[name]
    if rng.random() < 0.6:
        several = [rng.choice((None, error(rng))) for _ in range(rng.randrange(4))]
        row["error"] = error(rng) if rng.random() < 0.9 else several
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
