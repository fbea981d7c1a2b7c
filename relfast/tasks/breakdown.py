"""A table of a task's own aggregates, ready to be shown: in a terminal, on a page, in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ShownTable(NamedTuple):
    """A table of texts; the first column is left-aligned, the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
