"""Inputs whose first rows are of no dialect are refused before an output is made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from relfast.engine.io.codecs import Damaged
from relfast.engine.io.parquet import head_rows
from relfast.engine.io.sources import Source
from relfast.engine.job import Job
from relfast.errors import InputError
from relfast.formats import DIALECTS, recognise
from relfast.json_text import Undecodable, decode_object

HEAD_BYTES: Final = 1 << 16
HEAD_ROWS: Final = 8

_FAILED: Final = ("error", "status_code")
"""Keys by which any row may say that its response failed."""

_TEXTS: Final = (
    "response", "completion", "output", "text", "generation", "generated_text", "prediction", "predicted_text",
    "answer_text", "model_output", "model_response", "resps", "responses", "completions", "outputs", "generations",
    "content", "output_text", "samples", "predictions",
)  # fmt: skip
"""Keys under which responses stand, the likeliest first."""

_DEPTH: Final = 5
_SHOWN_KEYS: Final = 8


def check_recognised(sources: Sequence[Source], job: Job) -> None:
    """See that the first rows of each file are of a dialect.

    Raises
    ------
    InputError
        Of a file's first rows (those that are JSON objects), none is of a dialect, and ``--map`` does not say
        where their response is.
    """
    if job.dialect != "auto" or "response" in job.field_map:
        return
    for source in sources:
        if source.regular:
            rows = list(_first_rows(source))
            if rows and not any(recognise(row) or any(key in row for key in _FAILED) for row in rows):
                raise InputError(_unknown(rows[0]), file=source.path)


def _first_rows(source: Source) -> Iterator[dict[str, Any]]:
    for line in _head(source)[:HEAD_ROWS]:
        with contextlib.suppress(Undecodable):
            yield decode_object(line)


def _head(source: Source) -> list[bytes]:
    if source.codec == "parquet":
        return head_rows(source.path, HEAD_ROWS)
    head = b""
    # what is damaged gets its row when it is read to be scored
    with contextlib.suppress(Damaged), source.open() as stream:
        while len(head) <= HEAD_BYTES and (chunk := stream.read(HEAD_BYTES + 1 - len(head))):
            head += chunk
    lines = head.split(b"\n")
    if len(head) > HEAD_BYTES:
        lines.pop()
    return [line for line in lines if line.strip()]


def _unknown(row: Mapping[str, Any]) -> str:
    keys = ", ".join(map(repr, list(row)[:_SHOWN_KEYS])) + (", …" if len(row) > _SHOWN_KEYS else "")
    shown = keys or "no keys at all"
    known = ", ".join(name for name in DIALECTS if name != "native")
    if {"question", "answer"} <= row.keys():
        what = "records without a 'response' (gold is named with --data)"
    else:
        what = f"rows of no dialect that is known ({known})"
    place = next(_places(row), None)
    advice = f"perhaps --map response={place}" if place else "--map response=PATH says where the response is"
    return f"{what}; their keys are {shown}; {advice}"


def _places(row: Mapping[str, Any]) -> Iterator[str]:
    """Paths to what may be a response, the likeliest first."""
    found = list(_texts_in(row, (), _DEPTH))
    for name in _TEXTS:
        yield from (".".join(path) for path in found if name in path)


def _texts_in(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    if isinstance(value, str):
        yield path
    elif not depth:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and "." not in key:
                yield from _texts_in(item, (*path, key), depth - 1)
    elif isinstance(value, list) and value:
        yield from _texts_in(value[0], (*path, "*"), depth - 1)
