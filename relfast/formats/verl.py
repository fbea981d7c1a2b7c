"""verl's rollout and validation dumps: ``input``, ``output``, ``gts`` (gold, often JSON in a string)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry


def matches(row: Mapping[str, Any]) -> bool:
    return "output" in row and "gts" in row


def read(row: Mapping[str, Any]) -> Entry:
    get = row.get
    return Entry(
        id=get("id", get("uid", MISSING)),
        task=get("task", get("data_source", MISSING)),
        question=get("input", MISSING),
        answer=row["gts"],
        response=row["output"],
        row=row,
    )
