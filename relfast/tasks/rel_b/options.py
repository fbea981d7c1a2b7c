"""The options of REL-B1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from relfast.parameters import Number, parameter
from relfast.records import Options


@dataclass(frozen=True)
class RelBOptions(Options):
    """What decides a score of REL-B1."""

    b1_min_f1: float = parameter(
        0.5, Number(0, 1), "strict: smallest F1 of a right REL-B1 yes.", strict_only=True
    )


class RelBKeywords(TypedDict, total=False):
    """`RelBOptions` as keywords."""

    b1_min_f1: float
