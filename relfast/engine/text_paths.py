"""What ``--map`` says, as the text kernel reads it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from relfast_kernels.layouts import (
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
_DECODED: Final = "@"
_SAID: Final = frozenset({"id", "response"})
"""Fields that the kernel itself must find."""


class Paths(NamedTuple):
    """A row of numbers for each of `MAPPED_FIELDS` (none at all where nothing is mapped), and the names of
    their steps."""

    table: ctypes.Array[ctypes.c_int64]
    n: int
    steps: bytes


def can_hold(field_map: Mapping[str, str]) -> bool:
    """Whether the kernel can follow the paths: of fields that all records have, and to JSON in text only
    where that text may stand for what is found in it."""
    if not set(field_map) <= set(MAPPED_FIELDS):
        return False
    if any(is_in_text(field_map[field]) for field in _SAID & set(field_map)):
        return False
    return all(_is_plain(_outside(path)) for path in field_map.values())


def is_in_text(path: str) -> bool:
    """Whether a path goes on in a text that is JSON."""
    return _DECODED in path.split(".")


def _outside(path: str) -> list[str]:
    """The steps of a path up to a text that is JSON: records with one text have the same gold."""
    steps = path.split(".")
    return steps[: steps.index(_DECODED)] if _DECODED in steps else steps


def _is_plain(steps: list[str]) -> bool:
    digits = (step.lstrip("-") for step in steps)
    return (
        0 < len(steps) <= MAX_STEPS
        and all(map(str.isascii, steps))
        and all(_INDEX.fullmatch(step) for step, rest in zip(steps, digits, strict=True) if rest.isdigit())
    )


def paths_of(field_map: Mapping[str, str]) -> Paths:
    """A field map that the kernel can hold, as it reads it."""
    table = (ctypes.c_int64 * (PATH_COLUMNS * len(MAPPED_FIELDS)))()
    names = bytearray()
    for row, field in enumerate(MAPPED_FIELDS):
        steps = _outside(field_map[field]) if field in field_map else None
        at = row * PATH_COLUMNS
        table[at] = -1 if steps is None else len(steps)
        for number, step in enumerate(steps or ()):
            place = at + 1 + number * STEP_COLUMNS
            table[place + STEP_START] = len(names)
            names += step.encode()
            table[place + STEP_END] = len(names)
            is_index = _INDEX.fullmatch(step) is not None
            table[place + STEP_INDEX] = EACH_ITEM if step == "*" else int(step) if is_index else NO_INDEX
    return Paths(table, len(MAPPED_FIELDS) if field_map else 0, bytes(names))
