"""Where a row of each tool has its responses, why there is none, or that only the exact way knows.

Samples are those of `messages.samples_in`; a row without any has one that says so. Of batches: `batches`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    LIST,
    LITERAL,
    MAX_TOKENS,
    OBJECT,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.batches import is_list, is_word, none_of
from relfast_kernels.text.failures import (
    ABORTED,
    AS_SAID,
    FILTERED,
    IS_NULL,
    NO_COMPLETIONS,
    NO_CONTENT,
    NO_LOG,
    NO_LOG_LIMIT,
    NO_OUTPUTS,
    NO_RESPS,
    NO_TEXT,
    NO_TRACE,
    NOT_SAMPLED,
    NOT_SUCCESSFUL,
    UNSURE,
    failure,
    is_false,
    said_of_error,
    said_of_one_error,
)
from relfast_kernels.text.find import begins_with
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.members import NAME_ERROR
from relfast_kernels.text.messages import is_empty, is_named, is_silent, is_text, said_in

_MESSAGE = np.frombuffer(b"message", np.uint8)
_CHOICES = np.frombuffer(b"choices", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_COMPLETION = np.frombuffer(b"completion", np.uint8)
_COMPLETIONS = np.frombuffer(b"completions", np.uint8)
_SUCCESS = np.frombuffer(b"success", np.uint8)
_ROOT_REPLY = np.frombuffer(b"root_reply", np.uint8)
_REWARDS = np.frombuffer(b"rewards", np.uint8)
_NODES = np.frombuffer(b"nodes", np.uint8)
_SAMPLED = np.frombuffer(b"sampled", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_OK = np.frombuffer(b"ok", np.uint8)
_ATTACHED = np.frombuffer(b"attachment://", np.uint8)
_FINISH_REASON = np.frombuffer(b"finish_reason", np.uint8)
_STOP_REASON = np.frombuffer(b"stop_reason", np.uint8)
_CONTENT_FILTER = np.frombuffer(b"content_filter", np.uint8)
_ABORT = np.frombuffer(b"abort", np.uint8)
_LIMIT = np.frombuffer(b"limit", np.uint8)
_ERRORS = np.frombuffer(b"errors", np.uint8)
_ESCAPED_LETTER = np.frombuffer(b"\\u00", np.uint8)


@kernel
def is_attached(data: Any, tape: Any, token: int) -> Any:
    """Whether a text stands elsewhere in the log, or may: its first letter is escaped."""
    if not is_text(tape, token):
        return False
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    return begins_with(data, start, end, _ATTACHED) or begins_with(data, start, end, _ESCAPED_LETTER)


@kernel
def flat(data: Any, tape: Any, resps: int, filtered: int, samples: Any) -> int:
    """How many texts stand in lm-eval's ``resps``, a list of texts and of lists of texts; or `UNSURE`."""
    if not is_null(data, tape, resps) and tape[resps, TOKEN_KIND] != LIST:
        return UNSURE
    n = 0
    at = resps + 1
    stop = tape[resps, TOKEN_NEXT] if resps != 0 else 0
    while at < stop:
        kind = tape[at, TOKEN_KIND]
        if kind <= ESCAPED or is_null(data, tape, at):
            samples[n] = at if kind <= ESCAPED else failure(IS_NULL, 0)
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
    if n > 0:
        return n
    return none_of(data, tape, filtered, failure(NO_RESPS, 0), samples)


@kernel
def outputs_of(data: Any, tape: Any, items: int, samples: Any) -> int:
    """How many of vLLM's outputs there are, each with a ``text``, one of which may have been aborted; or
    `UNSURE`."""
    if items == 0 or tape[items, TOKEN_KIND] != LIST:
        return UNSURE
    n = 0
    at = items + 1
    while at < tape[items, TOKEN_NEXT]:
        text = member(data, tape, at, _TEXT)
        null = is_null(data, tape, text)
        if text == 0 or not (null or is_text(tape, text)):
            return UNSURE
        samples[n] = failure(IS_NULL, 0) if null else text
        if null or is_empty(tape, text):
            reason = member(data, tape, at, _FINISH_REASON)
            if is_text(tape, reason):
                if tape[reason, TOKEN_KIND] == ESCAPED:
                    return UNSURE
                if is_named(data, tape, reason, _ABORT) or is_named(data, tape, reason, NAME_ERROR):
                    samples[n] = failure(ABORTED, reason)
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else none_of(data, tape, items, failure(NO_OUTPUTS, 0), samples)


@kernel
def said_of_state(data: Any, tape: Any, result: int, samples: Any) -> int:
    """How many completions HELM's ``result`` has, or `UNSURE`."""
    if result == 0 or tape[result, TOKEN_KIND] != OBJECT:
        return UNSURE
    if is_false(data, tape, member(data, tape, result, _SUCCESS)):
        error = member(data, tape, result, NAME_ERROR)
        samples[0] = failure(NOT_SUCCESSFUL, 0)
        if is_text(tape, error) and not is_empty(tape, error):
            samples[0] = failure(AS_SAID, error)
        elif not (is_null(data, tape, error) or is_text(tape, error)):
            return UNSURE
        return 1
    items = member(data, tape, result, _COMPLETIONS)
    if not is_list(tape, items):
        return none_of(data, tape, items, failure(NO_COMPLETIONS, 0), samples)
    n = 0
    at = items + 1
    while at < tape[items, TOKEN_NEXT]:
        text = member(data, tape, at, _TEXT)
        null = is_null(data, tape, text)
        if tape[at, TOKEN_KIND] != OBJECT or not (null or is_text(tape, text)):
            return UNSURE
        samples[n] = failure(IS_NULL, 0) if null else text
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n


@kernel
def said_of_log(data: Any, tape: Any, output: int, samples: Any) -> int:
    """One for the completion of Inspect's ``output``, or `UNSURE`."""
    if output == 0 or tape[output, TOKEN_KIND] != OBJECT:
        return UNSURE
    said = said_of_error(data, tape, member(data, tape, output, NAME_ERROR))
    listed = member(data, tape, output, _CHOICES)
    if said == 0 and not is_list(tape, listed):
        said = _limited(data, tape)
    if said != 0:
        samples[0] = said
        return 1 if said > 0 else UNSURE
    message = member(data, tape, listed + 1, _MESSAGE)
    if tape[listed + 1, TOKEN_KIND] != OBJECT:
        return UNSURE
    said = failure(NO_CONTENT, 0)
    if message != 0 and tape[message, TOKEN_KIND] == OBJECT:
        said = said_in(data, tape, message)
    if said < 0:
        return UNSURE
    if said == failure(NO_CONTENT, 0) or (said < NO_TEXT and is_silent(data, tape, said)):
        reason = member(data, tape, listed + 1, _STOP_REASON)
        if is_text(tape, reason) and tape[reason, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if is_text(tape, reason) and is_named(data, tape, reason, _CONTENT_FILTER):
            said = failure(FILTERED, 0)
    if said < NO_TEXT:
        completion = member(data, tape, output, _COMPLETION)
        if is_text(tape, completion):
            said = completion
        if said < MAX_TOKENS and is_attached(data, tape, said):
            return UNSURE
    samples[0] = said
    return 1


@kernel
def _limited(data: Any, tape: Any) -> int:
    """Why Inspect's output has no choices: a failure, or `UNSURE`."""
    limit = member(data, tape, 0, _LIMIT)
    kind = member(data, tape, limit, _TYPE) if limit != 0 else 0
    if is_null(data, tape, kind) or (is_text(tape, kind) and is_empty(tape, kind)):
        return failure(NO_LOG, 0)
    return failure(NO_LOG_LIMIT, kind) if is_text(tape, kind) else UNSURE


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
    if tape[trace, TOKEN_KIND] != OBJECT:
        return UNSURE
    failed = _ended(data, tape, trace)
    if failed != 0:
        return failed
    reply = member(data, tape, trace, _ROOT_REPLY)
    if is_text(tape, reply):
        return reply
    nodes = member(data, tape, trace, _NODES)
    if not is_list(tape, nodes):
        return failure(NOT_SAMPLED, 0)
    last = 0
    at = nodes + 1
    while at < tape[nodes, TOKEN_NEXT]:
        sampled = member(data, tape, at, _SAMPLED)
        if not (is_null(data, tape, sampled) or tape[sampled, TOKEN_KIND] == LITERAL):
            return UNSURE
        if is_word(data, tape, sampled, 116):
            message = member(data, tape, at, _MESSAGE)
            role = member(data, tape, message, _ROLE) if message else 0
            if role and tape[role, TOKEN_KIND] == ESCAPED:
                return UNSURE
            if is_text(tape, role) and is_named(data, tape, role, _ASSISTANT):
                last = message
        at = tape[at, TOKEN_NEXT]
    return said_in(data, tape, last) if last else failure(NOT_SAMPLED, 0)


@kernel
def _ended(data: Any, tape: Any, trace: int) -> int:
    """What ended a trace that is not ok: a failure, 0 for nothing, or `UNSURE`."""
    errors = member(data, tape, trace, _ERRORS)
    if not is_false(data, tape, member(data, tape, trace, _OK)) or not is_list(tape, errors):
        return 0
    last = 0
    at = errors + 1
    while at < tape[errors, TOKEN_NEXT]:
        last = at
        at = tape[at, TOKEN_NEXT]
    return said_of_one_error(data, tape, last)


@kernel
def replies(data: Any, tape: Any, nodes: int, traces: int, samples: Any) -> int:
    """How many traces a row of verifiers has, each with a reply, those with rewards if there are any; or
    `UNSURE`."""
    if nodes and tape[nodes, TOKEN_KIND] == LIST:
        samples[0] = _reply(data, tape, 0)
        return 1 if samples[0] > 0 else UNSURE
    if not is_list(tape, traces):
        failed = _ended(data, tape, 0)
        if failed == UNSURE or traces == 0 or tape[traces, TOKEN_KIND] != LIST:
            return UNSURE
        samples[0] = failed if failed != 0 else failure(NO_TRACE, 0)
        return 1
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
