"""Which texts are molecules, by a kernel where it can say and else by RDKit."""

from __future__ import annotations

from collections.abc import Sequence

from relfast.chem.simple import simple_table


def readable(texts: Sequence[str]) -> list[bool]:
    """For each text whether the published scorer sees a molecule in it."""
    table = simple_table()
    told = [False] * len(texts) if table is None else table.read(texts)
    if all(told):
        return told
    from relfast.chem.molecule import parse

    return [known or parse(text) is not None for known, text in zip(told, texts, strict=True)]
