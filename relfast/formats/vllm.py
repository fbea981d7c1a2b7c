"""vLLM's ``RequestOutput`` as JSON: ``prompt`` and ``outputs``, one entry a completion (``n`` of them).

``LLM.generate`` returns them and writes no file: dump ``{"id": …, **dataclass fields}`` a line. Gold is the
row's ``answer``, or comes from ``--data``, joined on the prompt's text, else on ``id`` or ``request_id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import Entry
from relfast.formats.failure import MISSING_RESPONSE, NoResponse
from relfast.formats.gold import first_there, gold_among, question_of, task_among


def matches(row: Mapping[str, Any]) -> bool:
    outputs = row.get("outputs")
    return (
        isinstance(outputs, list)
        and ("prompt" in row or "request_id" in row)
        and all(isinstance(output, Mapping) and "text" in output for output in outputs)
    )


def read(row: Mapping[str, Any]) -> Entry:
    return Entry(
        id=first_there(row, "id", "request_id"),
        task=task_among(row.get("task")),
        question=question_of(first_there(row, "question", "messages", "prompt")),
        answer=gold_among(row.get("answer")),
        response=[_text(output) for output in row["outputs"]]
        or NoResponse(MISSING_RESPONSE, "outputs is empty"),
        row=row,
        numbered="id" not in row,
    )


def _text(output: Mapping[str, Any]) -> Any:
    text = output["text"]
    if not text and output.get("finish_reason") in ("abort", "error"):
        return NoResponse(MISSING_RESPONSE, f"no text (finish_reason {output['finish_reason']})")
    return text
