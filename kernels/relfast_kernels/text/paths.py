"""Values at paths: the table of forms says which, and `relfast.formats.paths` what their steps do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    A_LIST,
    AN_OBJECT,
    AS_OBJECT,
    EACH,
    ESCAPED,
    FLAT,
    INDEX,
    INTEGER,
    IS,
    LIST,
    LITERAL,
    NAME,
    OBJECT,
    OPTIONAL,
    PICK,
    SPARSE,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    WALK_KIND,
    WALK_LACKS,
    WALK_MEMBER,
    WALK_NAME,
    WALK_NAME_END,
    WALK_NUMBER,
    WALK_WORD,
    WALK_WORD_END,
)
from relfast_kernels.text.failures import UNSURE, is_false
from relfast_kernels.text.find import same_bytes
from relfast_kernels.text.json_scan import is_null
from relfast_kernels.text.messages import is_empty


class Table(NamedTuple):
    """The table of forms: names (uint8), members of rows (n, 2) sorted by length, where those of a length
    begin (LONGEST_MEMBER + 2), which of them gold depends on, steps, paths (n, 2), conditions, ways, forms,
    what is said, ways to say it, what is said where nothing is, spans of words that are looked for (n, 2),
    words of errors, paths of ``--map``; and the numbers of the members ``error`` and ``status_code``, and
    of the form of rows that none fits."""

    names: Any
    members: Any
    of_length: Any
    in_digest: Any
    steps: Any
    paths: Any
    tests: Any
    ways: Any
    forms: Any
    said: Any
    says: Any
    none: Any
    reasons: Any
    words: Any
    maps: Any
    own: Any


@kernel
def named(data: Any, tape: Any, token: int, names: Any, start: int, end: int) -> int:
    """The value of an object's last member of that name, or 0."""
    found = 0
    at = token + 1
    stop = tape[token, TOKEN_NEXT]
    while at < stop:
        if same_bytes(data, tape[at, TOKEN_START], tape[at, TOKEN_END], names, start, end):
            found = at + 1
        at = tape[at + 1, TOKEN_NEXT]
    return found


@kernel
def _is_word(data: Any, tape: Any, token: int, names: Any, step: Any) -> int:
    """Whether a value is the word of a step (1), or `UNSURE`."""
    kind = tape[token, TOKEN_KIND]
    if kind == ESCAPED and step[WALK_NUMBER] == 0:
        return UNSURE
    if kind != (LITERAL if step[WALK_NUMBER] != 0 else STRING):
        return 0
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    return 1 if same_bytes(data, start, end, names, step[WALK_WORD], step[WALK_WORD_END]) else 0


@kernel
def _is(data: Any, tape: Any, token: int, names: Any, step: Any) -> int:
    """Whether a value is the word of a step, or a list with it (1), or `UNSURE`."""
    if token == 0:
        return 0
    if tape[token, TOKEN_KIND] != LIST:
        return _is_word(data, tape, token, names, step)
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        found = _is_word(data, tape, at, names, step)
        if found != 0:
            return found
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def is_there(data: Any, tape: Any, token: int) -> int:
    """Whether a value is something (1): not null, false, empty or 0; or `UNSURE`."""
    if is_null(data, tape, token) or is_false(data, tape, token):
        return 0
    kind = tape[token, TOKEN_KIND]
    if kind <= ESCAPED:
        return 0 if is_empty(tape, token) else 1
    if kind == OBJECT or kind == LIST:
        return 1 if tape[token, TOKEN_NEXT] > token + 1 else 0
    return 1 if kind == LITERAL else UNSURE


@kernel
def _item(tape: Any, items: int, index: Any) -> int:
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
def _picked(data: Any, tape: Any, token: int, names: Any, step: Any) -> int:
    """The item of a list whose number stands beside it, 0 or `UNSURE`."""
    items = named(data, tape, token, names, step[WALK_NAME], step[WALK_NAME_END])
    index = named(data, tape, token, names, step[WALK_WORD], step[WALK_WORD_END])
    if index != 0 and tape[index, TOKEN_KIND] == LIST and tape[index, TOKEN_NEXT] > index + 1:
        index += 1
    if items == 0 or tape[items, TOKEN_KIND] != LIST or index == 0:
        return 0
    start = tape[index, TOKEN_START]
    if tape[index, TOKEN_KIND] != INTEGER or tape[index, TOKEN_END] != start + 1:
        return UNSURE
    return _item(tape, items, np.int64(data[start]) - 48)


@kernel
def as_object(data: Any, tape: Any, token: int) -> int:
    """What of a value is gold: an object, a text that may be one, or a list's first item that is; 0 for
    nothing, or `UNSURE`."""
    if token and tape[token, TOKEN_KIND] == LIST and tape[token, TOKEN_NEXT] > token + 1:
        token += 1
        if tape[token, TOKEN_KIND] == LIST:
            return UNSURE
    if token == 0:
        return 0
    kind = tape[token, TOKEN_KIND]
    if kind == OBJECT:
        return token if tape[token, TOKEN_NEXT] > token + 1 else 0
    if kind > ESCAPED or is_empty(tape, token):
        return 0
    first = data[tape[token, TOKEN_START]]
    if first == 123:
        return token
    # blanks of any kind may stand before it
    return UNSURE if first <= 32 or first == 92 or first >= 128 else 0


@kernel
def _has_nothing(data: Any, tape: Any, token: int) -> bool:
    """Whether all members of an object are null, as a column of objects may have them."""
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        if not is_null(data, tape, at + 1):
            return False
        at = tape[at + 1, TOKEN_NEXT]
    return True


@kernel
def _one_step(data: Any, tape: Any, token: int, names: Any, step: Any) -> int:
    """What a step that leads to one value leads to: its token, -1 where there is nothing, or -2: `UNSURE`.

    0 is the row itself.
    """
    kind, there = step[WALK_KIND], tape[token, TOKEN_KIND]
    if kind == AS_OBJECT:
        found = as_object(data, tape, token)
        if found == UNSURE or (found > 0 and tape[found, TOKEN_KIND] != OBJECT):
            return -2
        return found if found > 0 else -1
    if there == OBJECT:
        if kind == AN_OBJECT or kind == FLAT:
            return token
        if kind == SPARSE:
            return -1 if _has_nothing(data, tape, token) else token
        if kind == PICK:
            found = _picked(data, tape, token, names, step)
            return -2 if found == UNSURE else found if found > 0 else -1
        if kind == EACH or kind == A_LIST:
            return -1
        found = named(data, tape, token, names, step[WALK_NAME], step[WALK_NAME_END])
        if kind == NAME or kind == INDEX:
            return found if found > 0 else -1
        if kind == OPTIONAL:
            return found if found > 0 else token
        has = _is(data, tape, found, names, step) if kind == IS else is_there(data, tape, found)
        if has == UNSURE:
            return -2
        return token if (has == 1) != (step[WALK_LACKS] != 0) else -1
    if there == LIST:
        if kind == INDEX:
            found = _item(tape, token, step[WALK_NUMBER])
            return found if found > 0 else -1
        return token if kind == A_LIST or kind == SPARSE else -1
    return token if kind == FLAT or kind == OPTIONAL or kind == SPARSE else -1


@kernel
def walk(data: Any, tape: Any, table: Any, fields: Any, token: int, path: int, out: Any) -> int:
    """The values that a path leads to from a value on: how many, or `UNSURE`.

    Parameters
    ----------
    fields : int64
        The row's members by their numbers.
    out : int64
        Filled with their tokens; twice as many are room enough.
    """
    step, stop = table.paths[path, 0], table.paths[path, 1]
    n = 1
    out[0] = token
    if token == 0 and step < stop and table.steps[step, WALK_MEMBER] >= 0:
        out[0] = fields[table.steps[step, WALK_MEMBER]]
        if out[0] == 0:
            return 0
        step += 1
    while step < stop and n > 0:
        kind = table.steps[step, WALK_KIND]
        spreads = kind == EACH or kind == FLAT
        used, m = n, 0
        for k in range(n):
            value = out[k]
            if spreads and tape[value, TOKEN_KIND] == LIST:
                at = value + 1
                while at < tape[value, TOKEN_NEXT]:
                    out[used + m] = at
                    m += 1
                    at = tape[at, TOKEN_NEXT]
                continue
            found = _one_step(data, tape, value, table.names, table.steps[step])
            if found == -2:
                return UNSURE
            if found >= 0:
                out[used + m] = found
                m += 1
        for k in range(m):
            out[k] = out[used + k]
        n = m
        step += 1
    return n
