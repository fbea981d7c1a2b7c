"""Columns of what the kernels for tags are told and tell; as `relfast_kernels.layouts`, without numba."""

from __future__ import annotations

from typing import Final

GOLD_START, GOLD_END, GOLD_GIVEN_END, GOLD_N, GOLD_N_GIVEN, GOLD_KEPT = range(6)
GOLD_COLUMNS: Final = 6
"""Columns of a gold: where its texts begin and end, where those of what the question gave end, which follow
them; how many there are of both; and where their classes are kept (-1: nowhere)."""

TOLD_N, TOLD_START, TOLD_END, TOLD_EDGE, TOLD_EDGE_END, TOLD_HOW, TOLD_FROM, TOLD_TO = range(8)
TOLD_COLUMNS: Final = 8
"""Columns of what is told of a response: how many tags it has, where they are, its edge, which can say what
they are, how it was read, and where it begins and ends without its reasoning."""

READ_PLAIN, READ_NEARLY, READ_EMPTY, READ_ONLY_REASONING = range(4)
"""How a response was read: with plain tags only, or none (the edge is the line before the first); with tags
that are not plain, or marks beside them, so that more around them has to be looked at (the edge is the first
tag itself); as one that is blank, or has reasoning only."""

LEFT_TO_PYTHON: Final = -1
