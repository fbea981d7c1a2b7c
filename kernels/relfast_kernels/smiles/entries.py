"""Entries of the unit ``smiles`` for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from relfast_kernels.smiles.layouts import Coding, Lesson, Lists
from relfast_kernels.smiles.table import code_of, learn, match_lists

ENTRIES = {"match": (match_lists, Lists), "learn": (learn, Lesson), "code": (code_of, Coding)}
"""Name → function and what it is given."""
