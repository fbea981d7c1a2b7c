"""verl's rollout and validation dumps: ``input``, ``output``, ``gts`` (gold, often JSON in a string)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.tasks import find_task


def matches(row: Mapping[str, Any]) -> bool:
    return "output" in row and "gts" in row


def read(row: Mapping[str, Any]) -> Entry:
    get = row.get
    source = get("data_source")
    return Entry(
        id=get("id", get("uid", MISSING)),
        # a data source often has a name of the trainer's own, which says nothing about the task
        task=get("task", MISSING if find_task(source) is None else source),
        question=get("input", MISSING),
        answer=row["gts"],
        response=row["output"],
        row=row,
    )
