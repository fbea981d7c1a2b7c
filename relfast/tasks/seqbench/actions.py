"""Actions such as ``"move_to: F6"``, and how plans are found in a response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from relfast_kernels.layouts import ACTIONS, BAD

from relfast.tasks.seqbench.machine import machine

CODES: Final = {name: code for code, name in enumerate(ACTIONS)}
"""The kernels' code of each action."""

MAX_BYTES: Final = 1 << 29
"""Longest response that is read, in bytes: the kernel counts twice as many in 32 bits. Readers of files
refuse lines far shorter than this."""


class Action(NamedTuple):
    """An action and its parameter: a room, a key or a person."""

    name: str
    parameter: str

    def __str__(self) -> str:
        return f"{self.name}: {self.parameter}"


def as_action(item: object) -> Action | None:
    """The action given as ``"action: param"`` or as a pair ``(action, param)``; None for anything else."""
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


def encode(text: str) -> bytes:
    """The text as UTF-8, lone surrogates included; empty if it is longer than `MAX_BYTES`."""
    raw = text.encode("utf-8", "surrogatepass")
    return raw if len(raw) <= MAX_BYTES else b""


def parse_actions(text: object) -> list[str] | None:
    """The last plan in a text, as ``"action: param"`` strings; None if there is none.

    A plan is a list of ``'action: param'`` strings or of ``('action', 'param')`` pairs (tuples or lists),
    quoted and escaped as in Python or JSON, within prose, a code fence or one more list. The last list with
    at least one of the six actions counts. Items that are no action stay in it. Never raises; takes linear
    time.

    >>> parse_actions("First ['start: A1'], or better: [('start', 'A1'), ('rescue', 'Bob')]")
    ['start: A1', 'rescue: Bob']
    """
    if not isinstance(text, str):
        return None
    data, _, items = machine().plan(encode(text))
    return [_write(data, item) for item in items] or None


def last_plan(text: str) -> tuple[int, int] | None:
    """Begin and end, in characters, of the plan that `parse_actions` finds; None without a plan."""
    raw = encode(text)
    _, span, items = machine().plan(raw)
    if not items:
        return None
    begin, end = (len(raw[:place].decode("utf-8", "surrogatepass")) for place in span)
    return begin, end


def _write(data: bytes, item: Sequence[int]) -> str:
    kind, _, begin, end, _ = item
    text = data[begin:end].decode("utf-8", "surrogatepass")
    return f"{ACTIONS[kind]}: {text}" if kind != BAD else text


def as_plan(actions: Any) -> list[Action | None] | None:
    """The actions of a plan given as text or list (None for an item that is no action); None if neither."""
    items = parse_actions(actions) if isinstance(actions, str) else actions
    return [as_action(item) for item in items] if isinstance(items, Sequence) else None
