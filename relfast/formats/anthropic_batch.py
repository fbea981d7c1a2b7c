"""Results of Anthropic's message batches: ``custom_id`` and ``result``.

https://docs.anthropic.com/en/docs/build-with-claude/batch-processing. Of a message's blocks, text counts;
thinking does not. Gold comes from ``--data``, joined on ``custom_id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry, said_in
from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error


def matches(row: Mapping[str, Any]) -> bool:
    return "custom_id" in row and isinstance(row.get("result"), Mapping)


def read(row: Mapping[str, Any]) -> Entry:
    return Entry(id=row.get("custom_id", MISSING), response=_said(row["result"]), row=row)


def _said(result: Mapping[str, Any]) -> Any:
    message = result.get("message")
    kind = result.get("type")
    if kind == "succeeded" and isinstance(message, Mapping):
        return said_in(message)
    # a request can also have been canceled, or have expired
    return from_error(result.get("error")) or NoResponse(MISSING_RESPONSE, f"the request has {kind}")
