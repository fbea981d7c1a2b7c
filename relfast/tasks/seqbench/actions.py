"""Actions as text: ``"move_to: F6"``, and how they are found in a response."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from relfast_kernels.layouts import ACTIONS, BAD, ITEM_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from relfast_kernels.text.plans import Plans

CODES: Final = {name: code for code, name in enumerate(ACTIONS)}
"""The kernels' code of each action."""

MAX_BYTES: Final = 1 << 29
"""Longest response that is read, in bytes: the kernel counts twice as many in 32 bits. Readers stop lines far
earlier."""


MIN_PLAN_BYTES: Final = len("['start:A']")


class Action(NamedTuple):
    """An action and what it acts on: a room, a key or a person."""

    name: str
    parameter: str

    def __str__(self) -> str:
        return f"{self.name}: {self.parameter}"


class Reading(NamedTuple):
    """Texts as the kernels take them (UTF-8, one after the other), where each ends, and the plans in them."""

    text: NDArray[np.uint8]
    ends: list[int]
    plans: Plans

    def cut(self, begin: int, end: int) -> str:
        """What stands at bytes begin:end."""
        return self.text[begin:end].tobytes().decode("utf-8", "surrogatepass")


def as_action(item: object) -> Action | None:
    """The action that ``"action: param"`` or a pair ``(action, param)`` stands for, or None."""
    if isinstance(item, str):
        name, _, parameter = item.partition(":")
        name, parameter = name.strip(), parameter.strip()
    elif isinstance(item, Sequence) and len(item) == 2:
        name, parameter = (part.strip() if isinstance(part, str) else _number(part) for part in item)
    else:
        return None
    return Action(name, parameter) if name in CODES and parameter else None


def _number(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def read(texts: Sequence[str]) -> Reading:
    """Find the plan of each text. Linear time; nothing in a text is evaluated."""
    from relfast_kernels.text.plans import lay_out, read_plans

    parts = [encode(text) for text in texts]
    text = lay_out(parts)
    ends = list(accumulate(map(len, parts)))
    return Reading(text, ends, read_plans(text, np.array(ends, np.int64)))


def encode(text: str) -> bytes:
    """UTF-8, lone surrogates included; nothing of what is too long."""
    raw = text.encode("utf-8", "surrogatepass")
    return raw if len(raw) <= MAX_BYTES else b""


def parse_actions(text: object) -> list[str] | None:
    """The plan that a text ends with, as ``"action: param"`` strings; None if there is none.

    A plan is a list of ``'action: param'`` strings or of ``('action', 'param')`` pairs, as tuples or lists,
    quoted and escaped as in Python or JSON, within prose, a code fence or one more list. The last list with
    at least one of the six actions counts. Items that are no action stay in it. Never raises; linear time.

    >>> parse_actions("First ['start: A1'], or better: [('start', 'A1'), ('rescue', 'Bob')]")
    ['start: A1', 'rescue: Bob']
    """
    if not isinstance(text, str):
        return None
    reading = read([text])
    if not len(reading.plans.items):
        return None
    return [_write(reading, item) for item in reading.plans.items.tolist()]


def find_plans(text: str) -> list[tuple[int, int, list[str]]]:
    """All lists of actions in a text, in order: begin and end in characters, and items as `parse_actions` has
    them. Linear time."""
    from relfast_kernels.text.plans import lay_out, scan

    raw = encode(text)
    room = np.empty((2, len(raw) // 3 + 2, ITEM_COLUMNS), np.int32)
    spans = np.empty((len(raw) // MIN_PLAN_BYTES + 1, 3), np.int64)
    _, n_plans = scan(lay_out([raw]), 0, len(raw), room[0], room[1], spans)
    places = []
    parts = []
    before = at = 0  # bytes and characters read so far
    for begin, end, _ in spans[:n_plans].tolist():
        at += len(raw[before:begin].decode("utf-8", "surrogatepass"))
        parts.append(raw[begin:end].decode("utf-8", "surrogatepass"))
        places.append((at, at + len(parts[-1])))
        before, at = end, places[-1][1]
    if not parts:
        return []
    reading = read(parts)
    items = [_write(reading, item) for item in reading.plans.items.tolist()]
    ends = reading.plans.offsets.tolist()
    return [(*place, items[ends[row] : ends[row + 1]]) for row, place in enumerate(places)]


def _write(reading: Reading, item: Sequence[int]) -> str:
    kind, _, begin, end, _ = item
    text = reading.cut(begin, end)
    return f"{ACTIONS[kind]}: {text}" if kind != BAD else text


def as_plan(actions: Any) -> list[Action | None] | None:
    """A plan given as text or as a list of actions (None for items that are none); None if it is neither."""
    if isinstance(actions, str):
        actions = parse_actions(actions)
    if not isinstance(actions, Sequence):
        return None
    return [as_action(item) for item in actions]
