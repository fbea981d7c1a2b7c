"""Which tokens of a line are id, task, gold and responses of a record, in dialects of `relfast.formats`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    AUTO,
    ESCAPED,
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
    VLLM,
)
from relfast_kernels.text.digest import digest
from relfast_kernels.text.find import same_bytes
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.members import (
    FIELD_ANSWER,
    FIELD_CUSTOM_ID,
    FIELD_DATA_SOURCE,
    FIELD_DOC,
    FIELD_DOC_ID,
    FIELD_ERROR,
    FIELD_FILTER,
    FIELD_FILTERED_RESPS,
    FIELD_GTS,
    FIELD_ID,
    FIELD_INPUT,
    FIELD_INSTANCE_ID,
    FIELD_LLM_SOLUTION,
    FIELD_OTHERS,
    FIELD_OUTPUT,
    FIELD_OUTPUTS,
    FIELD_PROMPT,
    FIELD_REQUEST_ID,
    FIELD_RESPONSE,
    FIELD_RESPS,
    FIELD_STATUS_CODE,
    FIELD_TASK,
    IN_DIGEST,
    N_FIELDS,
    NAME_ANSWER,
    NAME_ERROR,
    NAME_ID,
    NAME_OUTPUT,
    NAME_STATUS_CODE,
    NAME_TASK,
    OF_SEQBENCH,
    OF_VLLM,
    field_number,
    is_other,
)
from relfast_kernels.text.messages import (
    UNSURE,
    is_empty,
    is_named,
    is_text,
    last_said,
    said_in,
    samples_in,
)
from relfast_kernels.text.paths import follow

LEFT_OUT = -2
"""Instead of a number of responses, as `UNSURE` is: the row is of a filter that is not scored."""

ENTRY_ID, ENTRY_TASK, ENTRY_ANSWER, ENTRY_QUESTION, ENTRY_INPUT, ENTRY_SOURCE, ENTRY_DIALECT = range(7)
ENTRY_SIZE: Final = 7
"""Tokens of an entry, 0 for what it does not have: the question only where it is mapped, verl's prompt and
data source; and the row's dialect."""

_TO_RESPONSE = len(MAPPED_FIELDS) - 1
_PLACES = (ENTRY_ID, ENTRY_TASK, ENTRY_QUESTION, ENTRY_ANSWER)
"""Where an entry has the fields of `MAPPED_FIELDS` but the last."""
_MESSAGE_TYPE = np.frombuffer(b"message", np.uint8)
_BODY = np.frombuffer(b"body", np.uint8)
_CHOICES = np.frombuffer(b"choices", np.uint8)
_MESSAGE = np.frombuffer(b"message", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)


@kernel
def _is_success(data: Any, tape: Any, token: int) -> Any:
    """Whether a status code says that nothing failed: there is none, or it is 2xx."""
    if is_null(data, tape, token):
        return True
    start = tape[token, TOKEN_START]
    return tape[token, TOKEN_KIND] == INTEGER and tape[token, TOKEN_END] - start == 3 and data[start] == 50


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
        if kind != 0 and tape[kind, TOKEN_KIND] == STRING and is_named(data, tape, kind, _MESSAGE_TYPE):
            last = at
        at = tape[at, TOKEN_NEXT]
    samples[0] = said_in(data, tape, last) if last else UNSURE
    return 1 if _has_said(tape, samples[0]) else UNSURE


@kernel
def _choices(data: Any, tape: Any, response: int, samples: Any) -> int:
    """How many choices the body of a batch's response has, each with a text; or `UNSURE`."""
    if response == 0 or not _is_success(data, tape, member(data, tape, response, NAME_STATUS_CODE)):
        return UNSURE
    body = member(data, tape, response, _BODY)
    if body == 0 or not is_null(data, tape, member(data, tape, body, NAME_ERROR)):
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
def _outputs(data: Any, tape: Any, outputs: int, samples: Any) -> int:
    """How many completions stand in vLLM's ``outputs``, each with a text; or `UNSURE`."""
    if outputs == 0 or tape[outputs, TOKEN_KIND] != LIST:
        return UNSURE
    n = 0
    at = outputs + 1
    while at < tape[outputs, TOKEN_NEXT]:
        text = member(data, tape, at, _TEXT)
        # no text may be one that was aborted
        if not is_text(tape, text) or is_empty(tape, text):
            return UNSURE
        samples[n] = text
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else UNSURE


@kernel
def _is_gold(data: Any, tape: Any, answer: int) -> bool:
    """Whether a value is gold wherever a tool keeps it, or clearly none: an object, as JSON too, or null."""
    if is_null(data, tape, answer) or tape[answer, TOKEN_KIND] == OBJECT:
        return True
    start = tape[answer, TOKEN_START]
    return tape[answer, TOKEN_KIND] <= ESCAPED and not is_empty(tape, answer) and data[start] == 123


@kernel
def _find_others(data: Any, tape: Any, fields: Any) -> None:
    """Say whether a row has a name by which dialects are known that are not read here."""
    at = 1
    while at < tape[0, TOKEN_NEXT]:
        if is_other(data, tape[at, TOKEN_START], tape[at, TOKEN_END]):
            fields[FIELD_OTHERS] = at + 1
        at = tape[at + 1, TOKEN_NEXT]


@kernel
def _dialect_of(tape: Any, fields: Any) -> int:
    """The dialect of a row as `relfast.formats.detect` finds it, or `UNSURE`: it is not read here."""
    if fields[FIELD_CUSTOM_ID]:
        response = fields[FIELD_RESPONSE]
        # one that failed is batch output too, or some other dialect's
        if response == 0 or tape[response, TOKEN_KIND] == LITERAL:
            return UNSURE
        if tape[response, TOKEN_KIND] == OBJECT:
            return OPENAI_BATCH
    if fields[FIELD_DOC] and (fields[FIELD_RESPS] or fields[FIELD_FILTERED_RESPS]):
        return LM_EVAL
    if fields[FIELD_OUTPUT] and fields[FIELD_GTS]:
        return VERL
    if fields[FIELD_INSTANCE_ID]:
        for field in OF_SEQBENCH:
            if fields[field]:
                return SEQBENCH
    if fields[FIELD_LLM_SOLUTION]:
        return UNSURE
    if fields[FIELD_RESPONSE]:
        return NATIVE
    if fields[FIELD_OTHERS]:
        return UNSURE
    return VLLM if fields[FIELD_OUTPUTS] and (fields[FIELD_PROMPT] or fields[FIELD_REQUEST_ID]) else NATIVE


@kernel
def _map_fields(data: Any, tape: Any, paths: Any, steps: Any, fields: Any, entry: Any, samples: Any) -> Any:
    """Put the fields in their places that ``--map`` names; how many responses, or `UNSURE`."""
    n: Any = UNSURE
    for field in range(len(MAPPED_FIELDS)):
        path = paths[field]
        if path[0] < 0:
            if field == _TO_RESPONSE:
                n = samples_in(data, tape, fields[FIELD_RESPONSE], samples)
            continue
        token, step = follow(data, tape, 0, path, 0, steps)
        if field < _TO_RESPONSE:
            if step < path[0]:
                return UNSURE
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
    while at < tape[0, TOKEN_NEXT]:
        number = field_number(data, tape[at, TOKEN_START], tape[at, TOKEN_END])
        if number >= 0:
            fields[number] = at + 1
        at = tape[at + 1, TOKEN_NEXT]
    if dialect == AUTO and fields[FIELD_RESPONSE] == 0 and (len(paths) > 0 or fields[FIELD_OUTPUTS]):
        _find_others(data, tape, fields)
    # what any row may say of a failure
    if not is_null(data, tape, fields[FIELD_ERROR]) or not _is_success(data, tape, fields[FIELD_STATUS_CODE]):
        return UNSURE
    if dialect == AUTO:
        dialect = _dialect_of(tape, fields)
    for k in range(ENTRY_SIZE):
        entry[k] = 0
    entry[ENTRY_DIALECT] = dialect
    if dialect == NATIVE or dialect == SEQBENCH:
        entry[ENTRY_ID] = fields[FIELD_ID if dialect == NATIVE else FIELD_INSTANCE_ID]
        if dialect == NATIVE:
            entry[ENTRY_TASK], entry[ENTRY_ANSWER] = fields[FIELD_TASK], fields[FIELD_ANSWER]
        if len(paths) > 0:
            return int(_map_fields(data, tape, paths, steps, fields, entry, samples))
        return samples_in(data, tape, fields[FIELD_RESPONSE], samples)
    if len(paths) > 0:
        return UNSURE
    if dialect == OPENAI_BATCH:
        entry[ENTRY_ID] = fields[FIELD_CUSTOM_ID]
        return _choices(data, tape, fields[FIELD_RESPONSE], samples)
    if dialect == VLLM:
        answer = fields[FIELD_ANSWER]
        if not _is_gold(data, tape, answer):
            return UNSURE
        entry[ENTRY_TASK], entry[ENTRY_ANSWER] = fields[FIELD_TASK], answer
        entry[ENTRY_ID] = fields[FIELD_ID]
        if is_null(data, tape, fields[FIELD_ID]):
            # vLLM's own number: what gold comes from elsewhere is that of the prompt
            entry[ENTRY_ID] = fields[FIELD_REQUEST_ID]
            if is_null(data, tape, answer):
                return UNSURE
        return _outputs(data, tape, fields[FIELD_OUTPUTS], samples)
    if dialect == LM_EVAL:
        name = fields[FIELD_FILTER]
        if name and tape[name, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if name and tape[name, TOKEN_KIND] == STRING:
            if not has_chosen:
                return UNSURE
            if not same_bytes(data, tape[name, TOKEN_START], tape[name, TOKEN_END], chosen, 0, len(chosen)):
                return LEFT_OUT
        doc = fields[FIELD_DOC]
        if doc == 0:
            return UNSURE
        entry[ENTRY_ID] = member(data, tape, doc, NAME_ID)
        if entry[ENTRY_ID] == 0:
            entry[ENTRY_ID] = fields[FIELD_DOC_ID]
        entry[ENTRY_TASK] = member(data, tape, doc, NAME_TASK)
        entry[ENTRY_ANSWER] = member(data, tape, doc, NAME_ANSWER)
        return _flat(tape, fields[FIELD_RESPS], samples)
    if dialect == VERL:
        # the id is a digest of prompt and gold, if both are there
        if not is_text(tape, fields[FIELD_INPUT]) or not is_text(tape, fields[FIELD_GTS]):
            return UNSURE
        entry[ENTRY_INPUT] = fields[FIELD_INPUT]
        entry[ENTRY_TASK] = fields[FIELD_TASK]
        if fields[FIELD_TASK] == 0:
            entry[ENTRY_SOURCE] = fields[FIELD_DATA_SOURCE]
        entry[ENTRY_ANSWER] = fields[FIELD_GTS]
        return samples_in(data, tape, fields[FIELD_OUTPUT], samples)
    return UNSURE


@kernel
def digest_entry(data: Any, tape: Any, entry: Any, seed: Any, with_id: bool, mapped: bool) -> Any:
    """A digest (int64) of all that the records of a row can depend on beside id and responses, ``with_id`` of
    the id too: equal only for rows whose records are equal but for those."""
    value = np.uint64(entry[ENTRY_DIALECT])
    at = 1
    stop = tape[0, TOKEN_NEXT]
    while at < stop:
        number = field_number(data, tape[at, TOKEN_START], tape[at, TOKEN_END])
        at += 1
        if number >= 0 and (IN_DIGEST[number] or (entry[ENTRY_DIALECT] == VLLM and number in OF_VLLM)):
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
