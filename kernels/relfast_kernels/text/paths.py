"""Fields at the places that ``--map`` says, as `relfast.engine.rows.follow` finds them."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    DECODED,
    EACH_ITEM,
    ESCAPED,
    LIST,
    NO_INDEX,
    OBJECT,
    STEP_COLUMNS,
    STEP_END,
    STEP_INDEX,
    STEP_START,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import same_bytes


@kernel
def _item(tape: Any, items: int, index: int) -> int:
    """An item of a list, counted from its end if negative; 0: there is none."""
    stop = tape[items, TOKEN_NEXT]
    if index < 0:
        at = items + 1
        while at < stop:
            index += 1
            at = tape[at, TOKEN_NEXT]
        if index < 0:
            return 0
    at = items + 1
    while at < stop:
        if index == 0:
            return at
        index -= 1
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def follow(data: Any, tape: Any, token: Any, path: Any, step: Any, steps: Any) -> Any:
    """The value that a path leads to from a value on, beginning with ``step``.

    Parameters
    ----------
    path : int64, shape (PATH_COLUMNS,)
        A row of the table of paths.
    steps : uint8
        Names of all steps.

    Returns
    -------
    (token, step)
        0 for a token: the path leads nowhere. A step that is less than the path's number of them stands for
        each item of that list, or what is in that text.
    """
    n = path[0]
    while step < n:
        at = 1 + STEP_COLUMNS * step
        start, end, index = path[at + STEP_START], path[at + STEP_END], path[at + STEP_INDEX]
        kind = tape[token, TOKEN_KIND]
        found = 0
        if kind == OBJECT:
            member = token + 1
            stop = tape[token, TOKEN_NEXT]
            while member < stop:
                if same_bytes(data, tape[member, TOKEN_START], tape[member, TOKEN_END], steps, start, end):
                    found = member + 1
                member = tape[member + 1, TOKEN_NEXT]
        elif index == DECODED and kind <= ESCAPED:
            return token, step
        elif kind == LIST:
            if index == EACH_ITEM:
                return token, step
            if index != NO_INDEX:
                found = _item(tape, token, index)
        if found == 0:
            return 0, n
        token = found
        step += 1
    return token, n
