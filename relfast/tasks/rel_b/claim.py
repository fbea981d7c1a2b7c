"""What a response to REL-B1 claims."""

from __future__ import annotations

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
    total = 3 if claim.label == "yes" else 2
    for taxon in set(claim.taxa):
        value = 2166136261
        for byte in taxon.encode("utf-8", "surrogatepass"):
            value = ((value ^ byte) * 16777619) & 0xFFFF_FFFF
        total += value * 2654435761
    return total & 0xFFFF_FFFF
