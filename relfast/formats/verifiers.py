"""Traces of verifiers and prime-rl (``traces.jsonl``), and rollouts as verifiers wrote them before v1.

A line is an episode with its ``traces`` (or a trace by itself, ``Trace.to_record``); rollouts of a task are
samples of one prompt. A trace holds a graph of messages: what counts is what verifiers' own rewards see by
``trace.last_reply``, the root agent's reply or else the last message that was sampled. Gold is
``task.data.answer``, or comes from ``--data``, joined on ``task.data.id``, else on the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry, said_in
from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error
from relfast.formats.gold import first_there, gold_among, mapping_at, question_of, task_among


def matches(row: Mapping[str, Any]) -> bool:
    if "example_id" in row and "completion" in row:
        return True
    return isinstance(row.get("task"), Mapping) and any(
        isinstance(row.get(key), list) for key in ("nodes", "traces")
    )


def read(row: Mapping[str, Any]) -> Entry:
    traces = _traces(row)
    if traces is None:
        return _rollout(row)
    task = mapping_at(row, "task")
    data = mapping_at(task, "data")
    record, info = mapping_at(data, "record"), mapping_at(data, "info")
    # `idx` counts the tasks of a run; identity that lasts comes before it
    own = first_there(data, "id")
    return Entry(
        id=first_there({**task, "idx": data.get("idx")}, "key", "hash", "idx") if own is MISSING else own,
        task=task_among(data.get("task"), record.get("task"), info.get("task"), data.get("name")),
        question=question_of(data.get("prompt")),
        answer=gold_among(data.get("answer"), record.get("answer"), info.get("answer"), data.get("info")),
        response=[_reply(trace) for trace in traces] or _nothing(row),
        row=data,
        numbered=own is MISSING,
    )


def _traces(row: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The traces of a row: of an episode of several agents those with rewards, if there are any."""
    if isinstance(row.get("nodes"), list):
        return [row]
    traces = row.get("traces")
    if not isinstance(traces, list):
        return None
    found = [trace for trace in traces if isinstance(trace, Mapping)]
    return [trace for trace in found if trace.get("rewards")] or found


def _nothing(row: Mapping[str, Any]) -> NoResponse:
    """Why an episode holds no trace."""
    return _failure(row) or NoResponse(MISSING_RESPONSE, "the episode holds no trace")


def _failure(row: Mapping[str, Any]) -> NoResponse | None:
    """What ended a trace that is not ok; one that ran into a limit has its reply nevertheless."""
    errors = row.get("errors")
    if row.get("ok") is not False or not isinstance(errors, list) or not errors:
        return None
    return from_error(errors[-1])


def _reply(trace: Mapping[str, Any]) -> Any:
    failure, reply = _failure(trace), trace.get("root_reply")
    if failure is not None:
        return failure
    if isinstance(reply, str):
        return reply
    nodes: Any = trace.get("nodes")
    listed: list[Any] = nodes if isinstance(nodes, list) else []
    for node in reversed(listed):
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
