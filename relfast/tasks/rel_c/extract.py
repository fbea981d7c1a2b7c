"""Reading tags out of responses to REL-C2 and C3; `label` has C1.

The published patterns ignore case the way Python's `re` does on text, where ``ſ`` is an ``s`` and ``ı``
an ``i``. On ASCII text a plain search for the literal finds the same places at a tenth of the cost.

``strict`` reads as `relfast_kernels.tags.strict` does.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.reasoning import read_strictly, strip_reasoning
from relfast.tasks.rel_c.block_tags import read_molecules

SMILES_TAG: Final = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)


def _reference_text(response: object, options: Options) -> str | None:
    if not isinstance(response, str):
        return None
    return strip_reasoning(response, options.reasoning) if options.strip_reasoning else response


def extract_molecule(response: object, options: Options) -> Extracted[str | None]:
    """REL-C2: the SMILES text, or None."""
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is not None:
            return Extracted(None, found=False, reason=reason)
        found, reason = read_molecules(text, one=True)
        return Extracted(found[0] if found else None, found=bool(found), reason=reason)
    text_or_none = _reference_text(response, options)
    match = SMILES_TAG.search(text_or_none) if text_or_none is not None else None
    if match is None:
        return Extracted(None, found=False)
    smiles = match[1].strip()
    return Extracted(smiles, found=bool(smiles))


def extract_molecules(response: object, options: Options) -> Extracted[list[str]]:
    """REL-C3: the list of SMILES texts, in order, duplicates kept."""
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is not None:
            return Extracted([], found=False, reason=reason)
        smiles, reason = read_molecules(text, one=False)
        return Extracted(smiles, found=bool(smiles), reason=reason)
    text_or_none = _reference_text(response, options)
    smiles = [s.strip() for s in SMILES_TAG.findall(text_or_none)] if text_or_none is not None else []
    return Extracted(smiles, found=bool(smiles))
