"""Fields that ``--map`` names: their tokens, in the row or in a text of it."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import ESCAPED, LIST, MAPPED_FIELDS, TOKEN_KIND, TOKEN_NEXT
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_ANSWER_STEP,
    ENTRY_ID,
    ENTRY_QUESTION,
    ENTRY_TASK,
    ENTRY_TASK_STEP,
)
from relfast_kernels.text.messages import UNSURE, last_said, samples_in
from relfast_kernels.text.paths import follow

_TO_RESPONSE = len(MAPPED_FIELDS) - 1
_PLACES = (ENTRY_ID, ENTRY_TASK, ENTRY_QUESTION, ENTRY_ANSWER)
"""Where an entry has the fields of `MAPPED_FIELDS` but the last."""
FIELD_OF_TASK, FIELD_OF_ANSWER = 1, 3
_STEPS = (0, ENTRY_TASK_STEP, 0, ENTRY_ANSWER_STEP)
"""And where it has the steps with which they go on in a text."""


@kernel
def map_fields(data: Any, tape: Any, paths: Any, steps: Any, response: int, entry: Any, samples: Any) -> Any:
    """Put the fields in their places that ``--map`` names; how many responses, or `UNSURE`."""
    n: Any = UNSURE
    for field in range(len(MAPPED_FIELDS)):
        path = paths[field]
        if path[0] < 0:
            if field == _TO_RESPONSE:
                n = samples_in(data, tape, response, samples)
            continue
        token, step = follow(data, tape, 0, path, 0, steps)
        if field < _TO_RESPONSE:
            if step < path[0]:
                if _STEPS[field] == 0 or token == 0 or tape[token, TOKEN_KIND] > ESCAPED:
                    return UNSURE
                entry[_STEPS[field]] = step + 1
            entry[_PLACES[field]] = token
            continue
        if step == path[0]:
            n = samples_in(data, tape, token, samples)
            continue
        n = 0
        at = token + 1
        while at < tape[token, TOKEN_NEXT]:
            found, rest = follow(data, tape, at, path, step + 1, steps)
            kind = tape[found, TOKEN_KIND]
            if found == 0 or rest < path[0] or (kind > ESCAPED and kind != LIST):
                return UNSURE
            samples[n] = found if kind <= ESCAPED else last_said(data, tape, found)
            if samples[n] < 0:
                return UNSURE
            n += 1
            at = tape[at, TOKEN_NEXT]
        if n == 0:
            return UNSURE
    return n


@kernel
def find_inside(text: Any, tape: Any, token: Any, joined: Any, field: int, step: Any) -> int:
    """What a path leads to in a text that is JSON, from its token on, beginning with ``step``; or 0."""
    path = joined.paths[field]
    found, rest = follow(text, tape, token, path, step, joined.steps)
    return int(found) if rest == path[0] else 0
