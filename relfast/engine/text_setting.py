"""Whether a job's lines can take the text fast path: asked by whoever opens no such path."""

from __future__ import annotations

from relfast.engine.job import Job
from relfast.engine.text_table import can_hold


def serves(job: Job) -> bool:
    """Whether a job's settings are those that the fast path reads lines under."""
    return can_hold(job.field_map)
