"""What a worker does with records that a `relfast.Scorer` sends: one after the other, reported as it goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from relfast.engine.pool.protocol import EntriesRequest
from relfast.engine.scoring import Scoring
from relfast.records import Score

REPORT_SECONDS: Final = 0.005
"""Longest time a finished score waits for company. When a record hangs, what was reported before is kept
and its callers go on; a frame a record would cost the parent more than scoring a small molecule."""


def score_entries(request: EntriesRequest, scoring: Scoring) -> Iterator[list[Score]]:
    """Lists of scores that together are the entries' scores, in order."""
    scores: list[Score] = []
    reported = time.monotonic()
    for entry in request.entries:
        scores += scoring.entries([entry], request.verdicts, one_by_one=request.one_by_one)
        if time.monotonic() - reported >= REPORT_SECONDS:
            yield scores
            scores = []
            reported = time.monotonic()
    if scores:
        yield scores
