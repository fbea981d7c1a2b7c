"""Kernels that are there, as after `relfast warmup`, and a process that lacks some of them, as before."""

from __future__ import annotations

from pathlib import Path

import pytest
from relfast_kernels.compiled import making, native

from relfast.chem import smiles_table


def without(patch: pytest.MonkeyPatch, *units: str) -> None:
    """Have this process find none of these units."""
    find = native.find
    patch.setattr(native, "find", lambda unit: None if unit in units else find(unit))
    if smiles_table.UNIT in units:
        patch.setattr(smiles_table, "_table", None)


def built(unit: str) -> Path:
    """A unit's library, built if need be."""
    if native.load(unit) is None:
        making.make([unit])
    return native.shared_library(unit)
