"""Fields that ``--map`` names: their tokens, in the row or in a text of it."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import ESCAPED, LIST, MAPPED_FIELDS, TOKEN_KIND, TOKEN_NEXT
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_ANSWER_STEP,
    ENTRY_COUNTED,
    ENTRY_ID,
    ENTRY_INPUT,
    ENTRY_QUESTION,
    ENTRY_SOURCE,
    ENTRY_TASK,
    ENTRY_TASK_STEP,
)
from relfast_kernels.text.failures import IS_NULL, UNSURE, failure
from relfast_kernels.text.json_scan import is_null
from relfast_kernels.text.messages import is_text, last_said, samples_in
from relfast_kernels.text.paths import follow

_TO_RESPONSE = len(MAPPED_FIELDS) - 1
_PLACES = (ENTRY_ID, ENTRY_TASK, ENTRY_QUESTION, ENTRY_ANSWER)
"""Where an entry has the fields of `MAPPED_FIELDS` but the last."""
FIELD_OF_TASK, FIELD_OF_ANSWER = 1, 3
_FIELD_OF_ID, _FIELD_OF_QUESTION = 0, 2
_STEPS = (0, ENTRY_TASK_STEP, 0, ENTRY_ANSWER_STEP)
"""And where it has the steps with which they go on in a text."""


@kernel
def maps_response(paths: Any) -> bool:
    """Whether responses are elsewhere than the row's dialect has them."""
    return bool(paths[_TO_RESPONSE, 0] >= 0)


@kernel
def map_fields(data: Any, tape: Any, paths: Any, steps: Any, n: int, entry: Any, samples: Any) -> int:
    """Put the fields in their places that ``--map`` names, over those that the row's dialect has; how many
    responses, ``n`` where they are not mapped, or `UNSURE`."""
    for field in range(len(MAPPED_FIELDS)):
        path = paths[field]
        if path[0] < 0:
            continue
        token, step = follow(data, tape, 0, path, 0, steps)
        if field < _TO_RESPONSE:
            if step < path[0]:
                if _STEPS[field] == 0 or token == 0 or tape[token, TOKEN_KIND] > ESCAPED:
                    return UNSURE
                entry[_STEPS[field]] = step + 1
            entry[_PLACES[field]] = token
            if field == _FIELD_OF_ID:
                entry[ENTRY_INPUT] = 0
            elif field == FIELD_OF_TASK:
                entry[ENTRY_SOURCE] = 0
            elif field == FIELD_OF_ANSWER and entry[ENTRY_INPUT] != 0:
                return UNSURE  # the id is still a digest of the gold that the row has
            elif field == _FIELD_OF_QUESTION and entry[ENTRY_COUNTED] != 0 and not is_text(tape, token):
                return UNSURE
            continue
        if step == path[0]:
            n = samples_in(data, tape, token, samples)
            continue
        n = n_there = 0
        at = token + 1
        while at < tape[token, TOKEN_NEXT]:
            found, rest = follow(data, tape, at, path, step + 1, steps)
            kind = tape[found, TOKEN_KIND]
            if rest < path[0] or (found != 0 and kind == LIST and tape[found, TOKEN_NEXT] == found + 1):
                return UNSURE
            n_there += found != 0
            # an item without it is a sample without a response
            if is_null(data, tape, found):
                samples[n] = failure(IS_NULL, 0)
            elif kind <= ESCAPED:
                samples[n] = found
            else:
                samples[n] = last_said(data, tape, found) if kind == LIST else UNSURE
            if samples[n] < 0:
                return UNSURE
            n += 1
            at = tape[at, TOKEN_NEXT]
        if n_there == 0:
            n = 0
    return n


@kernel
def find_inside(text: Any, tape: Any, token: Any, joined: Any, field: int, step: Any) -> int:
    """What a path leads to in a text that is JSON, from its token on, beginning with ``step``; or 0."""
    path = joined.paths[field]
    found, rest = follow(text, tape, token, path, step, joined.steps)
    return int(found) if rest == path[0] else 0
