"""Unusable records of a part, by cause, for the driver to put together with those of the others."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from relfast.distributed.parts import Part, RowAt
from relfast.engine.file_run.first_causes import FAR, explain, invalid_rows
from relfast.engine.job import Job
from relfast.errors import RelfastError
from relfast.json_text import Undecodable
from relfast.stats.unusable import Unusable

MOST: Final = 10_000
"""Causes told apart in a part: a run has fewer, but which ones is known when all are together."""


class PartCauses:
    """Follows a part's rows; places are line numbers in its input."""

    def __init__(self, part: Part, job: Job, row_at: RowAt) -> None:
        self.unusable = Unusable(MOST)
        self._part, self._job, self._row_at = part, job, row_at

    def rows(self, rows: bytes) -> None:
        """Look at rows of output, some of which are unusable."""
        part = self._part
        for row in invalid_rows(rows):
            line = row["index"] - part.first_index
            cause = self.unusable.add(row["error"], str(part.line + line + 1))
            if cause is not None:
                # as far into an input as on one machine
                near = part.line + line < FAR
                with suppress(RelfastError, OSError, Undecodable):
                    explain(cause, self._job, partial(self._row_at, line) if near else dict)
