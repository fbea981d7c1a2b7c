"""CSV that no spreadsheet runs: RFC 4180, formulas made into text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes a cell for a formula by (OWASP, "CSV Injection"), in full width too."""


def safe_cell(value: object) -> object:
    """A cell's value; a text that a spreadsheet would run gets an apostrophe, which makes it text there.

    Numbers stay numbers: ``-0.5`` is one, the text ``"-0.5"`` of a record's id is not.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    # lone surrogates have no UTF-8, NUL ends a cell for some readers, and a bare CR a line
    text = str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) or text.startswith(_FORMULA) else text


def csv_line(values: Iterable[object]) -> str:
    """A line of a CSV file: UTF-8 without a mark, LF, everything quoted that needs to be."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow([safe_cell(value) for value in values])
    return stream.getvalue()


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The text of a CSV file."""
    return "".join(map(csv_line, (header, *rows)))
