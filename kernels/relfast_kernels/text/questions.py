"""Whether a line may hold a question: gold of REL-B1 may be places in the list that it shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import MAX_TOKENS, TOKEN_END, TOKEN_START
from relfast_kernels.text.failures import NO_TEXT
from relfast_kernels.text.find import begins_with, find_byte
from relfast_kernels.text.json_strings import QUOTE

_QUESTION = np.frombuffer(b'question"', np.uint8)
_INPUT = np.frombuffer(b'input"', np.uint8)


@kernel
def _shows(data: Any, start: int, end: int, any_question: bool) -> bool:
    """Whether there is an angle bracket that a name in an alignment begins with, plain or escaped; or, if
    that matters, a question at all."""
    if find_byte(data, start, end, 62) < end:
        return True
    at = find_byte(data, start, end, 92)
    while at < end:
        if data[at + 1] == 117 and data[at + 2] == 48 and data[at + 3] == 48 and data[at + 4] == 51:
            return True
        if any_question and data[at + 1] == 117:
            return True
        at = find_byte(data, at + 2, end, 92)
    if any_question:
        at = find_byte(data, start, end, QUOTE)
        while at < end:
            if begins_with(data, at + 1, end, _QUESTION) or begins_with(data, at + 1, end, _INPUT):
                return True
            at = find_byte(data, at + 1, end, QUOTE)
    return False


@kernel
def may_show_taxa(
    data: Any, tape: Any, samples: Any, n: int, start: int, end: int, any_question: bool
) -> bool:
    """Whether a line may hold a question with an alignment, or any question: anything like one outside of
    responses."""
    at = start
    for sample in range(n):
        if samples[sample] >= NO_TEXT:
            continue
        token = samples[sample] % MAX_TOKENS
        if tape[token, TOKEN_START] < at or _shows(data, at, tape[token, TOKEN_START], any_question):
            return True
        at = tape[token, TOKEN_END]
    return _shows(data, at, end, any_question)
