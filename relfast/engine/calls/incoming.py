"""Checks and converts what Python callers pass, to the JSON values and texts that tasks expect."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, Final

from relfast.errors import UsageError
from relfast.formats.entry import plain_messages, text_of
from relfast.formats.failure import NoResponse
from relfast.json_text import plain
from relfast.records import Record, Score


def flaw_of(record: Record) -> Score | None:
    """The unscored row of a record whose gold JSON cannot express; None if it can."""
    try:
        plain(record.answer)
    except Exception as error:
        return not_plain(record, error)
    return None


def not_plain(record: Record, error: Exception) -> Score:
    """The unscored row of a record whose gold JSON cannot express; ``error`` is the exception of `plain`."""
    message = f"answer has something in it that JSON has not ({error}): pass dicts, lists, texts and numbers"
    return record.unscored("invalid_record", "InvalidGold", message)


def response_in(response: object) -> Any:
    """The text of a response as Python callers pass it: a text, or chat messages (mappings or objects), of
    which the assistant's last counts. A `NoResponse` for a chat without an answer; what cannot be read is
    returned unchanged."""
    if isinstance(response, NoResponse):
        return response
    if type(response) is list and len(response) == 1 and type(response[0]) is dict and len(response[0]) == 2:
        content = response[0].get("content")
        if type(content) is str and response[0].get("role") == "assistant":
            return content  # the usual form, handled first
    return text_of(plain_messages(response))


def check_records(records: object) -> None:
    """Raise `UsageError`, with advice on what to write instead, unless ``records`` can be several records.

    Texts, mappings and data frames are refused, though they are iterables (of characters, keys, columns).
    """
    if isinstance(records, str | os.PathLike):
        raise UsageError(
            f"records must be dicts, not a path: relfast.score_file({os.fspath(records)!r:.60}) scores a file"
        )
    if isinstance(records, bytes | bytearray):
        raise UsageError("records must be dicts, not bytes: decode each line by json.loads")
    if isinstance(records, Mapping):
        raise UsageError("records must be several: for one, write score([record])")
    for method, written in _FRAMES.items():
        if hasattr(records, method) and hasattr(records, "columns"):
            raise UsageError(f"records must be dicts, not a {type(records).__name__}: write score({written})")
    if not isinstance(records, Iterable):
        raise UsageError(f"records must be an iterable of dicts, not {records!r:.60}")


_FRAMES: Final = {
    "to_pylist": "table.to_pylist()",
    "to_dicts": "frame.to_dicts()",
    "to_dict": "frame.to_dict('records')",
}
"""Methods that identify pyarrow, Polars and pandas, and the expression that gives their rows as dicts."""


Columns = tuple[list[Any], list[Any], list[Any], list[Any] | None]
"""Tasks, answers, responses and questions of a batch; None in place of questions if there are none."""


def columns_of(
    tasks: str | Sequence[str | None] | None,
    answers: Sequence[object],
    responses: Sequence[object],
    questions: Sequence[object] | None,
) -> Columns:
    """The columns of a batch as lists of one length.

    Raises
    ------
    UsageError
        The columns differ in length, or one of them is a single text or answer.
    """
    _check_column("answers", answers)
    _check_column("responses", responses)
    n = len(responses)
    names = [tasks] * n if isinstance(tasks, str) or tasks is None else list(tasks)
    asked = None if questions is None else list(questions)
    if not len(names) == len(answers) == (n if asked is None else len(asked)) == n:
        raise UsageError(
            f"lengths differ: {len(names)} tasks, {len(answers)} answers, {n} responses,"
            f" {n if asked is None else len(asked)} questions"
        )
    return names, list(answers), list(responses), asked


def _check_column(name: str, values: object) -> None:
    """Raise `UsageError` if a column of a batch is a single value or has no length."""
    if type(values) is list or type(values) is tuple:
        return
    if isinstance(values, str | bytes | Mapping):
        raise UsageError(f"{name} must be a sequence, one for each response: for one, write [{name[:-1]}]")
    if not isinstance(values, Sized):
        raise UsageError(f"{name} must be a sequence with a length, not {values!r:.60}")
