"""Molecules as the published questions list them."""

from __future__ import annotations

from collections.abc import Iterable


def numbered(molecules: Iterable[str]) -> str:
    """One molecule a line, counted from 1."""
    return "\n".join(f"{i}. {smiles}" for i, smiles in enumerate(molecules, 1))
