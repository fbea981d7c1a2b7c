"""Output of OpenAI's and vLLM's batch runners: ``custom_id`` and ``response.body``.

https://platform.openai.com/docs/guides/batch. The body is that of a chat completion, a completion or a
response (``/v1/responses``). Gold comes from ``--data``, joined on ``custom_id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry, content_of


def matches(row: Mapping[str, Any]) -> bool:
    response = row.get("response")
    # a text here was put in place by --map, and the row is read as a record of ours
    return "custom_id" in row and (
        isinstance(response, Mapping) or (response is None and ("response" in row or "error" in row))
    )


def read(row: Mapping[str, Any]) -> Entry:
    entry = Entry(id=row["custom_id"], row=row)
    response = row.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    texts = _texts(body) if isinstance(body, Mapping) else []
    if not texts:
        entry.problem = f"the request failed: {_why(row, response, body)}"
        return entry
    entry.response = texts[0] if len(texts) == 1 else texts
    return entry


def _texts(body: Mapping[str, Any]) -> list[Any]:
    choices = body.get("choices")
    if isinstance(choices, list):
        return [_text(choice) for choice in choices]
    output = body.get("output")
    if isinstance(output, list):
        messages = [item for item in output if isinstance(item, Mapping) and item.get("type") == "message"]
        return [content_of(message.get("content")) for message in messages[-1:]]
    return []


def _text(choice: Any) -> Any:
    if not isinstance(choice, Mapping):
        return MISSING
    message = choice.get("message")
    if isinstance(message, Mapping):
        return content_of(message.get("content"))
    return choice.get("text")


def _why(row: Mapping[str, Any], response: Any, body: Any) -> str:
    for holder in (row, body):
        error = holder.get("error") if isinstance(holder, Mapping) else None
        if error:
            return str(error.get("message") or error) if isinstance(error, Mapping) else str(error)
    status = response.get("status_code") if isinstance(response, Mapping) else None
    return f"status {status}" if status is not None else "response.body.choices is missing"
