"""A process that lacks the machine code of some units, as before they are compiled."""

from __future__ import annotations

import pytest
from relfast_kernels.compiled import native

from relfast.chem import smiles_table


def without(patch: pytest.MonkeyPatch, *units: str) -> None:
    """Have this process find none of these units."""
    find = native.find
    patch.setattr(native, "find", lambda unit: None if unit in units else find(unit))
    if smiles_table.UNIT in units:
        patch.setattr(smiles_table, "_table", None)
