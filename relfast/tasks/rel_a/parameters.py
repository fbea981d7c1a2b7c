"""What a run of new REL-A records is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from relfast.parameters import Choice, Whole, parameter

Distractors = Literal["random", "hard"]


@dataclass(frozen=True, slots=True)
class MatrixParameters:
    """Parameters of REL-A1…A4.

    Attributes
    ----------
    gridsize
        Rows and columns of a panel, 2 to 20; at least 3 for REL-A4 and for hard distractors.
    maxval
        Values lie in 0…maxval.
    distractors
        ``hard`` or ``random`` (published: the shortest choice is right in A2…A4).
    """

    gridsize: int = parameter(3, Whole(), "Rows and columns of a panel.")
    maxval: int = parameter(1000, Whole(), "Largest value.")
    distractors: Distractors = parameter(
        "hard",
        Choice(get_args(Distractors)),
        "Other choices: near misses that break one element of the rule, or random matrices, as published.",
    )
