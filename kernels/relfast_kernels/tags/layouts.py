"""Columns of what the kernels for tags read and write; without numba, as `relfast_kernels.layouts`."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

Gold = namedtuple("Gold", "start end given_end n n_given")
GOLD: Final = Gold(*range(5))
GOLD_COLUMNS: Final = 5
"""Columns of a gold: start and end of its texts in the store; the end of the texts that the question gave,
which follow them; and the numbers of both."""

Told = namedtuple("Told", "n start end how")
TOLD: Final = Told(*range(4))
TOLD_COLUMNS: Final = 4
"""Columns of a reading of a response: its number of molecules, their start and end, and how it was read."""

How = namedtuple("How", "plain nearly empty only_reasoning several form")
HOW: Final = How(*range(6))
"""How a response was read. plain: plain letters only, or no tag. nearly: other letters, too. empty: it is
blank. only_reasoning: nothing else is in it. several: it names several molecules where one is asked for.
form: not read to its end, as another form of an answer may stand after the last tag."""

LEFT_TO_PYTHON: Final = -1
