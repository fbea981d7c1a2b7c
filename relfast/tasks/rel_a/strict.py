"""The ``strict`` reading of a response to REL-A1…A7: the choice it commits to, or the reason why none."""

from __future__ import annotations

from relfast.records import Extracted
from relfast.tasks.final_value import read_choice


def extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[int | None]:
    """The chosen panel, 0-based; ``reason`` as `relfast.tasks.final_value.read_choice` has it."""
    value, reason = read_choice(response, reasoning)
    return Extracted(None if value is None else value - 1, found=value is not None, reason=reason)
