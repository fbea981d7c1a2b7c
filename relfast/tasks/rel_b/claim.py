"""What a response to REL-B1 claims."""

from __future__ import annotations

from collections.abc import Set
from typing import Final, NamedTuple


class Homoplasy(NamedTuple):
    """A label (yes, no or None) and taxa as they are written, in order."""

    label: str | None
    taxa: list[str]


NOTHING: Final = Homoplasy(None, [])


def vote(claim: Homoplasy) -> int:
    """A number equal for claims of the same label and set of taxa.

    The sum over distinct taxa of their scattered FNV-1a hashes, which `relfast_kernels.text.rel_b` computes
    too.
    """
    return vote_of(claim.label, set(claim.taxa))


def vote_of(label: str | None, taxa: Set[str]) -> int:
    """`vote` of a label and a set of taxa."""
    return sum(map(_share, taxa), 3 if label == "yes" else 2) & 0xFFFF_FFFF


def _share(taxon: str) -> int:
    """What a taxon adds."""
    known = _known.get(taxon)
    if known is not None:
        return known
    value = 2166136261
    for byte in taxon.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 16777619) & 0xFFFF_FFFF
    value *= 2654435761
    if len(_known) < _MOST and len(taxon) <= _SHORT:
        _known[taxon] = value
    return value


_known: Final[dict[str, int]] = {}
_MOST: Final = 1 << 12
_SHORT: Final = 16
"""How many are remembered, and the longest of them: those of a data set are a few hundred numbers."""
