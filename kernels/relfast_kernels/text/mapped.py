"""Fields that ``--map`` names: their tokens, in the row or in a text of it."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    LIST,
    MAP_HOW,
    MAP_PATH,
    MAP_REST,
    MAPPED_FIELDS,
    NULL_RESPONSE,
    OBJECT,
    TOKEN_KIND,
    TOKEN_NEXT,
    WHOLE,
)
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_ANSWER_INSIDE,
    ENTRY_COUNTED,
    ENTRY_ID,
    ENTRY_INPUT,
    ENTRY_QUESTION,
    ENTRY_SOURCE,
    ENTRY_TASK,
    ENTRY_TASK_INSIDE,
)
from relfast_kernels.text.failures import UNSURE, failure
from relfast_kernels.text.json_scan import is_null
from relfast_kernels.text.messages import is_text, last_said, samples_in
from relfast_kernels.text.paths import walk

_TO_RESPONSE = len(MAPPED_FIELDS) - 1
_PLACES = (ENTRY_ID, ENTRY_TASK, ENTRY_QUESTION, ENTRY_ANSWER)
"""Where an entry has the fields of `MAPPED_FIELDS` but the last."""
FIELD_OF_TASK, FIELD_OF_ANSWER = 1, 3
_FIELD_OF_ID, _FIELD_OF_QUESTION = 0, 2
_INSIDE = (0, ENTRY_TASK_INSIDE, 0, ENTRY_ANSWER_INSIDE)
"""And where it says that they are in a text."""


@kernel
def maps_response(table: Any) -> bool:
    """Whether responses are elsewhere than the row's dialect has them."""
    return bool(table.maps.shape[0] > 0 and table.maps[_TO_RESPONSE, MAP_PATH] >= 0)


@kernel
def map_fields(
    data: Any, tape: Any, table: Any, fields: Any, n: int, entry: Any, samples: Any, out: Any
) -> int:
    """Put the fields in their places that ``--map`` names, over those that the row's dialect has; how many
    responses, ``n`` where they are not mapped, or `UNSURE`."""
    for field in range(table.maps.shape[0]):
        row = table.maps[field]
        if row[MAP_PATH] < 0:
            continue
        found = walk(data, tape, table, fields, 0, row[MAP_PATH], out)
        if found == UNSURE:
            return UNSURE
        token = int(out[0]) if found > 0 else 0
        if field < _TO_RESPONSE:
            if row[MAP_HOW] != WHOLE:
                if not is_text(tape, token):
                    return UNSURE
                entry[_INSIDE[field]] = 1
            entry[_PLACES[field]] = token
            if field == _FIELD_OF_ID:
                entry[ENTRY_INPUT] = 0
            elif field == FIELD_OF_TASK:
                entry[ENTRY_SOURCE] = 0
            elif field == FIELD_OF_ANSWER and entry[ENTRY_INPUT] != 0:
                return UNSURE  # the id is still a digest of the gold that the row has
            elif field == _FIELD_OF_QUESTION and entry[ENTRY_COUNTED] != 0 and not is_text(tape, token):
                return UNSURE
        elif row[MAP_HOW] == WHOLE:
            n = samples_in(data, tape, token, samples)
        else:
            n = _each(data, tape, table, fields, token, row[MAP_REST], samples, out)
        if n < 0:
            return UNSURE
    return n


@kernel
def _each(
    data: Any, tape: Any, table: Any, fields: Any, items: int, rest: int, samples: Any, out: Any
) -> int:  # fmt: skip
    """How many responses a list has, each at the rest of the path; or `UNSURE`."""
    if items == 0 or tape[items, TOKEN_KIND] != LIST:
        # what an object has under the name of a star comes first
        return UNSURE if items != 0 and tape[items, TOKEN_KIND] == OBJECT else 0
    n = n_there = 0
    at = items + 1
    while at < tape[items, TOKEN_NEXT]:
        found = walk(data, tape, table, fields, at, rest, out)
        if found == UNSURE:
            return UNSURE
        token = int(out[0]) if found > 0 else 0
        kind = tape[token, TOKEN_KIND]
        if token != 0 and kind == LIST and tape[token, TOKEN_NEXT] == token + 1:
            return UNSURE
        n_there += found
        # an item without it is a sample without a response
        if is_null(data, tape, token):
            samples[n] = failure(NULL_RESPONSE, 0)
        elif kind <= ESCAPED:
            samples[n] = token
        else:
            samples[n] = last_said(data, tape, token) if kind == LIST else UNSURE
        if samples[n] < 0:
            return UNSURE
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n_there > 0 else 0


@kernel
def find_inside(text: Any, tape: Any, token: Any, table: Any, work: Any, field: int) -> int:
    """What the rest of a path leads to in a text that is JSON, from its token on; or 0."""
    rest = table.maps[field, MAP_REST]
    found = walk(text, tape, table, work.fields, token, rest, work.found)
    return int(work.found[0]) if found > 0 else 0
