"""Reads scored rows back from files, as `Score`s."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from relfast_kernels.layouts import PROMPT_DIGITS

from relfast.engine.io.sources import Source, lines_of, objects_in
from relfast.errors import InputError
from relfast.json_text import decode_object
from relfast.records import STATUSES, Score
from relfast.stats.samples import group_of


def is_row(row: dict[str, Any] | None) -> bool:
    """Whether a decoded line is a scored row."""
    return row is not None and row.get("status") in STATUSES and isinstance(row.get("metrics"), (dict, str))


_PROMPT: Final = re.compile(rf"[0-9a-f]{{{PROMPT_DIGITS}}}")


def prompt_in(row: dict[str, Any]) -> str | None:
    """The ``prompt`` of a scored row, None if it has none that we could have written."""
    prompt = row.get("prompt")
    return prompt if isinstance(prompt, str) and _PROMPT.fullmatch(prompt) else None


def read_scores(source: Source) -> Iterator[Score]:
    """The rows of a file, in order; their ``task`` is the group in which a row is counted (`group_of`).

    Raises
    ------
    InputError
        A line is no scored row.
    """
    for number, row in objects_in(lines_of(source), source.path):
        if not is_row(row):
            raise InputError(
                "is no scored row (no status and metrics); score the dump first",
                file=source.path,
                line=number,
            )
        metrics, wrong = row["metrics"], row.get("error")
        yield Score(
            row.get("index", number - 1),
            # tables hold only texts, of which `id_json` says if they are JSON
            json.loads(row["id"]) if row.get("id_json") is True else row.get("id"),
            group_of(row.get("task")),
            row.get("sample", 0),
            row["status"],
            row.get("correct"),
            row.get("reward"),
            # Parquet and CSV hold JSON texts
            decode_object(metrics.encode()) if isinstance(metrics, str) else metrics,
            decode_object(wrong.encode()) if isinstance(wrong, str) else wrong,
            prompt=prompt_in(row),
        )
