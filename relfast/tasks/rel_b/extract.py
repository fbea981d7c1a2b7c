"""Reading label and taxa out of a response to REL-B1 as published; `strict` has the other policy."""

from __future__ import annotations

import re
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.reasoning import strip_reasoning
from relfast.tasks.rel_b.claim import NOTHING, Homoplasy
from relfast.tasks.rel_b.strict import extract_strict

_TAXON: Final = re.compile(r"taxon[_\s]?(\d+)")
_NUMBER: Final = re.compile(r"\b(\d+)\b")


def extract(response: object, options: Options) -> Extracted[Homoplasy]:
    """A `Homoplasy`, as the policy reads it."""
    if options.strict:
        return extract_strict(response, options.reasoning)
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"response is {type(response).__name__}, not text")
    text = (strip_reasoning(response, options.reasoning) if options.strip_reasoning else response).lower()
    yes, no = "yes" in text, "no" in text
    label = None if yes == no else "yes" if yes else "no"
    taxa = _TAXON.findall(text) or _NUMBER.findall(text)
    return Extracted(Homoplasy(label, taxa), found=label is not None)
