"""How long a SMILES may be."""

from __future__ import annotations

from typing import Final

MAX_CHARS: Final = 1_000
"""Longest SMILES that strict reads; the longest published gold has 90 characters."""
