"""What ``--map`` says, as the text kernel reads it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from relfast_kernels.layouts import (
    DECODED,
    EACH_ITEM,
    MAPPED_FIELDS,
    MAX_STEPS,
    NO_INDEX,
    PATH_COLUMNS,
    STEP_COLUMNS,
    STEP_END,
    STEP_INDEX,
    STEP_START,
)

_INDEX: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_NAME: Final = re.compile(r'[^\x00-\x1f"/\\\x7f-\U0010ffff]*')
"""Names that JSON has one spelling of, unless it spells letters with escapes: others may have an escape."""
_IN_TEXT: Final = "@"
_IN_TEXTS: Final = frozenset({"task", "answer"})
"""Fields that may stand in a text that is JSON."""
_INDICES: Final = {"*": EACH_ITEM, _IN_TEXT: DECODED}


class Paths(NamedTuple):
    """A row of numbers for each of `MAPPED_FIELDS` (none at all where nothing is mapped), and the names of
    their steps."""

    table: ctypes.Array[ctypes.c_int64]
    n: int
    steps: bytes


def can_hold(field_map: Mapping[str, str]) -> bool:
    """Whether the kernel can follow the paths: of fields that all records have, and into JSON in a text
    only to task and gold."""
    if not set(field_map) <= set(MAPPED_FIELDS):
        return False
    steps = {field: path.split(".") for field, path in field_map.items()}
    return all(map(_is_plain, steps.values())) and all(
        each.count(_IN_TEXT) <= (field in _IN_TEXTS) for field, each in steps.items()
    )


def _is_plain(steps: list[str]) -> bool:
    digits = (step.lstrip("-") for step in steps)
    return (
        len(steps) <= MAX_STEPS
        and all(map(_NAME.fullmatch, steps))
        and all(_INDEX.fullmatch(step) for step, rest in zip(steps, digits, strict=True) if rest.isdigit())
    )


def paths_of(field_map: Mapping[str, str]) -> Paths:
    """A field map that the kernel can hold, as it reads it."""
    table = (ctypes.c_int64 * (PATH_COLUMNS * len(MAPPED_FIELDS)))()
    names = bytearray()
    for row, field in enumerate(MAPPED_FIELDS):
        steps = field_map[field].split(".") if field in field_map else None
        at = row * PATH_COLUMNS
        table[at] = -1 if steps is None else len(steps)
        for number, step in enumerate(steps or ()):
            place = at + 1 + number * STEP_COLUMNS
            table[place + STEP_START] = len(names)
            names += step.encode()
            table[place + STEP_END] = len(names)
            is_index = _INDEX.fullmatch(step) is not None
            table[place + STEP_INDEX] = _INDICES.get(step, int(step) if is_index else NO_INDEX)
    return Paths(table, len(MAPPED_FIELDS) if field_map else 0, bytes(names))
