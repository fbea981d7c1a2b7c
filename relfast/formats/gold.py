"""Gold that travels with a tool's rows: in metadata, a target, a reference, an extra column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, last_user_said
from relfast.json_text import decode_text
from relfast.tasks import find_task


def gold_among(*places: Any) -> Any:
    """The first of several values that can be gold, an object or JSON text of one; else MISSING.

    A list stands for its first item, as harnesses keep targets and references.
    """
    for place in places:
        if isinstance(place, list) and place:
            place = place[0]
        if isinstance(place, str) and place.lstrip().startswith("{"):
            place = decode_text(place)
        if isinstance(place, Mapping) and place:
            return place
    return MISSING


def task_among(*names: Any) -> Any:
    """The first of several values that names a task; a name of the tool's own says nothing."""
    return next((name for name in names if isinstance(name, str) and find_task(name) is not None), MISSING)


def mapping_at(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object at a key; an empty one where there is none."""
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}


def question_of(prompt: Any) -> Any:
    """The text a prompt asks: itself, or the last message of the user; MISSING where there is none."""
    text = last_user_said(prompt) if isinstance(prompt, list) else prompt
    return text if isinstance(text, str) else MISSING


def first_there(row: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first key that has one; MISSING where none has."""
    return next((row[key] for key in keys if row.get(key) is not None), MISSING)
