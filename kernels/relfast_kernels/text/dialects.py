"""Which tokens of a line are id, task, gold and responses of a record, in dialects of `relfast.formats`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ANTHROPIC,
    AUTO,
    ESCAPED,
    GEMINI,
    HELM,
    INSPECT,
    LIGHTEVAL,
    LIST,
    LM_EVAL,
    NATIVE,
    OBJECT,
    OPENAI_BATCH,
    OPENCOMPASS,
    ROLLOUT,
    SEQBENCH,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    TRL,
    VERIFIERS,
    VERL,
    VLLM,
)
from relfast_kernels.text.batches import candidates, choices, failure_of_batch, said_of_result
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_COUNTED,
    ENTRY_DIALECT,
    ENTRY_ID,
    ENTRY_INPUT,
    ENTRY_QUESTION,
    ENTRY_SIZE,
    ENTRY_SOURCE,
    ENTRY_TASK,
)
from relfast_kernels.text.failures import NO_MODEL_TEXT, UNSURE, failure, said_of_error, settled
from relfast_kernels.text.find import same_bytes
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.mapped import map_fields, maps_response
from relfast_kernels.text.members import (
    FIELD_ADVANTAGE,
    FIELD_ANSWER,
    FIELD_COMPLETION,
    FIELD_CUSTOM_ID,
    FIELD_DATA_SOURCE,
    FIELD_DOC,
    FIELD_DOC_ID,
    FIELD_EPOCH,
    FIELD_ERROR,
    FIELD_EXAMPLE_ID,
    FIELD_FILTER,
    FIELD_FILTERED_RESPS,
    FIELD_GTS,
    FIELD_ID,
    FIELD_INPUT,
    FIELD_INSTANCE,
    FIELD_INSTANCE_ID,
    FIELD_KEY,
    FIELD_LLM_SOLUTION,
    FIELD_MODEL_RESPONSE,
    FIELD_NODES,
    FIELD_ORIGIN_PROMPT,
    FIELD_OUTPUT,
    FIELD_OUTPUTS,
    FIELD_PREDICTED_TEXT,
    FIELD_PREDICTION,
    FIELD_PROMPT,
    FIELD_REQUEST,
    FIELD_REQUEST_ID,
    FIELD_RESPONSE,
    FIELD_RESPS,
    FIELD_RESULT,
    FIELD_STATUS_CODE,
    FIELD_STEP,
    FIELD_TARGET,
    FIELD_TASK,
    FIELD_TRACES,
    N_FIELDS,
    NAME_ANSWER,
    NAME_ERROR,
    NAME_ID,
    NAME_TASK,
    OF_SEQBENCH,
    field_number,
)
from relfast_kernels.text.messages import is_empty, is_text, samples_in
from relfast_kernels.text.replies import (
    flat,
    is_attached,
    outputs_of,
    replies,
    said_of_log,
    said_of_state,
)
from relfast_kernels.text.tools import OF_COUNTED, OF_OWN, OF_QUESTION, first_there, gold_among, task_among

_CANDIDATES = np.frombuffer(b"candidates", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)

LEFT_OUT = -2
"""Instead of a number of responses, as `UNSURE` is: the row is of a filter that is not scored."""


@kernel
def _is(tape: Any, token: Any, kind: int) -> Any:
    """Whether a value is there, and of a kind."""
    return token > 0 and tape[token, TOKEN_KIND] == kind


@kernel
def _batch_of(data: Any, tape: Any, fields: Any) -> int:
    """The dialect of a batch's row, or 0 if it is none."""
    response = fields[FIELD_RESPONSE]
    if fields[FIELD_CUSTOM_ID]:
        # one that failed is batch output too
        failed = is_null(data, tape, response) and (response != 0 or fields[FIELD_ERROR] != 0)
        if failed or _is(tape, response, OBJECT):
            return OPENAI_BATCH
    if fields[FIELD_KEY] and _is(tape, response, OBJECT):
        listed = member(data, tape, response, _CANDIDATES)
        return GEMINI if _is(tape, listed, LIST) else 0
    return 0


@kernel
def _tool_of(tape: Any, fields: Any) -> int:
    """The dialect of a row without a ``response``, or `UNSURE`."""
    if fields[FIELD_EPOCH] and fields[FIELD_TARGET] and _is(tape, fields[FIELD_OUTPUT], OBJECT):
        return INSPECT
    if fields[FIELD_EXAMPLE_ID] and fields[FIELD_COMPLETION]:
        return VERIFIERS
    if _is(tape, fields[FIELD_TASK], OBJECT) and (
        _is(tape, fields[FIELD_NODES], LIST) or _is(tape, fields[FIELD_TRACES], LIST)
    ):
        return VERIFIERS
    if _is(tape, fields[FIELD_OUTPUTS], LIST) and (fields[FIELD_PROMPT] or fields[FIELD_REQUEST_ID]):
        return VLLM
    if fields[FIELD_COMPLETION] and fields[FIELD_PROMPT] and (fields[FIELD_STEP] or fields[FIELD_ADVANTAGE]):
        return TRL
    if _is(tape, fields[FIELD_DOC], OBJECT) and _is(tape, fields[FIELD_MODEL_RESPONSE], OBJECT):
        return LIGHTEVAL
    if _is(tape, fields[FIELD_INSTANCE], OBJECT) and _is(tape, fields[FIELD_REQUEST], OBJECT):
        return HELM
    if fields[FIELD_INSTANCE_ID] and fields[FIELD_PREDICTED_TEXT]:
        return UNSURE
    if fields[FIELD_PREDICTION] and fields[FIELD_ORIGIN_PROMPT]:
        return OPENCOMPASS
    if fields[FIELD_CUSTOM_ID] and _is(tape, fields[FIELD_RESULT], OBJECT):
        return ANTHROPIC
    return NATIVE


@kernel
def _dialect_of(data: Any, tape: Any, fields: Any) -> int:
    """The dialect of a row as `relfast.formats.detect` finds it, or `UNSURE`: it is not read here."""
    batch = _batch_of(data, tape, fields)
    if batch == OPENAI_BATCH:
        return batch
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
    if batch == GEMINI:
        return GEMINI
    return NATIVE if fields[FIELD_RESPONSE] else _tool_of(tape, fields)


@kernel
def _responses(data: Any, tape: Any, dialect: int, fields: Any, samples: Any) -> int:
    """How many responses a row has, or `UNSURE`."""
    if dialect == NATIVE or dialect == SEQBENCH:
        return samples_in(data, tape, fields[FIELD_RESPONSE], samples)
    if dialect == OPENAI_BATCH:
        return choices(data, tape, fields[FIELD_RESPONSE], samples)
    if dialect == LM_EVAL:
        return flat(data, tape, fields[FIELD_RESPS], fields[FIELD_FILTERED_RESPS], samples)
    if dialect == VERL:
        return samples_in(data, tape, fields[FIELD_OUTPUT], samples)
    if dialect == VLLM:
        return outputs_of(data, tape, fields[FIELD_OUTPUTS], samples)
    if dialect == INSPECT:
        return said_of_log(data, tape, fields[FIELD_OUTPUT], samples)
    if dialect == VERIFIERS:
        return replies(data, tape, fields[FIELD_NODES], fields[FIELD_TRACES], samples)
    if dialect == ANTHROPIC:
        return said_of_result(data, tape, fields[FIELD_RESULT], samples)
    if dialect == GEMINI:
        return candidates(data, tape, fields[FIELD_RESPONSE], samples)
    if dialect == HELM:
        return said_of_state(data, tape, fields[FIELD_RESULT], samples)
    said = fields[FIELD_PREDICTION if dialect == OPENCOMPASS else FIELD_COMPLETION]
    if dialect == LIGHTEVAL:
        said = fields[FIELD_MODEL_RESPONSE]
        said = member(data, tape, said, _TEXT) if said else 0
        n = samples_in(data, tape, said, samples)
        if n == 0 or is_null(data, tape, said) or (is_text(tape, said) and is_empty(tape, said)):
            samples[0] = failure(NO_MODEL_TEXT, 0)
            n = 1
        return n
    return samples_in(data, tape, said, samples)


@kernel
def _may_be(tape: Any, dialect: int, fields: Any) -> Any:
    """Whether a row has what its dialect's module looks for: it may have been told to be of that one, and is
    not."""
    if dialect == HELM:
        is_prediction = fields[FIELD_INSTANCE_ID] != 0 and fields[FIELD_PREDICTED_TEXT] != 0
        is_request = _is(tape, fields[FIELD_INSTANCE], OBJECT) and _is(tape, fields[FIELD_REQUEST], OBJECT)
        return is_request and not is_prediction
    if dialect == LIGHTEVAL:
        return _is(tape, fields[FIELD_DOC], OBJECT) and _is(tape, fields[FIELD_MODEL_RESPONSE], OBJECT)
    if dialect == TRL:
        return fields[FIELD_PROMPT] != 0 and fields[FIELD_COMPLETION] != 0
    if dialect == OPENCOMPASS:
        return fields[FIELD_ORIGIN_PROMPT] != 0 and fields[FIELD_PREDICTION] != 0
    return True


@kernel
def _read_tool(data: Any, tape: Any, dialect: int, fields: Any, entry: Any) -> int:
    """Find the tokens of a tool's row by its dialect's paths: 0, or `UNSURE`."""
    if dialect == VERIFIERS and not (
        _is(tape, fields[FIELD_NODES], LIST) or _is(tape, fields[FIELD_TRACES], LIST)
    ):
        dialect = ROLLOUT
    entry[ENTRY_DIALECT] = dialect
    if not _may_be(tape, dialect, fields):
        return UNSURE
    task = task_among(data, tape, dialect)
    answer = gold_among(data, tape, dialect, task)
    question = first_there(data, tape, dialect, OF_QUESTION)
    if answer == UNSURE or (dialect == INSPECT and is_attached(data, tape, question)):
        return UNSURE
    own = first_there(data, tape, dialect, OF_OWN)
    if own == 0:
        # an id that is null is another's word for none
        if (dialect == VLLM or dialect == TRL) and fields[FIELD_ID]:
            return UNSURE
        # rollouts with gold have a digest of it for an id
        if dialect == TRL and answer:
            return UNSURE
        if dialect != ANTHROPIC and dialect != GEMINI:
            entry[ENTRY_COUNTED] = 1
            own = first_there(data, tape, dialect, OF_COUNTED)
    entry[ENTRY_ID], entry[ENTRY_TASK], entry[ENTRY_ANSWER] = own, task, answer
    entry[ENTRY_QUESTION] = question
    return 0


@kernel
def _read_row(
    data: Any, tape: Any, dialect: int, chosen: Any, has_chosen: bool, fields: Any, entry: Any
) -> int:  # fmt: skip
    """Find the tokens of a row's entry: 0, `UNSURE` or `LEFT_OUT`."""
    entry[ENTRY_DIALECT] = dialect
    if dialect == NATIVE:
        entry[ENTRY_ID] = fields[FIELD_ID]
        entry[ENTRY_TASK], entry[ENTRY_ANSWER] = fields[FIELD_TASK], fields[FIELD_ANSWER]
        return 0
    if dialect == SEQBENCH:
        entry[ENTRY_ID] = fields[FIELD_INSTANCE_ID]
        return 0
    if dialect == OPENAI_BATCH:
        entry[ENTRY_ID] = fields[FIELD_CUSTOM_ID]
        return 0
    if dialect >= VLLM:
        return _read_tool(data, tape, dialect, fields, entry)
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
        return 0
    if dialect == VERL:
        # the id is a digest of prompt and gold, if both are there
        gold = fields[FIELD_GTS]
        if not is_text(tape, fields[FIELD_INPUT]) or not (is_text(tape, gold) or _is(tape, gold, OBJECT)):
            return UNSURE
        entry[ENTRY_INPUT] = fields[FIELD_INPUT]
        entry[ENTRY_TASK] = fields[FIELD_TASK]
        if fields[FIELD_TASK] == 0:
            entry[ENTRY_SOURCE] = fields[FIELD_DATA_SOURCE]
        entry[ENTRY_ANSWER] = fields[FIELD_GTS]
        return 0
    return UNSURE


@kernel
def _only_failed(data: Any, tape: Any, fields: Any) -> int:
    """What a row in no dialect says of a response that failed, as one of Gemini's does that has its id in
    ``key``; 0 where it says something else, or `UNSURE`."""
    response = fields[FIELD_RESPONSE]
    if is_null(data, tape, response):
        return said_of_error(data, tape, fields[FIELD_ERROR])
    return said_of_error(data, tape, member(data, tape, response, NAME_ERROR))


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
        Filled: the token of each response, a string, or, with `MAX_TOKENS` added, a message's parts; from
        `failures.NO_TEXT` on, why there is none.

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
    if dialect == AUTO:
        dialect = _dialect_of(data, tape, fields)
    for k in range(ENTRY_SIZE):
        entry[k] = 0
    found = _read_row(data, tape, dialect, chosen, has_chosen, fields, entry)
    if found < 0:
        return found
    error, failed = fields[FIELD_ERROR], 0
    is_mapped = len(paths) > 0 and maps_response(paths)
    if dialect == NATIVE and not is_mapped and fields[FIELD_KEY] and not fields[FIELD_ID]:
        said = _only_failed(data, tape, fields)
        if said == UNSURE:
            return UNSURE
        if said != 0:
            entry[ENTRY_ID] = fields[FIELD_KEY]
    n = 0
    # what modules of tools stumble over they do wherever responses are
    if dialect >= VLLM or not is_mapped:
        n = _responses(data, tape, entry[ENTRY_DIALECT], fields, samples)
    if len(paths) > 0 and n >= 0:
        n = map_fields(data, tape, paths, steps, n, entry, samples)
    if n < 0:
        return UNSURE
    # what any row may say of a failure
    if dialect == OPENAI_BATCH:
        failed = failure_of_batch(data, tape, fields[FIELD_RESPONSE], error)
    elif dialect == INSPECT:
        failed = said_of_error(data, tape, error)
    return settled(data, tape, failed, error, fields[FIELD_STATUS_CODE], n, samples)
