"""The options of REL-C1…C3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypedDict, get_args

from relfast.parameters import Choice, Whole, parameter
from relfast.records import Options

Tautomers = Literal["apart", "joined"]

MCS_TIMEOUT: Final = 5
"""Seconds the published scorer gives RDKit's search."""


def mcs_timeout_within(timeout: float) -> int:
    """Whole seconds for RDKit's search within a record's deadline.

    It must end before the record's own deadline for its result, cut short and flagged, to become a row; so
    it gets a second less than the record where that is tighter than the published `MCS_TIMEOUT`.
    """
    if timeout <= 0:
        return MCS_TIMEOUT
    return max(1, min(MCS_TIMEOUT, int(timeout) - 1))


@dataclass(frozen=True)
class RelCOptions(Options):
    """What decides a score of REL-C1…C3."""

    tautomers: Tautomers = parameter(
        "apart", Choice(get_args(Tautomers)), "strict: are tautomers one molecule?", strict_only=True
    )
    mcs_timeout: int = parameter(
        MCS_TIMEOUT,
        Whole(0),
        "Seconds RDKit's search of a maximum common substructure may take.",
        flag=None,
        shown=False,
        within=mcs_timeout_within,
    )


class RelCKeywords(TypedDict, total=False):
    """`RelCOptions` as keywords."""

    tautomers: Tautomers
    mcs_timeout: int
