"""Reading tags out of responses to REL-C2 and C3; `label` has C1.

The published patterns ignore case the way Python's `re` does on text, where ``ſ`` is an ``s`` and ``ı``
an ``i``. On ASCII text a plain search for the literal finds the same places at a tenth of the cost.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.final import Candidate, final_candidates
from relfast.tasks.reasoning import read_strictly, strip_reasoning

_SMILES: Final = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)
# strict: all that stands in the tag, so that text after the SMILES is seen and turned down
_SMILES_STRICT: Final = re.compile(r"<smiles>([^<]++)(?:</smiles>)?+", re.IGNORECASE | re.ASCII)

PLACEHOLDER: Final = "YOUR_SMILES_HERE"
"""What the question writes where an answer goes; a response that repeats it answers nothing by it."""


def _tags(text: str) -> list[Candidate]:
    found = [Candidate(m.start(), m.end(), m[1].strip()) for m in _SMILES_STRICT.finditer(text)]
    return [tag for tag in found if tag.value and tag.value != PLACEHOLDER]


def _reference_text(response: object, options: Options) -> str | None:
    if not isinstance(response, str):
        return None
    return strip_reasoning(response) if options.strip_reasoning else response


def extract_molecule(response: object, options: Options) -> Extracted[str | None]:
    """REL-C2: the SMILES text, or None."""
    if options.strict:
        text, reason = read_strictly(response)
        if reason is not None:
            return Extracted(None, found=False, reason=reason)
        tags = _tags(text)
        if not tags:
            return Extracted(None, found=False, reason="no_answer")
        final = {tag.value for tag in final_candidates(text, tags)}
        if len(final) > 1:
            return Extracted(None, found=False, reason="several_answers")
        return Extracted(final.pop())
    text_or_none = _reference_text(response, options)
    match = _SMILES.search(text_or_none) if text_or_none is not None else None
    if match is None:
        return Extracted(None, found=False)
    smiles = match[1].strip()
    return Extracted(smiles, found=bool(smiles))


def extract_molecules(response: object, options: Options) -> Extracted[list[str]]:
    """REL-C3: the list of SMILES texts, in order, duplicates kept."""
    if options.strict:
        text, reason = read_strictly(response)
        if reason is not None:
            return Extracted([], found=False, reason=reason)
        inside = map(str.strip, _SMILES_STRICT.findall(text))
        smiles = [one for one in inside if one and one != PLACEHOLDER]
        return Extracted(smiles, found=bool(smiles), reason=None if smiles else "no_answer")
    text_or_none = _reference_text(response, options)
    smiles = [s.strip() for s in _SMILES.findall(text_or_none)] if text_or_none is not None else []
    return Extracted(smiles, found=bool(smiles))
