"""The ``strict`` reading of a response to REL-B1: a yes or no, and the taxa that a yes comes with."""

from __future__ import annotations

from relfast.records import Extracted
from relfast.tasks.final_value import read_claim
from relfast.tasks.rel_b.claim import NOTHING, Homoplasy
from relfast.tasks.rel_b.kernel_rows import value_of


def extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[Homoplasy]:
    """A `Homoplasy`; ``reason`` as `relfast.tasks.final_value.read_choice` has it."""
    label, taxa, reason = read_claim(response, reasoning)
    if label is None:
        return Extracted(NOTHING, found=False, reason=reason)
    return Extracted(value_of(label, taxa))
