"""SeqBench's own rows (dataset card) with a ``response`` added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.formats.entry import MISSING, Entry

_GOLD: Final = ("completion", "structural_details", "instance_metadata", "complexity_parameters")


def matches(row: Mapping[str, Any]) -> bool:
    return "instance_id" in row and any(key in row for key in _GOLD)


def read(row: Mapping[str, Any]) -> Entry:
    return Entry(
        id=row.get("instance_id", MISSING),
        task="SeqBench",
        question=row.get("context", MISSING),
        answer={key: row[key] for key in _GOLD if key in row},
        response=row.get("response", MISSING),
        row=row,
    )
