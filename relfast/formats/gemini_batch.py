"""Results of Gemini's batch mode: ``key`` and ``response.candidates``.

https://ai.google.dev/gemini-api/docs/batch-api. Of a candidate's parts, text counts; thoughts do not. Gold
comes from ``--data``, joined on ``key``. A row without a response says of itself only that a request failed,
and is read by `relfast.formats.native` where the dialect is not named: of Gemini's it has but the id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.formats.entry import MISSING, Entry
from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error
from relfast.formats.gold import mapping_at

_BESIDE: Final = ("promptFeedback", "usageMetadata", "modelVersion")
"""What a response has beside its candidates, or without any: a prompt that was blocked."""


def matches(row: Mapping[str, Any]) -> bool:
    if "key" not in row:
        return False
    response = row.get("response")
    if not isinstance(response, Mapping):
        return False
    if isinstance(response.get("candidates"), list):
        return True
    # an error in a response is read in rows of any kind, and says nothing of theirs
    return any(name in response for name in _BESIDE) and from_error(response.get("error")) is None


def has_candidates(row: Mapping[str, Any]) -> bool:
    """Whether a row that matches does so for its candidates."""
    return isinstance(mapping_at(row, "response").get("candidates"), list)


def has_only_failed(row: Mapping[str, Any]) -> bool:
    """Whether a row that is in no dialect has its id where one of Gemini's has it whose request failed."""
    response = row.get("response")
    inner = from_error(response.get("error")) if isinstance(response, Mapping) else None
    if "key" not in row or "id" in row or (response is not None and inner is None):
        return False
    return (inner or from_error(row.get("error"))) is not None


def read(row: Mapping[str, Any]) -> Entry:
    response = row["response"]
    candidates = response.get("candidates")
    said = [_said(candidate) for candidate in candidates] if isinstance(candidates, list) else []
    return Entry(id=row.get("key", MISSING), response=said or _no_candidates(response), row=row)


def _no_candidates(response: Mapping[str, Any]) -> NoResponse:
    if isinstance(response.get("candidates"), list):
        return NoResponse(MISSING_RESPONSE, "response.candidates is empty")
    blocked = mapping_at(response, "promptFeedback").get("blockReason")
    if blocked is not None:
        return NoResponse("ContentFilter", f"the prompt was blocked (blockReason {blocked})")
    return from_error(response.get("error")) or NoResponse(MISSING_RESPONSE, "response.candidates is missing")


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
