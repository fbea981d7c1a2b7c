"""What was said: the texts of a response field, of messages and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    LIST,
    MAX_TOKENS,
    NO_CONTENT,
    NOT_SAID,
    NULL_RESPONSE,
    OBJECT,
    REFUSED,
    REFUSED_WORDLESS,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.failures import NO_TEXT, UNSURE, failure, said_of_one_error
from relfast_kernels.text.find import begins_with, same_as
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.json_strings import put_text

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
_ERROR = np.frombuffer(b"error", np.uint8)
_PROMPT = np.frombuffer(b"prompt", np.uint8)


@kernel
def is_text(tape: Any, token: int) -> Any:
    return token > 0 and tape[token, TOKEN_KIND] <= ESCAPED


@kernel
def is_empty(tape: Any, token: int) -> Any:
    return tape[token, TOKEN_START] == tape[token, TOKEN_END]


@kernel
def said_in(data: Any, tape: Any, message: int) -> int:
    """The text of a message, or, with `MAX_TOKENS` added, its content that is parts; a failure; or
    `UNSURE`."""
    refusal = member(data, tape, message, _REFUSAL)
    if not is_null(data, tape, refusal) and not (is_text(tape, refusal) and is_empty(tape, refusal)):
        return failure(REFUSED, refusal) if is_text(tape, refusal) else UNSURE
    content = member(data, tape, message, _CONTENT)
    if is_text(tape, content):
        return content
    if is_null(data, tape, content):
        return failure(NO_CONTENT, 0)
    if tape[content, TOKEN_KIND] != LIST:
        return UNSURE
    if tape[content, TOKEN_NEXT] == content + 1:
        return failure(NO_CONTENT, 0)
    refused = _refusal_among(data, tape, content)
    return refused if refused != 0 else text_parts(data, tape, content)


@kernel
def _refusal_among(data: Any, tape: Any, content: int) -> int:
    """The refusal among the parts of a message, 0 for none, or `UNSURE`."""
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        if tape[at, TOKEN_KIND] != OBJECT:
            return UNSURE
        kind = member(data, tape, at, _TYPE)
        if kind != 0 and tape[kind, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if is_text(tape, kind) and is_named(data, tape, kind, _REFUSAL_TYPE):
            words = member(data, tape, at, _REFUSAL)
            if is_null(data, tape, words) or (is_text(tape, words) and is_empty(tape, words)):
                return failure(REFUSED_WORDLESS, 0)
            return failure(REFUSED, words) if is_text(tape, words) else UNSURE
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def text_parts(data: Any, tape: Any, content: int) -> int:
    """`MAX_TOKENS` and a content that is parts, whether they have text or not; or `UNSURE`."""
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        kind = member(data, tape, at, _TYPE)
        if tape[at, TOKEN_KIND] != OBJECT or (kind != 0 and tape[kind, TOKEN_KIND] != STRING):
            return UNSURE
        at = tape[at, TOKEN_NEXT]
    return content + MAX_TOKENS


@kernel
def is_silent(data: Any, tape: Any, said: int) -> bool:
    """Whether a text or parts are empty."""
    if said < MAX_TOKENS:
        return bool(is_empty(tape, said))
    content = said - MAX_TOKENS
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        text = text_of(data, tape, at)
        if text != 0 and not is_empty(tape, text):
            return False
        at = tape[at, TOKEN_NEXT]
    return True


@kernel
def said_in_parts(data: Any, tape: Any, content: int) -> int:
    """`MAX_TOKENS` and a content that is parts, of which those that are text count, or `UNSURE`: there is
    none, or they are empty."""
    if content == 0 or tape[content, TOKEN_KIND] != LIST or _refusal_among(data, tape, content) != 0:
        return UNSURE
    said = text_parts(data, tape, content)
    return UNSURE if said == UNSURE or is_silent(data, tape, said) else said


@kernel
def is_named(data: Any, tape: Any, token: int, name: Any) -> bool:
    """Whether a value is there, and that text."""
    if token == 0:
        return False
    return same_as(data, tape[token, TOKEN_START], tape[token, TOKEN_END], name)


@kernel
def text_of(data: Any, tape: Any, part: int) -> int:
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
        text = text_of(data, tape, at)
        if text:
            to = put_text(data, tape[text, TOKEN_START], tape[text, TOKEN_END], out, to)
        at = tape[at, TOKEN_NEXT]
    return to


@kernel
def last_said(data: Any, tape: Any, messages: int) -> int:
    """The text of the last message of the assistant in a list that is nothing but messages, as `said_in` has
    it, or `UNSURE`."""
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
    return said_in(data, tape, last) if last else failure(NOT_SAID, 0)


@kernel
def samples_in(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many samples a response field has: text, messages, or a list of them, some of which can be
    failures; 0 where it is not there or holds nothing; or `UNSURE`."""
    if response == 0:
        return 0
    if tape[response, TOKEN_KIND] <= ESCAPED:
        samples[0] = response
        return 1
    if is_null(data, tape, response):
        samples[0] = failure(NULL_RESPONSE, 0)
        return 1
    at = response + 1
    stop = tape[response, TOKEN_NEXT]
    if tape[response, TOKEN_KIND] == OBJECT:
        samples[0] = said_of_one_error(data, tape, member(data, tape, response, _ERROR))
        return 1 if samples[0] >= NO_TEXT else UNSURE
    if tape[response, TOKEN_KIND] != LIST:
        return UNSURE
    if at >= stop:
        return 0
    if tape[at, TOKEN_KIND] == OBJECT:
        samples[0] = last_said(data, tape, response)
        return 1 if samples[0] > 0 else UNSURE
    n = 0
    while at < stop:
        kind = tape[at, TOKEN_KIND]
        said = at if kind <= ESCAPED else UNSURE
        if kind == LIST and tape[at, TOKEN_NEXT] > at + 1:
            said = last_said(data, tape, at)
        elif is_null(data, tape, at):
            said = failure(NULL_RESPONSE, 0)
        if said < 0:
            return UNSURE
        samples[n] = said
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n
