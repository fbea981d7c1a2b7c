"""Our own records: ``{"id", "task", "question", "answer", "response", "metadata"}``.

A row that says only that a request failed is read here too, whoever's it is.
"""

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
    )
