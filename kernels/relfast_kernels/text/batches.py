"""Where rows of batches have their responses: OpenAI's, Anthropic's and Gemini's; see `replies`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    LIST,
    LITERAL,
    OBJECT,
    STRING,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.failures import (
    ENDED,
    FILTERED,
    HAS_ENDED,
    NO_CANDIDATE,
    NO_CANDIDATE_NONE,
    NO_CANDIDATES,
    NO_CHOICES,
    NO_CONTENT,
    NO_TEXT,
    UNSURE,
    failure,
    is_false,
    said_of_error,
    said_of_status,
)
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.members import NAME_ERROR, NAME_OUTPUT, NAME_STATUS_CODE
from relfast_kernels.text.messages import is_empty, is_named, is_silent, is_text, said_in, text_of, text_parts

_MESSAGE = np.frombuffer(b"message", np.uint8)
_BODY = np.frombuffer(b"body", np.uint8)
_CHOICES = np.frombuffer(b"choices", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_SUCCEEDED = np.frombuffer(b"succeeded", np.uint8)
_CANDIDATES = np.frombuffer(b"candidates", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)
_PARTS = np.frombuffer(b"parts", np.uint8)
_THOUGHT = np.frombuffer(b"thought", np.uint8)
_FINISH_REASON = np.frombuffer(b"finish_reason", np.uint8)
_CANDIDATE_REASON = np.frombuffer(b"finishReason", np.uint8)
_CONTENT_FILTER = np.frombuffer(b"content_filter", np.uint8)
_INCOMPLETE = np.frombuffer(b"incomplete_details", np.uint8)
_REASON = np.frombuffer(b"reason", np.uint8)


@kernel
def is_list(tape: Any, token: int) -> Any:
    """Whether a value is a list of something."""
    return token > 0 and tape[token, TOKEN_KIND] == LIST and tape[token, TOKEN_NEXT] > token + 1


@kernel
def is_word(data: Any, tape: Any, token: int, first: int) -> Any:
    """Whether a value is ``true``, ``false`` or ``null``, by its first letter."""
    return token > 0 and tape[token, TOKEN_KIND] == LITERAL and data[tape[token, TOKEN_START]] == first


@kernel
def none_of(data: Any, tape: Any, listed: int, said: int, samples: Any) -> int:
    """One for a failure, where a list is empty, null or not there; or `UNSURE`."""
    is_empty_list = listed > 0 and tape[listed, TOKEN_KIND] == LIST and not is_list(tape, listed)
    if not (is_empty_list or is_null(data, tape, listed)):
        return UNSURE
    samples[0] = said
    return 1


@kernel
def _settled(data: Any, tape: Any, said: int, reason: int) -> int:
    """What a choice says that ended for a reason: an empty text is a response, unless the content filter left
    it."""
    if said < 0:
        return UNSURE
    without = said == failure(NO_CONTENT, 0)
    if not without and (said >= NO_TEXT or not is_silent(data, tape, said)):
        return said
    if is_null(data, tape, reason) or (is_text(tape, reason) and is_empty(tape, reason)):
        return said
    if tape[reason, TOKEN_KIND] != STRING:
        return UNSURE
    if is_named(data, tape, reason, _CONTENT_FILTER):
        return failure(FILTERED, 0)
    return failure(ENDED, reason) if without else said


@kernel
def _last_output(data: Any, tape: Any, body: int, samples: Any) -> int:
    """One for the last message in the ``output`` of a body of ``/v1/responses``, or `UNSURE`."""
    output = member(data, tape, body, NAME_OUTPUT) if body != 0 else 0
    if output == 0 or tape[output, TOKEN_KIND] != LIST:
        samples[0] = failure(NO_CHOICES, 0)
        return 1
    last = 0
    at = output + 1
    while at < tape[output, TOKEN_NEXT]:
        kind = member(data, tape, at, _TYPE)
        if kind != 0 and tape[kind, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if kind != 0 and tape[kind, TOKEN_KIND] == STRING and is_named(data, tape, kind, _MESSAGE):
            last = at
        at = tape[at, TOKEN_NEXT]
    details = member(data, tape, body, _INCOMPLETE)
    reason = member(data, tape, details, _REASON) if details != 0 else 0
    said = said_in(data, tape, last) if last else failure(NO_CONTENT, 0)
    samples[0] = _settled(data, tape, said, reason)
    return 1 if samples[0] > 0 else UNSURE


@kernel
def _body_of(data: Any, tape: Any, response: int) -> int:
    """The body of a batch's response, or 0; Fireworks' is the body itself."""
    if response == 0 or tape[response, TOKEN_KIND] != OBJECT:
        return 0
    body = member(data, tape, response, _BODY)
    if body == 0:
        return response
    return body if tape[body, TOKEN_KIND] == OBJECT else 0


@kernel
def failure_of_batch(data: Any, tape: Any, response: int, error: int) -> int:
    """Why the request of a batch's row failed, 0 if it did not, or `UNSURE`."""
    said = said_of_error(data, tape, error)
    body = _body_of(data, tape, response)
    if said == 0 and body != 0:
        said = said_of_error(data, tape, member(data, tape, body, NAME_ERROR))
    if said == 0 and response != 0:
        said = said_of_status(data, tape, member(data, tape, response, NAME_STATUS_CODE))
    return said


@kernel
def choices(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many choices the body of a batch's response has, or `UNSURE`."""
    body = _body_of(data, tape, response)
    listed = member(data, tape, body, _CHOICES) if body != 0 else 0
    if not is_list(tape, listed):
        return _last_output(data, tape, body, samples)
    n = 0
    at = listed + 1
    stop = tape[listed, TOKEN_NEXT]
    while at < stop:
        if tape[at, TOKEN_KIND] != OBJECT:
            return UNSURE
        message = member(data, tape, at, _MESSAGE)
        if message and tape[message, TOKEN_KIND] == OBJECT:
            said = said_in(data, tape, message)
        else:
            said = member(data, tape, at, _TEXT)
            if is_null(data, tape, said):
                said = failure(NO_CONTENT, 0)
            elif not is_text(tape, said):
                return UNSURE
        samples[n] = _settled(data, tape, said, member(data, tape, at, _FINISH_REASON))
        if samples[n] < 0:
            return UNSURE
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n


@kernel
def said_of_result(data: Any, tape: Any, result: int, samples: Any) -> int:
    """One for the message of Anthropic's ``result``, or `UNSURE`."""
    kind = member(data, tape, result, _TYPE) if result else 0
    if kind == 0 or tape[kind, TOKEN_KIND] != STRING:
        return UNSURE
    message = member(data, tape, result, _MESSAGE)
    if is_named(data, tape, kind, _SUCCEEDED) and message != 0 and tape[message, TOKEN_KIND] == OBJECT:
        samples[0] = said_in(data, tape, message)
    else:
        samples[0] = said_of_error(data, tape, member(data, tape, result, NAME_ERROR))
        if samples[0] == 0:
            samples[0] = failure(HAS_ENDED, kind)
    return 1 if samples[0] > 0 else UNSURE


@kernel
def _said_of_candidate(data: Any, tape: Any, candidate: int) -> int:
    """What a candidate of Gemini's says without its thoughts, or why nothing; or `UNSURE`."""
    content = member(data, tape, candidate, _CONTENT)
    parts = member(data, tape, content, _PARTS) if content else 0
    n, last, thinks = 0, 0, False
    if is_list(tape, parts):
        part = parts + 1
        while part < tape[parts, TOKEN_NEXT]:
            thought = member(data, tape, part, _THOUGHT)
            if member(data, tape, part, _TYPE) or tape[part, TOKEN_KIND] != OBJECT:
                return UNSURE
            if not (is_null(data, tape, thought) or tape[thought, TOKEN_KIND] == LITERAL):
                return UNSURE
            if is_word(data, tape, thought, 116):
                thinks = True
            elif is_null(data, tape, thought) or is_false(data, tape, thought):
                text = text_of(data, tape, part)
                if text != 0:
                    n, last = n + 1, text
            else:
                return UNSURE
            part = tape[part, TOKEN_NEXT]
    if n == 1:
        return last
    if n > 1:
        return UNSURE if thinks else text_parts(data, tape, parts)
    reason = member(data, tape, candidate, _CANDIDATE_REASON)
    if is_null(data, tape, reason):
        return failure(NO_CANDIDATE_NONE, 0)
    return failure(NO_CANDIDATE, reason) if is_text(tape, reason) else UNSURE


@kernel
def candidates(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many candidates Gemini's ``response`` has, or `UNSURE`."""
    listed = member(data, tape, response, _CANDIDATES) if response else 0
    if listed == 0 or tape[listed, TOKEN_KIND] != LIST:
        return UNSURE
    n = 0
    at = listed + 1
    while at < tape[listed, TOKEN_NEXT]:
        samples[n] = _said_of_candidate(data, tape, at) if tape[at, TOKEN_KIND] == OBJECT else UNSURE
        if samples[n] < 0:
            return UNSURE
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else none_of(data, tape, listed, failure(NO_CANDIDATES, 0), samples)
