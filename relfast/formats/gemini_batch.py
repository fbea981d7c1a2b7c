"""Results of Gemini's batch mode: ``key`` and ``response.candidates``.

https://ai.google.dev/gemini-api/docs/batch-api. Of a candidate's parts, text counts; thoughts do not. Gold
comes from ``--data``, joined on ``key``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.formats.failure import MISSING_RESPONSE, NoResponse
from relfast.formats.gold import mapping_at


def matches(row: Mapping[str, Any]) -> bool:
    response = row.get("response")
    return "key" in row and isinstance(response, Mapping) and isinstance(response.get("candidates"), list)


def read(row: Mapping[str, Any]) -> Entry:
    candidates = row["response"]["candidates"]
    said = [_said(candidate) for candidate in candidates]
    none = NoResponse(MISSING_RESPONSE, "response.candidates is empty")
    return Entry(id=row.get("key", MISSING), response=said or none, row=row)


def _said(candidate: Any) -> Any:
    if not isinstance(candidate, Mapping):
        return NoResponse(MISSING_RESPONSE, "the candidate is no object")
    parts = mapping_at(candidate, "content").get("parts")
    listed: list[Any] = parts if isinstance(parts, list) else []
    texts = [
        part["text"]
        for part in listed
        if isinstance(part, Mapping) and isinstance(part.get("text"), str) and not part.get("thought")
    ]
    if not texts:
        reason = candidate.get("finishReason")
        return NoResponse(MISSING_RESPONSE, f"the candidate has no text (finishReason {reason})")
    return "".join(texts)
