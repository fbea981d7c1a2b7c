"""Our own records: ``{"id", "task", "question", "answer", "response", "metadata"}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry


def matches(row: Mapping[str, Any]) -> bool:
    return "response" in row


def read(row: Mapping[str, Any]) -> Entry:
    get = row.get
    return Entry(
        get("id", MISSING),
        get("task", MISSING),
        get("question", MISSING),
        get("answer", MISSING),
        get("response", MISSING),
        row,
        _failure(row),
    )


def _failure(row: Mapping[str, Any]) -> str | None:
    """Why `relfast run` got no response to a record: such a row has no answer that could be scored."""
    error = row.get("error")
    if row.get("response") is not None or not isinstance(error, Mapping):
        return None
    return f"the request failed: {error.get('message', error)}"
