"""Output of the batch runners of OpenAI, vLLM and Fireworks: ``custom_id`` and ``response``, or its ``body``.

https://platform.openai.com/docs/guides/batch. The body is that of a chat completion, a completion or a
response (``/v1/responses``). Gold comes from ``--data``, joined on ``custom_id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, NO_CONTENT, Entry, said_in
from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error, from_status


def matches(row: Mapping[str, Any]) -> bool:
    response = row.get("response")
    # a text here is a record's response, which somebody asked for by a custom_id
    return "custom_id" in row and (
        isinstance(response, Mapping) or (response is None and ("response" in row or "error" in row))
    )


def read(row: Mapping[str, Any]) -> Entry:
    response = row.get("response")
    response = response if isinstance(response, Mapping) else {}
    body = response.get("body", response)
    body = body if isinstance(body, Mapping) else {}
    return Entry(
        id=row.get("custom_id", MISSING),
        response=_samples(body),
        row=row,
        failure=from_error(row.get("error"))
        or from_error(body.get("error"))
        or from_status(response.get("status_code")),
    )


def _samples(body: Mapping[str, Any]) -> list[Any] | NoResponse:
    choices = body.get("choices")
    if isinstance(choices, list) and choices:
        return [_said_in_choice(choice) for choice in choices]
    output = body.get("output")
    if not isinstance(output, list):
        return NoResponse(MISSING_RESPONSE, "response.body.choices is missing")
    messages = [item for item in output if isinstance(item, Mapping) and item.get("type") == "message"]
    return [_settled(said_in(messages[-1]) if messages else None, _reason(body))]


def _reason(body: Mapping[str, Any]) -> Any:
    """Why a response ended before its time."""
    details = body.get("incomplete_details")
    return details.get("reason") if isinstance(details, Mapping) else None


def _said_in_choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping):
        return NoResponse(MISSING_RESPONSE, "the choice is no object")
    message = choice.get("message")
    said = said_in(message) if isinstance(message, Mapping) else choice.get("text")
    return _settled(said, choice.get("finish_reason"))


def _settled(said: Any, reason: Any) -> Any:
    """An empty text is a response, unless the content filter left it."""
    if said == "" and reason == "content_filter":
        said = None
    if said is not None and said is not NO_CONTENT:
        return said
    if reason == "content_filter":
        return NoResponse("ContentFilter", "the content filter left nothing of the response")
    return (
        NoResponse(NO_CONTENT.kind, f"{NO_CONTENT.message} (finish_reason {reason})")
        if reason
        else NO_CONTENT
    )
