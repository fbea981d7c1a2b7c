"""Output of OpenAI's and vLLM's batch runners: ``custom_id`` and ``response.body.choices``.

https://platform.openai.com/docs/guides/batch (completions and chat completions have both been seen).
Gold comes from ``--data``, joined on ``custom_id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry, content_of


def matches(row: Mapping[str, Any]) -> bool:
    return "custom_id" in row and ("response" in row or "error" in row)


def read(row: Mapping[str, Any]) -> Entry:
    entry = Entry(id=row["custom_id"], row=row)
    response = row.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not isinstance(choices, list) or not choices:
        entry.problem = f"the request failed: {_why(row, response, body)}"
        return entry
    texts = [_text(choice) for choice in choices]
    entry.response = texts[0] if len(texts) == 1 else texts
    return entry


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
