"""What the questions of REL-C have in common."""

from __future__ import annotations

from collections.abc import Iterable


def numbered(molecules: Iterable[str]) -> str:
    """Molecules as the published questions list them."""
    return "\n".join(f"{i}. {smiles}" for i, smiles in enumerate(molecules, 1))
