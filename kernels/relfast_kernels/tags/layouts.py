"""Columns of what the kernels for tags are told and tell; as `relfast_kernels.layouts`, without numba."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

Gold = namedtuple("Gold", "start end given_end n n_given")
GOLD: Final = Gold(*range(5))
GOLD_COLUMNS: Final = 5
"""Columns of a gold: where its texts begin and end, where those of what the question gave end, which follow
them; and how many there are of both."""

Told = namedtuple("Told", "n start end how")
TOLD: Final = Told(*range(4))
TOLD_COLUMNS: Final = 4
"""Columns of what is told of a response: how many tags it has, where they are, and how it was read."""

How = namedtuple("How", "plain nearly empty only_reasoning several form")
HOW: Final = How(*range(6))
"""How a response was read: plain letters only, or no tag; other letters, too; as one that is blank, has
reasoning only, or names several molecules where one is asked for; or not to its end, where another form of
an answer may stand behind the last tag."""

LEFT_TO_PYTHON: Final = -1
