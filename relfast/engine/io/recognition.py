"""Inputs whose first rows are of no dialect are refused before an output is made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from relfast.engine.io.codecs import Damaged
from relfast.engine.io.parquet import head_rows
from relfast.engine.io.sources import Source
from relfast.engine.job import Job
from relfast.errors import InputError
from relfast.formats import recognise
from relfast.formats.unknown import unknown_rows
from relfast.json_text import Undecodable, decode_object

HEAD_BYTES: Final = 1 << 16
HEAD_ROWS: Final = 8

_FAILED: Final = ("error", "status_code")
"""Keys by which any row may say that its response failed."""


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
                raise InputError(unknown_rows(rows[0]), file=source.path)


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
