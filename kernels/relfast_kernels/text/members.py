"""Members of a row by which dialects are known, or that they read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import GOLD_MEMBERS
from relfast_kernels.text.find import same_as, same_bytes

(
    FIELD_ID,
    FIELD_TASK,
    FIELD_ANSWER,
    FIELD_RESPONSE,
    FIELD_ERROR,
    FIELD_STATUS_CODE,
    FIELD_CUSTOM_ID,
    FIELD_DOC,
    FIELD_RESPS,
    FIELD_FILTERED_RESPS,
    FIELD_FILTER,
    FIELD_OUTPUT,
    FIELD_GTS,
    FIELD_INPUT,
    FIELD_DATA_SOURCE,
    FIELD_DOC_ID,
    FIELD_INSTANCE_ID,
    FIELD_LLM_SOLUTION,
    FIELD_QUESTION,
    FIELD_CONTEXT,
    FIELD_COMPLETION,
    FIELD_STRUCTURAL_DETAILS,
    FIELD_INSTANCE_METADATA,
    FIELD_COMPLEXITY_PARAMETERS,
    FIELD_OUTPUTS,
    FIELD_PROMPT,
    FIELD_MESSAGES,
    FIELD_REQUEST_ID,
    FIELD_OTHERS,
) = range(29)
N_FIELDS: Final = 29
"""Fields of a row by which dialects are known, or that they read. The last stands for all by which dialects
that are not read here are known."""

OF_SEQBENCH = (
    FIELD_COMPLETION,
    FIELD_STRUCTURAL_DETAILS,
    FIELD_INSTANCE_METADATA,
    FIELD_COMPLEXITY_PARAMETERS,
)
OF_VLLM = (FIELD_PROMPT, FIELD_MESSAGES)
"""Fields in which vLLM's rows have the question, and others may have anything."""
IN_DIGEST = np.zeros(N_FIELDS, np.bool_)
"""Whether a record without its id and response can depend on a field."""
for _field in (
    FIELD_TASK,
    FIELD_ANSWER,
    FIELD_DOC,
    FIELD_GTS,
    FIELD_INPUT,
    FIELD_DATA_SOURCE,
    FIELD_QUESTION,
    FIELD_CONTEXT,
    *OF_SEQBENCH,
):
    IN_DIGEST[_field] = True
assert int(IN_DIGEST.sum()) == len(GOLD_MEMBERS) + 4

_OTHER_NAMES = np.frombuffer(
    b"epoch|example_id|nodes|traces|advantage|step|model_response|instance|predicted_text|prediction|"
    b"origin_prompt|",
    np.uint8,
)
"""Keys without one of which a row is of none of the dialects that `relfast.formats` has after ``native``."""

NAME_ID = np.frombuffer(b"id", np.uint8)
NAME_TASK = np.frombuffer(b"task", np.uint8)
NAME_ANSWER = np.frombuffer(b"answer", np.uint8)
_NAME_RESPONSE = np.frombuffer(b"response", np.uint8)
NAME_ERROR = np.frombuffer(b"error", np.uint8)
NAME_STATUS_CODE = np.frombuffer(b"status_code", np.uint8)
_NAME_CUSTOM_ID = np.frombuffer(b"custom_id", np.uint8)
_NAME_DOC = np.frombuffer(b"doc", np.uint8)
_NAME_RESPS = np.frombuffer(b"resps", np.uint8)
_NAME_FILTERED_RESPS = np.frombuffer(b"filtered_resps", np.uint8)
_NAME_FILTER = np.frombuffer(b"filter", np.uint8)
NAME_OUTPUT = np.frombuffer(b"output", np.uint8)
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
_NAME_OUTPUTS = np.frombuffer(b"outputs", np.uint8)
_NAME_PROMPT = np.frombuffer(b"prompt", np.uint8)
_NAME_MESSAGES = np.frombuffer(b"messages", np.uint8)
_NAME_REQUEST_ID = np.frombuffer(b"request_id", np.uint8)
_NAME_COMPLEXITY_PARAMETERS = np.frombuffer(b"complexity_parameters", np.uint8)


@kernel
def field_number(data: Any, start: int, end: int) -> int:
    """Number of a field, or -1."""
    length = end - start
    first = data[start] if length > 0 else 0
    found = -1
    if length == 2:
        found = FIELD_ID if same_as(data, start, end, NAME_ID) else -1
    elif length == 3:
        if first == 100:
            found = FIELD_DOC if same_as(data, start, end, _NAME_DOC) else -1
        else:
            found = FIELD_GTS if same_as(data, start, end, _NAME_GTS) else -1
    elif length == 4:
        found = FIELD_TASK if same_as(data, start, end, NAME_TASK) else -1
    elif length == 5:
        if first == 101:
            found = FIELD_ERROR if same_as(data, start, end, NAME_ERROR) else -1
        elif first == 114:
            found = FIELD_RESPS if same_as(data, start, end, _NAME_RESPS) else -1
        else:
            found = FIELD_INPUT if same_as(data, start, end, _NAME_INPUT) else -1
    elif length == 6:
        if first == 97:
            found = FIELD_ANSWER if same_as(data, start, end, NAME_ANSWER) else -1
        elif first == 102:
            found = FIELD_FILTER if same_as(data, start, end, _NAME_FILTER) else -1
        elif first == 100:
            found = FIELD_DOC_ID if same_as(data, start, end, _NAME_DOC_ID) else -1
        elif first == 112:
            found = FIELD_PROMPT if same_as(data, start, end, _NAME_PROMPT) else -1
        else:
            found = FIELD_OUTPUT if same_as(data, start, end, NAME_OUTPUT) else -1
    elif length == 7:
        if first == 99:
            found = FIELD_CONTEXT if same_as(data, start, end, _NAME_CONTEXT) else -1
        else:
            found = FIELD_OUTPUTS if same_as(data, start, end, _NAME_OUTPUTS) else -1
    elif length == 8:
        if first == 113:
            found = FIELD_QUESTION if same_as(data, start, end, _NAME_QUESTION) else -1
        elif first == 109:
            found = FIELD_MESSAGES if same_as(data, start, end, _NAME_MESSAGES) else -1
        else:
            found = FIELD_RESPONSE if same_as(data, start, end, _NAME_RESPONSE) else -1
    elif length == 9:
        found = FIELD_CUSTOM_ID if same_as(data, start, end, _NAME_CUSTOM_ID) else -1
    elif length == 10:
        if first == 99:
            found = FIELD_COMPLETION if same_as(data, start, end, _NAME_COMPLETION) else -1
        else:
            found = FIELD_REQUEST_ID if same_as(data, start, end, _NAME_REQUEST_ID) else -1
    elif length == 11:
        if first == 115:
            found = FIELD_STATUS_CODE if same_as(data, start, end, NAME_STATUS_CODE) else -1
        elif first == 100:
            found = FIELD_DATA_SOURCE if same_as(data, start, end, _NAME_DATA_SOURCE) else -1
        else:
            found = FIELD_INSTANCE_ID if same_as(data, start, end, _NAME_INSTANCE_ID) else -1
    elif length == 12:
        found = FIELD_LLM_SOLUTION if same_as(data, start, end, _NAME_LLM_SOLUTION) else -1
    elif length == 14:
        found = FIELD_FILTERED_RESPS if same_as(data, start, end, _NAME_FILTERED_RESPS) else -1
    elif length == 17:
        found = FIELD_INSTANCE_METADATA if same_as(data, start, end, _NAME_INSTANCE_METADATA) else -1
    elif length == 18:
        found = FIELD_STRUCTURAL_DETAILS if same_as(data, start, end, _NAME_STRUCTURAL_DETAILS) else -1
    elif length == 21:
        found = FIELD_COMPLEXITY_PARAMETERS if same_as(data, start, end, _NAME_COMPLEXITY_PARAMETERS) else -1
    return found


@kernel
def is_other(data: Any, start: int, end: int) -> bool:
    """Whether a name is among `_OTHER_NAMES`."""
    at = 0
    for stop in range(len(_OTHER_NAMES)):
        if _OTHER_NAMES[stop] == 124:
            if same_bytes(_OTHER_NAMES, at, stop, data, start, end):
                return True
            at = stop + 1
    return False
