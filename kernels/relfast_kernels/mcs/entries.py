"""Entries of the unit ``mcs`` for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from relfast_kernels.mcs.layouts import Common, Comparisons, Parts, Reading
from relfast_kernels.mcs.pairs import compare, first_part, largest, prepare

ENTRIES = {
    "prepare": (prepare, Reading),
    "common": (largest, Common),
    "judge": (compare, Comparisons),
    "judge_one": (compare, Comparisons),
    "part": (first_part, Parts),
}
"""Name → function and what it is given."""
