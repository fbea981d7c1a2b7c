"""Samples of Inspect's logs (``inspect eval``; https://inspect.aisi.org.uk/eval-logs.html).

A log is a ZIP with a member per sample (``.eval``) or one indented JSON document (``.json``); epochs of a
sample are samples of one prompt. What counts is ``output.completion``, which Inspect's own scorers see. Gold
is ``metadata.answer`` (with ``metadata.task``), or a target that is JSON text, or comes from ``--data``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.formats.entry import MISSING, NO_CONTENT, Entry, said_in
from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error
from relfast.formats.gold import gold_among, mapping_at, question_of, task_among

MEMBER: Final = re.compile(r"samples/.+_epoch_\d+\.json")
"""Members of a ``.eval`` that are samples."""

KEPT: Final = ("id", "epoch", "input", "target", "metadata", "output", "error", "limit", "attachments")
"""Fields of a sample that are read; a transcript (``events``) can have megabytes."""

_ATTACHED: Final = "attachment://"


def matches(row: Mapping[str, Any]) -> bool:
    return "epoch" in row and "target" in row and isinstance(row.get("output"), Mapping)


def read(row: Mapping[str, Any]) -> Entry:
    metadata = mapping_at(row, "metadata")
    return Entry(
        id=row.get("id", MISSING),
        task=task_among(metadata.get("task")),
        question=_attached(question_of(row.get("input")), row),
        answer=gold_among(metadata.get("answer"), _attached(_first(row.get("target")), row)),
        response=_response(row),
        row=row,
        failure=from_error(row.get("error")),
        numbered=True,
    )


def is_log(document: Any) -> bool:
    """Whether a JSON document is a log."""
    return isinstance(document, Mapping) and "eval" in document and "plan" in document


def rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples of a log in JSON, as far as they are read."""
    for sample in document.get("samples") or ():
        yield kept(sample) if isinstance(sample, Mapping) else sample


def kept(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What of a sample is read."""
    return {key: sample[key] for key in KEPT if key in sample}


def _first(target: Any) -> Any:
    return target[0] if isinstance(target, list) and target else target


def _response(row: Mapping[str, Any]) -> Any:
    output = mapping_at(row, "output")
    failed = from_error(output.get("error"))
    choices = output.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if failed is not None or not isinstance(choice, Mapping):
        limit = mapping_at(row, "limit").get("type")
        reason = f" (limit {limit})" if limit else ""
        return failed or NoResponse(MISSING_RESPONSE, f"output.choices is empty{reason}")
    message = choice.get("message")
    said = said_in(message) if isinstance(message, Mapping) else NO_CONTENT
    if said in ("", NO_CONTENT) and choice.get("stop_reason") == "content_filter":
        return NoResponse("ContentFilter", "the content filter left nothing of the response")
    if isinstance(said, NoResponse):
        return said
    completion = output.get("completion")
    return _attached(completion if isinstance(completion, str) else said, row)


def _attached(text: Any, row: Mapping[str, Any]) -> Any:
    """A text, which a log may keep apart from where it is said."""
    if not (isinstance(text, str) and text.startswith(_ATTACHED)):
        return text
    return mapping_at(row, "attachments").get(text.removeprefix(_ATTACHED), text)
