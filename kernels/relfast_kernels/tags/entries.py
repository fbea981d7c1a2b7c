"""Entries of the unit ``tags`` for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from relfast_kernels.tags.layouts import Answer, Responses
from relfast_kernels.tags.read import gather, read_answer

ENTRIES = {"gather": (gather, Responses), "read": (read_answer, Answer)}
"""Name → function and what it is given."""
