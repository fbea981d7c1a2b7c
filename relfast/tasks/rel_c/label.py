"""Reading the label out of a response to REL-C1.

As published, the first ``<Yes>`` or ``<No>`` tag; under ``strict`` the final answer, in a documented form.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.final_value import read_label
from relfast.tasks.reasoning import strip_reasoning

# case is ignored the way Python's `re` does on text, where ``ı`` is an ``i``
_YES_NO: Final = re.compile(r"<\s*+(yes|no)\s*+>", re.IGNORECASE)


def extract_label(response: object, options: Options) -> Extracted[str | None]:
    """``Yes``, ``No`` or None."""
    if options.strict:
        return _extract_strict(response, options.reasoning)
    if not isinstance(response, str):
        return Extracted(None, found=False)
    match = _YES_NO.search(
        strip_reasoning(response, options.reasoning) if options.strip_reasoning else response
    )
    if match is None:
        return Extracted(None, found=False)
    return Extracted(match[1].capitalize())


def _extract_strict(response: object, reasoning: tuple[tuple[str, str], ...]) -> Extracted[str | None]:
    label, reason = read_label(response, reasoning)
    if label is None:
        return Extracted(None, found=False, reason=reason)
    return Extracted("Yes" if label == 2 else "No")
