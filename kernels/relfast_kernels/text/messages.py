"""What was said: the texts of a response field, of messages and their parts.

Whatever says of a response that it is not there, and a text in several parts, is left to Python (`UNSURE`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    LIST,
    OBJECT,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import same_as
from relfast_kernels.text.json_scan import is_null, member

UNSURE: Final = -1
"""Instead of a text, or of a number of texts: only Python knows."""

_REFUSAL = np.frombuffer(b"refusal", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_OUTPUT_TEXT = np.frombuffer(b"output_text", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)


@kernel
def is_text(tape: Any, token: int) -> Any:
    return token > 0 and tape[token, TOKEN_KIND] <= ESCAPED


@kernel
def is_empty(tape: Any, token: int) -> Any:
    return tape[token, TOKEN_START] == tape[token, TOKEN_END]


@kernel
def said_in(data: Any, tape: Any, message: int) -> int:
    """The text of a message, or `UNSURE`."""
    if not is_null(data, tape, member(data, tape, message, _REFUSAL)):
        return UNSURE
    content = member(data, tape, message, _CONTENT)
    if is_text(tape, content):
        return content
    return UNSURE if content == 0 or tape[content, TOKEN_KIND] != LIST else _part_of(data, tape, content)


@kernel
def _part_of(data: Any, tape: Any, content: int) -> int:
    """The text of a content that is parts, of which one is text; or `UNSURE`."""
    found = UNSURE
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        if tape[at, TOKEN_KIND] != OBJECT:
            return UNSURE
        kind, text = member(data, tape, at, _TYPE), member(data, tape, at, _TEXT)
        if kind != 0:
            if tape[kind, TOKEN_KIND] != STRING:
                return UNSURE
            start, end = tape[kind, TOKEN_START], tape[kind, TOKEN_END]
            if same_as(data, start, end, _REFUSAL):
                return UNSURE
            if not same_as(data, start, end, _TEXT) and not same_as(data, start, end, _OUTPUT_TEXT):
                text = 0
        if is_text(tape, text):
            if found != UNSURE:
                return UNSURE
            found = text
        at = tape[at, TOKEN_NEXT]
    return found


@kernel
def last_said(data: Any, tape: Any, messages: int) -> int:
    """The text of the last message of the assistant in a list that is nothing but messages, or `UNSURE`."""
    last = 0
    at = messages + 1
    while at < tape[messages, TOKEN_NEXT]:
        role = member(data, tape, at, _ROLE)
        if role == 0 or tape[role, TOKEN_KIND] != STRING:
            return UNSURE
        if same_as(data, tape[role, TOKEN_START], tape[role, TOKEN_END], _ASSISTANT):
            last = at
        at = tape[at, TOKEN_NEXT]
    return said_in(data, tape, last) if last else UNSURE


@kernel
def samples_in(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many samples a response field has: text, messages, or a list of them; or `UNSURE`."""
    if is_text(tape, response):
        samples[0] = response
        return 1
    if response == 0 or tape[response, TOKEN_KIND] != LIST:
        return UNSURE
    at = response + 1
    if at < tape[response, TOKEN_NEXT] and tape[at, TOKEN_KIND] == OBJECT:
        samples[0] = last_said(data, tape, response)
        return 1 if samples[0] > 0 else UNSURE
    n = 0
    while at < tape[response, TOKEN_NEXT]:
        said = at
        if tape[at, TOKEN_KIND] > ESCAPED:
            is_list = tape[at, TOKEN_KIND] == LIST and tape[at, TOKEN_NEXT] > at + 1
            said = last_said(data, tape, at) if is_list else UNSURE
        if said < 0:
            return UNSURE
        samples[n] = said
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else UNSURE
