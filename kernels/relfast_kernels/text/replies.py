"""Where a row of each dialect has its responses: their tokens, or that only the exact way knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    INTEGER,
    LIST,
    LITERAL,
    MAX_TOKENS,
    OBJECT,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import begins_with
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.members import NAME_ERROR, NAME_OUTPUT, NAME_STATUS_CODE
from relfast_kernels.text.messages import UNSURE, is_empty, is_named, is_text, said_in, said_in_parts

_MESSAGE = np.frombuffer(b"message", np.uint8)
_BODY = np.frombuffer(b"body", np.uint8)
_CHOICES = np.frombuffer(b"choices", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_COMPLETION = np.frombuffer(b"completion", np.uint8)
_COMPLETIONS = np.frombuffer(b"completions", np.uint8)
_SUCCESS = np.frombuffer(b"success", np.uint8)
_SUCCEEDED = np.frombuffer(b"succeeded", np.uint8)
_CANDIDATES = np.frombuffer(b"candidates", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)
_PARTS = np.frombuffer(b"parts", np.uint8)
_THOUGHT = np.frombuffer(b"thought", np.uint8)
_ROOT_REPLY = np.frombuffer(b"root_reply", np.uint8)
_REWARDS = np.frombuffer(b"rewards", np.uint8)
_NODES = np.frombuffer(b"nodes", np.uint8)
_SAMPLED = np.frombuffer(b"sampled", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_OK = np.frombuffer(b"ok", np.uint8)
_ATTACHED = np.frombuffer(b"attachment://", np.uint8)
_ESCAPED_LETTER = np.frombuffer(b"\\u00", np.uint8)


@kernel
def is_success(data: Any, tape: Any, token: int) -> Any:
    """Whether a status code says that nothing failed: there is none, or it is 2xx."""
    if is_null(data, tape, token):
        return True
    start = tape[token, TOKEN_START]
    return tape[token, TOKEN_KIND] == INTEGER and tape[token, TOKEN_END] - start == 3 and data[start] == 50


@kernel
def _is_list(tape: Any, token: int) -> Any:
    """Whether a value is a list of something."""
    return token > 0 and tape[token, TOKEN_KIND] == LIST and tape[token, TOKEN_NEXT] > token + 1


@kernel
def _is_word(data: Any, tape: Any, token: int, first: int) -> Any:
    """Whether a value is ``true``, ``false`` or ``null``, by its first letter."""
    return token > 0 and tape[token, TOKEN_KIND] == LITERAL and data[tape[token, TOKEN_START]] == first


@kernel
def is_attached(data: Any, tape: Any, token: int) -> Any:
    """Whether a text stands elsewhere in the log, or may: its first letter is escaped."""
    if not is_text(tape, token):
        return False
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    return begins_with(data, start, end, _ATTACHED) or begins_with(data, start, end, _ESCAPED_LETTER)


@kernel
def flat(tape: Any, resps: int, samples: Any) -> int:
    """How many texts stand in lm-eval's ``resps``, a list of texts and of lists of texts; or `UNSURE`."""
    if resps == 0 or tape[resps, TOKEN_KIND] != LIST:
        return UNSURE
    n = 0
    at = resps + 1
    stop = tape[resps, TOKEN_NEXT]
    while at < stop:
        kind = tape[at, TOKEN_KIND]
        if kind <= ESCAPED:
            samples[n] = at
            n += 1
        elif kind != LIST:
            return UNSURE
        # a list's items come right after it
        at += 1
    # one level is undone, no more
    at = resps + 1
    while at < stop:
        if tape[at, TOKEN_KIND] == LIST:
            item = at + 1
            while item < tape[at, TOKEN_NEXT]:
                if tape[item, TOKEN_KIND] == LIST:
                    return UNSURE
                item += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else UNSURE


@kernel
def _has_said(tape: Any, said: int) -> bool:
    """Whether there is a text, and it is not empty: that may be what a content filter left."""
    return said >= MAX_TOKENS or (is_text(tape, said) and not is_empty(tape, said))


@kernel
def _last_output(data: Any, tape: Any, body: int, samples: Any) -> int:
    """One for the last message in the ``output`` of a body of ``/v1/responses``, or `UNSURE`."""
    output = member(data, tape, body, NAME_OUTPUT)
    if output == 0 or tape[output, TOKEN_KIND] != LIST:
        return UNSURE
    last = 0
    at = output + 1
    while at < tape[output, TOKEN_NEXT]:
        kind = member(data, tape, at, _TYPE)
        if kind != 0 and tape[kind, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if kind != 0 and tape[kind, TOKEN_KIND] == STRING and is_named(data, tape, kind, _MESSAGE):
            last = at
        at = tape[at, TOKEN_NEXT]
    samples[0] = said_in(data, tape, last) if last else UNSURE
    return 1 if _has_said(tape, samples[0]) else UNSURE


@kernel
def choices(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many choices the body of a batch's response has, each with a text; or `UNSURE`."""
    if response == 0 or not is_success(data, tape, member(data, tape, response, NAME_STATUS_CODE)):
        return UNSURE
    body = member(data, tape, response, _BODY)
    if body == 0 and member(data, tape, response, _CHOICES):
        body = response  # Fireworks' is the body itself
    if body == 0 or not is_null(data, tape, member(data, tape, body, NAME_ERROR)):
        return UNSURE
    listed = member(data, tape, body, _CHOICES)
    if listed == 0 or tape[listed, TOKEN_KIND] != LIST or tape[listed, TOKEN_NEXT] == listed + 1:
        return _last_output(data, tape, body, samples)
    n = 0
    at = listed + 1
    stop = tape[listed, TOKEN_NEXT]
    while at < stop:
        message = member(data, tape, at, _MESSAGE)
        if message and tape[message, TOKEN_KIND] == OBJECT:
            said = said_in(data, tape, message)
        else:
            said = member(data, tape, at, _TEXT)
        if not _has_said(tape, said):
            return UNSURE
        samples[n] = said
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else UNSURE


@kernel
def texts_of(data: Any, tape: Any, items: int, samples: Any) -> int:
    """How many objects a list has, each with a ``text`` that is not empty (which may be one that was
    aborted); or `UNSURE`. vLLM's ``outputs`` and HELM's ``completions`` are such."""
    if not _is_list(tape, items):
        return UNSURE
    n = 0
    at = items + 1
    while at < tape[items, TOKEN_NEXT]:
        text = member(data, tape, at, _TEXT)
        if not is_text(tape, text) or is_empty(tape, text):
            return UNSURE
        samples[n] = text
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n


@kernel
def said_of_state(data: Any, tape: Any, result: int, samples: Any) -> int:
    """How many completions HELM's ``result`` has, or `UNSURE`."""
    if result == 0 or _is_word(data, tape, member(data, tape, result, _SUCCESS), 102):
        return UNSURE
    return texts_of(data, tape, member(data, tape, result, _COMPLETIONS), samples)


@kernel
def said_of_log(data: Any, tape: Any, output: int, samples: Any) -> int:
    """One for the completion of Inspect's ``output``, or `UNSURE`."""
    if output == 0 or not is_null(data, tape, member(data, tape, output, NAME_ERROR)):
        return UNSURE
    listed = member(data, tape, output, _CHOICES)
    if not _is_list(tape, listed):
        return UNSURE
    message = member(data, tape, listed + 1, _MESSAGE)
    if message == 0 or tape[message, TOKEN_KIND] != OBJECT:
        return UNSURE
    said = said_in(data, tape, message)
    if not _has_said(tape, said):
        return UNSURE
    completion = member(data, tape, output, _COMPLETION)
    if is_text(tape, completion):
        said = completion
    if said < MAX_TOKENS and is_attached(data, tape, said):
        return UNSURE
    samples[0] = said
    return 1


@kernel
def said_of_result(data: Any, tape: Any, result: int, samples: Any) -> int:
    """One for the message of Anthropic's ``result``, or `UNSURE`."""
    kind = member(data, tape, result, _TYPE) if result else 0
    if kind == 0 or tape[kind, TOKEN_KIND] != STRING or not is_named(data, tape, kind, _SUCCEEDED):
        return UNSURE
    message = member(data, tape, result, _MESSAGE)
    if message == 0 or tape[message, TOKEN_KIND] != OBJECT:
        return UNSURE
    samples[0] = said_in(data, tape, message)
    return 1 if samples[0] > 0 else UNSURE


@kernel
def candidates(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many candidates Gemini's ``response`` has, each with a text and no thoughts; or `UNSURE`."""
    listed = member(data, tape, response, _CANDIDATES) if response else 0
    if not _is_list(tape, listed):
        return UNSURE
    n = 0
    at = listed + 1
    while at < tape[listed, TOKEN_NEXT]:
        content = member(data, tape, at, _CONTENT)
        parts = member(data, tape, content, _PARTS) if content else 0
        if not _is_list(tape, parts):
            return UNSURE
        part = parts + 1
        while part < tape[parts, TOKEN_NEXT]:
            if member(data, tape, part, _THOUGHT) or member(data, tape, part, _TYPE):
                return UNSURE
            part = tape[part, TOKEN_NEXT]
        samples[n] = said_in_parts(data, tape, parts)
        if samples[n] < 0:
            return UNSURE
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n


@kernel
def _is_rewarded(data: Any, tape: Any, trace: int) -> int:
    """Whether a trace has rewards, or `UNSURE`."""
    rewards = member(data, tape, trace, _REWARDS)
    if is_null(data, tape, rewards):
        return 0
    kind = tape[rewards, TOKEN_KIND]
    if kind != OBJECT and kind != LIST:
        return UNSURE
    return 1 if tape[rewards, TOKEN_NEXT] > rewards + 1 else 0


@kernel
def _reply(data: Any, tape: Any, trace: int) -> int:
    """What a trace of verifiers says in the end: a token, or `UNSURE`."""
    if tape[trace, TOKEN_KIND] != OBJECT or _is_word(data, tape, member(data, tape, trace, _OK), 102):
        return UNSURE
    reply = member(data, tape, trace, _ROOT_REPLY)
    if is_text(tape, reply):
        return reply
    nodes = member(data, tape, trace, _NODES)
    if not _is_list(tape, nodes):
        return UNSURE
    last = 0
    at = nodes + 1
    while at < tape[nodes, TOKEN_NEXT]:
        sampled = member(data, tape, at, _SAMPLED)
        if not (is_null(data, tape, sampled) or tape[sampled, TOKEN_KIND] == LITERAL):
            return UNSURE
        if _is_word(data, tape, sampled, 116):
            message = member(data, tape, at, _MESSAGE)
            role = member(data, tape, message, _ROLE) if message else 0
            if role and tape[role, TOKEN_KIND] == ESCAPED:
                return UNSURE
            if is_text(tape, role) and is_named(data, tape, role, _ASSISTANT):
                last = message
        at = tape[at, TOKEN_NEXT]
    return said_in(data, tape, last) if last else UNSURE


@kernel
def replies(data: Any, tape: Any, nodes: int, traces: int, samples: Any) -> int:
    """How many traces a row of verifiers has, each with a reply, those with rewards if there are any; or
    `UNSURE`."""
    if nodes and tape[nodes, TOKEN_KIND] == LIST:
        samples[0] = _reply(data, tape, 0)
        return 1 if samples[0] > 0 else UNSURE
    if not _is_list(tape, traces):
        return UNSURE
    n_rewarded = 0
    at = traces + 1
    while at < tape[traces, TOKEN_NEXT]:
        rewarded = _is_rewarded(data, tape, at) if tape[at, TOKEN_KIND] == OBJECT else UNSURE
        if rewarded == UNSURE:
            return UNSURE
        n_rewarded += rewarded
        at = tape[at, TOKEN_NEXT]
    n = 0
    at = traces + 1
    while at < tape[traces, TOKEN_NEXT]:
        if n_rewarded == 0 or _is_rewarded(data, tape, at) == 1:
            samples[n] = _reply(data, tape, at)
            if samples[n] < 0:
                return UNSURE
            n += 1
        at = tape[at, TOKEN_NEXT]
    return n
