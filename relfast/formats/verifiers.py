"""Traces of verifiers and prime-rl (``traces.jsonl``), and rollouts as verifiers wrote them before v1.

A trace (``verifiers.v1.trace.Trace.to_record``) holds a graph of messages: what counts is what verifiers'
own rewards see by ``trace.last_reply``, the root agent's reply or else the last message that was sampled.
Gold is ``task.data.answer``, or comes from ``--data``, joined on ``task.data.id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry, said_in
from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error
from relfast.formats.gold import first_there, gold_among, mapping_at, question_of, task_among


def matches(row: Mapping[str, Any]) -> bool:
    return _is_trace(row) or ("example_id" in row and "completion" in row)


def _is_trace(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("nodes"), list) and isinstance(row.get("task"), Mapping)


def read(row: Mapping[str, Any]) -> Entry:
    if not _is_trace(row):
        return _rollout(row)
    task = mapping_at(row, "task")
    data = mapping_at(task, "data")
    record, info = mapping_at(data, "record"), mapping_at(data, "info")
    # `idx` counts the tasks of a run; identity that lasts comes before it
    id = first_there(data, "id")
    return Entry(
        id=first_there({**task, "idx": data.get("idx")}, "key", "hash", "idx") if id is MISSING else id,
        task=task_among(data.get("task"), record.get("task"), info.get("task"), data.get("name")),
        question=question_of(data.get("prompt")),
        answer=gold_among(data.get("answer"), record.get("answer"), info.get("answer"), data.get("info")),
        response=_reply(row),
        row=data,
        failure=_failure(row),
        numbered=id is MISSING,
    )


def _failure(row: Mapping[str, Any]) -> NoResponse | None:
    """What ended a trace that is not ok; one that ran into a limit has its reply nevertheless."""
    errors = row.get("errors")
    if row.get("ok") is not False or not isinstance(errors, list) or not errors:
        return None
    return from_error(errors[-1])


def _reply(row: Mapping[str, Any]) -> Any:
    reply = row.get("root_reply")
    if isinstance(reply, str):
        return reply
    for node in reversed(row["nodes"]):
        message = node.get("message") if isinstance(node, Mapping) else None
        if isinstance(message, Mapping) and node.get("sampled") and message.get("role") == "assistant":
            return said_in(message)
    return NoResponse(MISSING_RESPONSE, "no message of the trace was sampled")


def _rollout(row: Mapping[str, Any]) -> Entry:
    info = row.get("info")
    details = gold_among(info)
    details = details if isinstance(details, Mapping) else {}
    return Entry(
        id=row.get("example_id", MISSING),
        task=task_among(details.get("task"), row.get("task")),
        question=question_of(row.get("prompt")),
        answer=gold_among(row.get("answer"), details.get("answer"), info),
        response=row.get("completion", MISSING),
        row=row,
        numbered=True,
    )
