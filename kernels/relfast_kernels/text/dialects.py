"""Which tokens of a line are id, task, gold and responses of a record, in dialects of `relfast.formats`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    AUTO,
    ESCAPED,
    GOLD_MEMBERS,
    INTEGER,
    LIST,
    LITERAL,
    LM_EVAL,
    MAPPED_FIELDS,
    MAX_TOKENS,
    NATIVE,
    OBJECT,
    OPENAI_BATCH,
    SEQBENCH,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    VERL,
)
from relfast_kernels.text.digest import digest
from relfast_kernels.text.find import same_as, same_bytes
from relfast_kernels.text.json_scan import is_null, member, put_text
from relfast_kernels.text.paths import follow

UNSURE, LEFT_OUT = -1, -2
"""Instead of a number of responses: only the exact way knows; the row is of a filter that is not scored."""

ENTRY_ID, ENTRY_TASK, ENTRY_ANSWER, ENTRY_QUESTION, ENTRY_INPUT, ENTRY_SOURCE, ENTRY_DIALECT = range(7)
ENTRY_SIZE: Final = 7
"""Tokens of an entry, 0 for what it does not have: the question only where it is mapped, verl's prompt and
data source; and the row's dialect."""

(
    _ID,
    _TASK,
    _ANSWER,
    _RESPONSE,
    _ERROR,
    _STATUS_CODE,
    _CUSTOM_ID,
    _DOC,
    _RESPS,
    _FILTERED_RESPS,
    _FILTER,
    _OUTPUT,
    _GTS,
    _INPUT,
    _DATA_SOURCE,
    _DOC_ID,
    _INSTANCE_ID,
    _LLM_SOLUTION,
    _QUESTION,
    _CONTEXT,
    _COMPLETION,
    _STRUCTURAL_DETAILS,
    _INSTANCE_METADATA,
    _COMPLEXITY_PARAMETERS,
    _OTHERS,
) = range(25)
N_FIELDS: Final = 25
"""Fields of a row by which dialects are known, or that they read. The last stands for all by which dialects
that are not read here are known."""

_OF_SEQBENCH = (_COMPLETION, _STRUCTURAL_DETAILS, _INSTANCE_METADATA, _COMPLEXITY_PARAMETERS)
_TO_RESPONSE = len(MAPPED_FIELDS) - 1
_PLACES = (ENTRY_ID, ENTRY_TASK, ENTRY_QUESTION, ENTRY_ANSWER)
"""Where an entry has the fields of `MAPPED_FIELDS` but the last."""
_IN_DIGEST = np.zeros(N_FIELDS, np.bool_)
"""Whether a record without its id and response can depend on a field."""
for _field in (_TASK, _ANSWER, _DOC, _GTS, _INPUT, _DATA_SOURCE, _QUESTION, _CONTEXT, *_OF_SEQBENCH):
    _IN_DIGEST[_field] = True
assert int(_IN_DIGEST.sum()) == len(GOLD_MEMBERS) + 4

_OTHER_NAMES = np.frombuffer(
    b"epoch|example_id|nodes|traces|outputs|advantage|step|model_response|instance|predicted_text|prediction|"
    b"origin_prompt|",
    np.uint8,
)
"""Keys without one of which a row is of none of the dialects that `relfast.formats` has after ``native``."""

_NAME_ID = np.frombuffer(b"id", np.uint8)
_NAME_TASK = np.frombuffer(b"task", np.uint8)
_NAME_ANSWER = np.frombuffer(b"answer", np.uint8)
_NAME_RESPONSE = np.frombuffer(b"response", np.uint8)
_NAME_ERROR = np.frombuffer(b"error", np.uint8)
_NAME_STATUS_CODE = np.frombuffer(b"status_code", np.uint8)
_NAME_CUSTOM_ID = np.frombuffer(b"custom_id", np.uint8)
_NAME_DOC = np.frombuffer(b"doc", np.uint8)
_NAME_RESPS = np.frombuffer(b"resps", np.uint8)
_NAME_FILTERED_RESPS = np.frombuffer(b"filtered_resps", np.uint8)
_NAME_FILTER = np.frombuffer(b"filter", np.uint8)
_NAME_OUTPUT = np.frombuffer(b"output", np.uint8)
_NAME_GTS = np.frombuffer(b"gts", np.uint8)
_NAME_INPUT = np.frombuffer(b"input", np.uint8)
_NAME_DATA_SOURCE = np.frombuffer(b"data_source", np.uint8)
_NAME_DOC_ID = np.frombuffer(b"doc_id", np.uint8)
_NAME_INSTANCE_ID = np.frombuffer(b"instance_id", np.uint8)
_NAME_LLM_SOLUTION = np.frombuffer(b"llm_solution", np.uint8)
_NAME_QUESTION = np.frombuffer(b"question", np.uint8)
_NAME_CONTEXT = np.frombuffer(b"context", np.uint8)
_NAME_COMPLETION = np.frombuffer(b"completion", np.uint8)
_NAME_STRUCTURAL_DETAILS = np.frombuffer(b"structural_details", np.uint8)
_NAME_INSTANCE_METADATA = np.frombuffer(b"instance_metadata", np.uint8)
_NAME_COMPLEXITY_PARAMETERS = np.frombuffer(b"complexity_parameters", np.uint8)
_MESSAGE_TYPE = np.frombuffer(b"message", np.uint8)
_REFUSAL_TYPE = np.frombuffer(b"refusal", np.uint8)
_BODY = np.frombuffer(b"body", np.uint8)
_CHOICES = np.frombuffer(b"choices", np.uint8)
_MESSAGE = np.frombuffer(b"message", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_OUTPUT_TEXT = np.frombuffer(b"output_text", np.uint8)
_FINISH_REASON = np.frombuffer(b"finish_reason", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)
_REFUSAL = np.frombuffer(b"refusal", np.uint8)


@kernel
def _number_of(data: Any, start: int, end: int) -> int:
    """Number of a field, or -1."""
    length = end - start
    first = data[start] if length > 0 else 0
    found = -1
    if length == 2:
        found = _ID if same_as(data, start, end, _NAME_ID) else -1
    elif length == 3:
        if first == 100:
            found = _DOC if same_as(data, start, end, _NAME_DOC) else -1
        else:
            found = _GTS if same_as(data, start, end, _NAME_GTS) else -1
    elif length == 4:
        found = _TASK if same_as(data, start, end, _NAME_TASK) else -1
    elif length == 5:
        if first == 101:
            found = _ERROR if same_as(data, start, end, _NAME_ERROR) else -1
        elif first == 114:
            found = _RESPS if same_as(data, start, end, _NAME_RESPS) else -1
        else:
            found = _INPUT if same_as(data, start, end, _NAME_INPUT) else -1
    elif length == 6:
        if first == 97:
            found = _ANSWER if same_as(data, start, end, _NAME_ANSWER) else -1
        elif first == 102:
            found = _FILTER if same_as(data, start, end, _NAME_FILTER) else -1
        elif first == 100:
            found = _DOC_ID if same_as(data, start, end, _NAME_DOC_ID) else -1
        else:
            found = _OUTPUT if same_as(data, start, end, _NAME_OUTPUT) else -1
    elif length == 7:
        found = _CONTEXT if same_as(data, start, end, _NAME_CONTEXT) else -1
    elif length == 8:
        if first == 113:
            found = _QUESTION if same_as(data, start, end, _NAME_QUESTION) else -1
        else:
            found = _RESPONSE if same_as(data, start, end, _NAME_RESPONSE) else -1
    elif length == 9:
        found = _CUSTOM_ID if same_as(data, start, end, _NAME_CUSTOM_ID) else -1
    elif length == 10:
        found = _COMPLETION if same_as(data, start, end, _NAME_COMPLETION) else -1
    elif length == 11:
        if first == 115:
            found = _STATUS_CODE if same_as(data, start, end, _NAME_STATUS_CODE) else -1
        elif first == 100:
            found = _DATA_SOURCE if same_as(data, start, end, _NAME_DATA_SOURCE) else -1
        else:
            found = _INSTANCE_ID if same_as(data, start, end, _NAME_INSTANCE_ID) else -1
    elif length == 12:
        found = _LLM_SOLUTION if same_as(data, start, end, _NAME_LLM_SOLUTION) else -1
    elif length == 14:
        found = _FILTERED_RESPS if same_as(data, start, end, _NAME_FILTERED_RESPS) else -1
    elif length == 17:
        found = _INSTANCE_METADATA if same_as(data, start, end, _NAME_INSTANCE_METADATA) else -1
    elif length == 18:
        found = _STRUCTURAL_DETAILS if same_as(data, start, end, _NAME_STRUCTURAL_DETAILS) else -1
    elif length == 21:
        found = _COMPLEXITY_PARAMETERS if same_as(data, start, end, _NAME_COMPLEXITY_PARAMETERS) else -1
    return found


@kernel
def _is_other(data: Any, start: int, end: int) -> bool:
    """Whether a name is among `_OTHER_NAMES`."""
    at = 0
    for stop in range(len(_OTHER_NAMES)):
        if _OTHER_NAMES[stop] == 124:
            if same_bytes(_OTHER_NAMES, at, stop, data, start, end):
                return True
            at = stop + 1
    return False


@kernel
def _is_success(data: Any, tape: Any, token: int) -> Any:
    """Whether a status code says that nothing failed: there is none, or it is 2xx."""
    if is_null(data, tape, token):
        return True
    start = tape[token, TOKEN_START]
    return tape[token, TOKEN_KIND] == INTEGER and tape[token, TOKEN_END] - start == 3 and data[start] == 50


@kernel
def _is_text(tape: Any, token: int) -> Any:
    return token > 0 and tape[token, TOKEN_KIND] <= ESCAPED


@kernel
def _is_empty(tape: Any, token: int) -> Any:
    return tape[token, TOKEN_START] == tape[token, TOKEN_END]


@kernel
def _said_in(data: Any, tape: Any, message: int) -> int:
    """The text of a message, or, with `MAX_TOKENS` added, its content that is parts; or `UNSURE`."""
    refusal = member(data, tape, message, _REFUSAL)
    if not is_null(data, tape, refusal) and not (_is_text(tape, refusal) and _is_empty(tape, refusal)):
        return UNSURE
    content = member(data, tape, message, _CONTENT)
    if _is_text(tape, content):
        return content
    # a list of parts, of which those that are text count
    if content == 0 or tape[content, TOKEN_KIND] != LIST:
        return UNSURE
    said = False
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        kind = member(data, tape, at, _TYPE)
        if tape[at, TOKEN_KIND] != OBJECT or (kind != 0 and tape[kind, TOKEN_KIND] != STRING):
            return UNSURE
        text = _text_of(data, tape, at)
        if text == 0 and _is_named(data, tape, kind, _REFUSAL_TYPE):
            return UNSURE
        said |= text != 0 and not _is_empty(tape, text)
        at = tape[at, TOKEN_NEXT]
    # no text may be one that a content filter has left
    return content + MAX_TOKENS if said else UNSURE


@kernel
def _is_named(data: Any, tape: Any, token: int, name: Any) -> bool:
    """Whether a value is there, and that text."""
    if token == 0:
        return False
    return same_as(data, tape[token, TOKEN_START], tape[token, TOKEN_END], name)


@kernel
def _text_of(data: Any, tape: Any, part: int) -> int:
    """The text of a part of a message, or 0."""
    kind, text = member(data, tape, part, _TYPE), member(data, tape, part, _TEXT)
    is_text = kind == 0 or _is_named(data, tape, kind, _TEXT) or _is_named(data, tape, kind, _OUTPUT_TEXT)
    return text if is_text and _is_text(tape, text) else 0


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
def _last_said(data: Any, tape: Any, messages: int) -> int:
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
    return _said_in(data, tape, last) if last else UNSURE


@kernel
def _samples(data: Any, tape: Any, response: int, samples: Any) -> int:
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
        samples[0] = _last_said(data, tape, response)
        return 1 if samples[0] > 0 else UNSURE
    n = 0
    while at < stop:
        kind = tape[at, TOKEN_KIND]
        said = at if kind <= ESCAPED else _last_said(data, tape, at) if kind == LIST else UNSURE
        if said < 0:
            return UNSURE
        samples[n] = said
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n


@kernel
def _flat(tape: Any, resps: int, samples: Any) -> int:
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
    return said >= MAX_TOKENS or (_is_text(tape, said) and not _is_empty(tape, said))


@kernel
def _last_output(data: Any, tape: Any, body: int, samples: Any) -> int:
    """One for the last message in the ``output`` of a body of ``/v1/responses``, or `UNSURE`."""
    output = member(data, tape, body, _NAME_OUTPUT)
    if output == 0 or tape[output, TOKEN_KIND] != LIST:
        return UNSURE
    last = 0
    at = output + 1
    while at < tape[output, TOKEN_NEXT]:
        kind = member(data, tape, at, _TYPE)
        if kind != 0 and tape[kind, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if kind != 0 and tape[kind, TOKEN_KIND] == STRING and _is_named(data, tape, kind, _MESSAGE_TYPE):
            last = at
        at = tape[at, TOKEN_NEXT]
    samples[0] = _said_in(data, tape, last) if last else UNSURE
    return 1 if _has_said(tape, samples[0]) else UNSURE


@kernel
def _choices(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many choices the body of a batch's response has, each with a text; or `UNSURE`."""
    if response == 0 or not _is_success(data, tape, member(data, tape, response, _NAME_STATUS_CODE)):
        return UNSURE
    body = member(data, tape, response, _BODY)
    if body == 0 or not is_null(data, tape, member(data, tape, body, _NAME_ERROR)):
        return UNSURE
    choices = member(data, tape, body, _CHOICES)
    if choices == 0 or tape[choices, TOKEN_KIND] != LIST or tape[choices, TOKEN_NEXT] == choices + 1:
        return _last_output(data, tape, body, samples)
    n = 0
    at = choices + 1
    stop = tape[choices, TOKEN_NEXT]
    while at < stop:
        message = member(data, tape, at, _MESSAGE)
        if message and tape[message, TOKEN_KIND] == OBJECT:
            said = _said_in(data, tape, message)
        else:
            said = member(data, tape, at, _TEXT)
        if not _has_said(tape, said):
            return UNSURE
        samples[n] = said
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else UNSURE


@kernel
def _dialect_of(tape: Any, fields: Any) -> int:
    """The dialect of a row as `relfast.formats.detect` finds it, or `UNSURE`: it is not read here."""
    if fields[_CUSTOM_ID]:
        response = fields[_RESPONSE]
        # one that failed is batch output too, or some other dialect's
        if response == 0 or tape[response, TOKEN_KIND] == LITERAL:
            return UNSURE
        if tape[response, TOKEN_KIND] == OBJECT:
            return OPENAI_BATCH
    if fields[_DOC] and (fields[_RESPS] or fields[_FILTERED_RESPS]):
        return LM_EVAL
    if fields[_OUTPUT] and fields[_GTS]:
        return VERL
    if fields[_INSTANCE_ID]:
        for field in _OF_SEQBENCH:
            if fields[field]:
                return SEQBENCH
    if fields[_LLM_SOLUTION] or (fields[_RESPONSE] == 0 and fields[_OTHERS]):
        return UNSURE
    return NATIVE


@kernel
def _map_fields(data: Any, tape: Any, paths: Any, steps: Any, fields: Any, entry: Any, samples: Any) -> Any:
    """Put the fields in their places that ``--map`` names; how many responses, or `UNSURE`."""
    n: Any = UNSURE
    for field in range(len(MAPPED_FIELDS)):
        path = paths[field]
        if path[0] < 0:
            if field == _TO_RESPONSE:
                n = _samples(data, tape, fields[_RESPONSE], samples)
            continue
        token, step = follow(data, tape, 0, path, 0, steps)
        if field < _TO_RESPONSE:
            if step < path[0]:
                return UNSURE
            entry[_PLACES[field]] = token
            continue
        if step == path[0]:
            n = _samples(data, tape, token, samples)
            continue
        n = 0
        at = token + 1
        while at < tape[token, TOKEN_NEXT]:
            found, rest = follow(data, tape, at, path, step + 1, steps)
            kind = tape[found, TOKEN_KIND]
            if found == 0 or rest < path[0] or (kind > ESCAPED and kind != LIST):
                return UNSURE
            samples[n] = found if kind <= ESCAPED else _last_said(data, tape, found)
            if samples[n] < 0:
                return UNSURE
            n += 1
            at = tape[at, TOKEN_NEXT]
        if n == 0:
            return UNSURE
    return n


@kernel
def read_entry(
    data: Any, tape: Any, dialect: int, chosen: Any, has_chosen: bool, paths: Any, steps: Any, fields: Any,
    entry: Any, samples: Any,
) -> int:  # fmt: skip
    """Find the tokens of a row, whose own is token 0.

    Parameters
    ----------
    dialect
        `AUTO` or the one that all rows are in.
    chosen : uint8
        The filter of lm-evaluation-harness that is scored, if ``has_chosen``.
    paths : int64, shape (len(MAPPED_FIELDS) or 0, PATH_COLUMNS)
    steps : uint8
        What ``--map`` says.
    fields : int64, shape (N_FIELDS,)
        Work space.
    entry : int64, shape (ENTRY_SIZE,)
        Filled.
    samples : int64, shape (MAX_TOKENS,)
        Filled: the token of each response, a string, or, with `MAX_TOKENS` added, a message's parts.

    Returns
    -------
    int
        How many responses, `UNSURE` or `LEFT_OUT`.
    """
    for k in range(N_FIELDS):
        fields[k] = 0
    at = 1
    stop = tape[0, TOKEN_NEXT]
    while at < stop:
        number = _number_of(data, tape[at, TOKEN_START], tape[at, TOKEN_END])
        if number >= 0:
            fields[number] = at + 1
        elif len(paths) > 0 and _is_other(data, tape[at, TOKEN_START], tape[at, TOKEN_END]):
            fields[_OTHERS] = at + 1
        at = tape[at + 1, TOKEN_NEXT]
    # what any row may say of a failure
    if not is_null(data, tape, fields[_ERROR]) or not _is_success(data, tape, fields[_STATUS_CODE]):
        return UNSURE
    if dialect == AUTO:
        dialect = _dialect_of(tape, fields)
    for k in range(ENTRY_SIZE):
        entry[k] = 0
    entry[ENTRY_DIALECT] = dialect
    if dialect == NATIVE or dialect == SEQBENCH:
        entry[ENTRY_ID] = fields[_ID if dialect == NATIVE else _INSTANCE_ID]
        if dialect == NATIVE:
            entry[ENTRY_TASK], entry[ENTRY_ANSWER] = fields[_TASK], fields[_ANSWER]
        if len(paths) > 0:
            return int(_map_fields(data, tape, paths, steps, fields, entry, samples))
        return _samples(data, tape, fields[_RESPONSE], samples)
    if len(paths) > 0:
        return UNSURE
    if dialect == OPENAI_BATCH:
        entry[ENTRY_ID] = fields[_CUSTOM_ID]
        return _choices(data, tape, fields[_RESPONSE], samples)
    if dialect == LM_EVAL:
        name = fields[_FILTER]
        if name and tape[name, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if name and tape[name, TOKEN_KIND] == STRING:
            if not has_chosen:
                return UNSURE
            if not same_bytes(data, tape[name, TOKEN_START], tape[name, TOKEN_END], chosen, 0, len(chosen)):
                return LEFT_OUT
        doc = fields[_DOC]
        if doc == 0:
            return UNSURE
        entry[ENTRY_ID] = member(data, tape, doc, _NAME_ID)
        if entry[ENTRY_ID] == 0:
            entry[ENTRY_ID] = fields[_DOC_ID]
        entry[ENTRY_TASK] = member(data, tape, doc, _NAME_TASK)
        entry[ENTRY_ANSWER] = member(data, tape, doc, _NAME_ANSWER)
        return _flat(tape, fields[_RESPS], samples)
    if dialect == VERL:
        # the id is a digest of prompt and gold, if both are there
        if not _is_text(tape, fields[_INPUT]) or not _is_text(tape, fields[_GTS]):
            return UNSURE
        entry[ENTRY_INPUT] = fields[_INPUT]
        entry[ENTRY_TASK] = fields[_TASK]
        if fields[_TASK] == 0:
            entry[ENTRY_SOURCE] = fields[_DATA_SOURCE]
        entry[ENTRY_ANSWER] = fields[_GTS]
        return _samples(data, tape, fields[_OUTPUT], samples)
    return UNSURE


@kernel
def digest_entry(data: Any, tape: Any, entry: Any, seed: Any, with_id: bool, mapped: bool) -> Any:
    """A digest (int64) of all that the records of a row can depend on beside id and responses, ``with_id`` of
    the id too: equal only for rows whose records are equal but for those."""
    value = np.uint64(entry[ENTRY_DIALECT])
    at = 1
    stop = tape[0, TOKEN_NEXT]
    while at < stop:
        number = _number_of(data, tape[at, TOKEN_START], tape[at, TOKEN_END])
        at += 1
        if number >= 0 and _IN_DIGEST[number]:
            value = _with_value(data, tape, at, number, seed, value)
        at = tape[at, TOKEN_NEXT]
    if mapped:
        for place in (ENTRY_TASK, ENTRY_ANSWER, ENTRY_QUESTION):
            if entry[place]:
                value = _with_value(data, tape, entry[place], N_FIELDS + place, seed, value)
    if with_id and entry[ENTRY_ID]:
        value = _with_value(data, tape, entry[ENTRY_ID], N_FIELDS, seed, value)
    return np.int64(value)


@kernel
def _with_value(data: Any, tape: Any, token: int, number: int, seed: Any, value: Any) -> Any:
    mixed = value ^ np.uint64(number * 8 + tape[token, TOKEN_KIND])
    return digest(data, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, mixed)
