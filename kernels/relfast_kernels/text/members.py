"""Members of a row by which dialects are known, or that they read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import GOLD_MEMBERS
from relfast_kernels.text.find import same_bytes

_MEMBERS: Final = (
    "id",
    "task",
    "answer",
    "response",
    "error",
    "status_code",
    "custom_id",
    "doc",
    "resps",
    "filtered_resps",
    "filter",
    "output",
    "gts",
    "input",
    "data_source",
    "doc_id",
    "instance_id",
    "llm_solution",
    "question",
    "context",
    "completion",
    "structural_details",
    "instance_metadata",
    "complexity_parameters",
    "outputs",
    "prompt",
    "messages",
    "request_id",
    "epoch",
    "target",
    "example_id",
    "nodes",
    "traces",
    "advantage",
    "step",
    "model_response",
    "instance",
    "request",
    "predicted_text",
    "prediction",
    "origin_prompt",
    "result",
    "key",
)
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
    FIELD_EPOCH,
    FIELD_TARGET,
    FIELD_EXAMPLE_ID,
    FIELD_NODES,
    FIELD_TRACES,
    FIELD_ADVANTAGE,
    FIELD_STEP,
    FIELD_MODEL_RESPONSE,
    FIELD_INSTANCE,
    FIELD_REQUEST,
    FIELD_PREDICTED_TEXT,
    FIELD_PREDICTION,
    FIELD_ORIGIN_PROMPT,
    FIELD_RESULT,
    FIELD_KEY,
) = range(43)
N_FIELDS: Final = 43
"""Numbers of the members, and how many there are."""
assert len(_MEMBERS) == N_FIELDS

OF_SEQBENCH = (
    FIELD_COMPLETION,
    FIELD_STRUCTURAL_DETAILS,
    FIELD_INSTANCE_METADATA,
    FIELD_COMPLEXITY_PARAMETERS,
)
IN_DIGEST = np.zeros(N_FIELDS, np.bool_)
"""Whether a record without its id and response can depend on a member of its row."""
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

NAME_ID = np.frombuffer(b"id", np.uint8)
NAME_TASK = np.frombuffer(b"task", np.uint8)
NAME_ANSWER = np.frombuffer(b"answer", np.uint8)
NAME_ERROR = np.frombuffer(b"error", np.uint8)
NAME_STATUS_CODE = np.frombuffer(b"status_code", np.uint8)
NAME_OUTPUT = np.frombuffer(b"output", np.uint8)

_LONGEST: Final = max(map(len, _MEMBERS))
_BY_LENGTH: Final = sorted(range(N_FIELDS), key=lambda field: len(_MEMBERS[field]))
_NUMBER: Final = np.array(_BY_LENGTH, np.int64)
_TEXT: Final = np.frombuffer("".join(_MEMBERS[field] for field in _BY_LENGTH).encode(), np.uint8)
_AT: Final = np.cumsum([0, *(len(_MEMBERS[field]) for field in _BY_LENGTH)])
_OF_LENGTH: Final = np.searchsorted([len(_MEMBERS[field]) for field in _BY_LENGTH], np.arange(_LONGEST + 2))
"""Members by their length: numbers, names and where each begins; and where those of a length begin."""


@kernel
def field_number(data: Any, start: int, end: int) -> int:
    """Number of a member, or -1."""
    length = end - start
    if length < 2 or length > _LONGEST:
        return -1
    first = data[start]
    for k in range(_OF_LENGTH[length], _OF_LENGTH[length + 1]):
        at = _AT[k]
        if _TEXT[at] == first and same_bytes(_TEXT, at, at + length, data, start, end):
            return int(_NUMBER[k])
    return -1
