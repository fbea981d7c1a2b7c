"""Columns of what the kernels for tags are told and tell; as `relfast_kernels.layouts`, without numba."""

from __future__ import annotations

from typing import Final

GOLD_START, GOLD_END, GOLD_GIVEN_END, GOLD_N, GOLD_N_GIVEN, GOLD_KEPT = range(6)
GOLD_COLUMNS: Final = 6
"""Columns of a gold: where its texts begin and end, where those of what the question gave end, which follow
them; how many there are of both; and where their classes are kept (-1: nowhere)."""

TOLD_N, TOLD_START, TOLD_END, TOLD_HOW = range(4)
TOLD_COLUMNS: Final = 4
"""Columns of what is told of a response: how many tags it has, where they are, and how it was read."""

READ_PLAIN, READ_NEARLY, READ_EMPTY, READ_ONLY_REASONING, READ_SEVERAL, READ_FORM = range(6)
"""How a response was read: plain letters only, or no tag; other letters, too; as one that is blank, has
reasoning only, or names several molecules where one is asked for; or not to its end, where another form of
an answer may stand behind the last tag."""

LEFT_TO_PYTHON: Final = -1
