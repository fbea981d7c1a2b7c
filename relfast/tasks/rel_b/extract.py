"""What a response to REL-B1 claims: label and taxa, as published and by the forms of ``strict``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from relfast.records import Extracted, Options
from relfast.tasks.final_value import read_claim
from relfast.tasks.reasoning import strip_reasoning


class Homoplasy(NamedTuple):
    """A label (yes, no or None) and taxa as they are written, in order."""

    label: str | None
    taxa: list[str]


NOTHING: Final = Homoplasy(None, [])


LABELS: Final = (None, "no", "yes")
"""As the kernel numbers them."""


def vote(claim: Homoplasy) -> int:
    """A number equal for claims of the same label and set of taxa.

    The sum over distinct taxa of their scattered FNV-1a hashes, which `relfast_kernels.text.rel_b` computes
    too.
    """
    return sum(map(_share, set(claim.taxa)), 3 if claim.label == "yes" else 2) & 0xFFFF_FFFF


def _share(taxon: str) -> int:
    """What a taxon adds. Those of a data set are a few hundred short numbers."""
    return _known_share(taxon) if len(taxon) <= _SHORT else _scattered(taxon)


def _scattered(taxon: str) -> int:
    value = 2166136261
    for byte in taxon.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 16777619) & 0xFFFF_FFFF
    return value * 2654435761


_SHORT: Final = 16
_known_share: Final = lru_cache(maxsize=1 << 12)(_scattered)


_TAXON: Final = re.compile(r"taxon[_\s]?(\d+)")
_NUMBER: Final = re.compile(r"\b(\d+)\b")


def extract(response: object, options: Options) -> Extracted[Homoplasy]:
    """A `Homoplasy`, as the policy reads it."""
    if options.strict:
        return _extract_strict(response, options.reasoning)
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"response is {type(response).__name__}, not text")
    text = (strip_reasoning(response, options.reasoning) if options.strip_reasoning else response).lower()
    yes, no = "yes" in text, "no" in text
    label = None if yes == no else "yes" if yes else "no"
    taxa = _TAXON.findall(text) or _NUMBER.findall(text)
    return Extracted(Homoplasy(label, taxa), found=label is not None)


def _extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[Homoplasy]:
    """A `Homoplasy`; ``reason`` as `relfast.tasks.final_value.read_choice` has it."""
    label, taxa, reason = read_claim(response, reasoning)
    if label is None:
        return Extracted(NOTHING, found=False, reason=reason)
    return Extracted(Homoplasy(LABELS[label], [*map(str, taxa)]))
