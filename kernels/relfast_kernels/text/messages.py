"""What was said: the texts of a response field, of messages and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    LIST,
    MAX_TOKENS,
    OBJECT,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import begins_with, same_as
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.json_strings import put_text

UNSURE = -1
"""Instead of a text: only the exact way knows."""

_REFUSAL_TYPE = np.frombuffer(b"refusal", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_OUTPUT_TEXT = np.frombuffer(b"output_text", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)
_REFUSAL = np.frombuffer(b"refusal", np.uint8)
_USER = np.frombuffer(b"user", np.uint8)
_HUMAN = np.frombuffer(b"human", np.uint8)
_PROMPT = np.frombuffer(b"prompt", np.uint8)


@kernel
def is_text(tape: Any, token: int) -> Any:
    return token > 0 and tape[token, TOKEN_KIND] <= ESCAPED


@kernel
def is_empty(tape: Any, token: int) -> Any:
    return tape[token, TOKEN_START] == tape[token, TOKEN_END]


@kernel
def said_in(data: Any, tape: Any, message: int) -> int:
    """The text of a message, or, with `MAX_TOKENS` added, its content that is parts; or `UNSURE`."""
    refusal = member(data, tape, message, _REFUSAL)
    if not is_null(data, tape, refusal) and not (is_text(tape, refusal) and is_empty(tape, refusal)):
        return UNSURE
    content = member(data, tape, message, _CONTENT)
    if is_text(tape, content):
        return content
    return said_in_parts(data, tape, content)


@kernel
def said_in_parts(data: Any, tape: Any, content: int) -> int:
    """`MAX_TOKENS` and a content that is parts, of which those that are text count, or `UNSURE`."""
    if content == 0 or tape[content, TOKEN_KIND] != LIST:
        return UNSURE
    said = False
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        kind = member(data, tape, at, _TYPE)
        if tape[at, TOKEN_KIND] != OBJECT or (kind != 0 and tape[kind, TOKEN_KIND] != STRING):
            return UNSURE
        text = _text_of(data, tape, at)
        if text == 0 and is_named(data, tape, kind, _REFUSAL_TYPE):
            return UNSURE
        said |= text != 0 and not is_empty(tape, text)
        at = tape[at, TOKEN_NEXT]
    # no text may be one that a content filter has left
    return content + MAX_TOKENS if said else UNSURE


@kernel
def is_named(data: Any, tape: Any, token: int, name: Any) -> bool:
    """Whether a value is there, and that text."""
    if token == 0:
        return False
    return same_as(data, tape[token, TOKEN_START], tape[token, TOKEN_END], name)


@kernel
def _text_of(data: Any, tape: Any, part: int) -> int:
    """The text of a part of a message, or 0."""
    kind, text = member(data, tape, part, _TYPE), member(data, tape, part, _TEXT)
    counts = kind == 0 or is_named(data, tape, kind, _TEXT) or is_named(data, tape, kind, _OUTPUT_TEXT)
    return text if counts and is_text(tape, text) else 0


@kernel
def last_asked(data: Any, tape: Any, prompt: int) -> int:
    """What a prompt asks: its text, or that of the last message of the user, with `MAX_TOKENS` added where
    that is parts; or `UNSURE`."""
    if is_text(tape, prompt):
        return prompt
    if prompt == 0 or tape[prompt, TOKEN_KIND] != LIST:
        return UNSURE
    last = 0
    at = prompt + 1
    while at < tape[prompt, TOKEN_NEXT]:
        role = member(data, tape, at, _ROLE)
        if role and tape[role, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if is_text(tape, role):
            start, end = tape[role, TOKEN_START], tape[role, TOKEN_END]
            n = end - start
            if (n == len(_USER) and begins_with(data, start, end, _USER)) or (
                n == len(_HUMAN) and begins_with(data, start, end, _HUMAN)
            ):
                last = at
        at = tape[at, TOKEN_NEXT]
    if last == 0:
        return UNSURE
    content = member(data, tape, last, _CONTENT)
    if content == 0:
        content = member(data, tape, last, _PROMPT)
    return content if is_text(tape, content) else said_in_parts(data, tape, content)


@kernel
def put_parts(data: Any, tape: Any, content: int, out: Any, to: int) -> int:
    """Write the texts of the parts of a message's content, one after the other; where they end.

    Up to `WIDTH` bytes after the end are overwritten.
    """
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        text = _text_of(data, tape, at)
        if text:
            to = put_text(data, tape[text, TOKEN_START], tape[text, TOKEN_END], out, to)
        at = tape[at, TOKEN_NEXT]
    return to


@kernel
def last_said(data: Any, tape: Any, messages: int) -> int:
    """The text of the last message of the assistant in a list that is nothing but messages, or `UNSURE`."""
    at = messages + 1
    stop = tape[messages, TOKEN_NEXT]
    last = 0
    while at < stop:
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
    if response == 0:
        return UNSURE
    if tape[response, TOKEN_KIND] <= ESCAPED:
        samples[0] = response
        return 1
    at = response + 1
    stop = tape[response, TOKEN_NEXT]
    if tape[response, TOKEN_KIND] != LIST or at >= stop:
        return UNSURE
    if tape[at, TOKEN_KIND] == OBJECT:
        samples[0] = last_said(data, tape, response)
        return 1 if samples[0] > 0 else UNSURE
    n = 0
    while at < stop:
        kind = tape[at, TOKEN_KIND]
        said = at if kind <= ESCAPED else last_said(data, tape, at) if kind == LIST else UNSURE
        if said < 0:
            return UNSURE
        samples[n] = said
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n
