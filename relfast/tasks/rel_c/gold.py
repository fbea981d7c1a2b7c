"""Whether REL-C's gold has the documented form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.tasks.base import Problem
from relfast.tasks.checks import check_label, kind_of, shown

MAX_SMILES_CHARS: Final = 1_000
"""Longer SMILES are refused unread: the longest published one has 119, and giants hang RDKit."""


def check_isomer_set(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """C1: a label."""
    yield from check_label(answer, ("Yes", "No"))
    yield from _check_molecules(answer)


def check_motif(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """C2: a molecule."""
    if "smiles" not in answer:
        yield Problem("answer.smiles", "missing")
    else:
        yield from _check_smiles("answer.smiles", answer["smiles"])
    yield from _check_molecules(answer)


def check_missing_isomers(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """C3: molecules."""
    if "missing_smiles" not in answer:
        yield Problem("answer.missing_smiles", "missing")
    else:
        yield from _check_smiles_list("answer.missing_smiles", answer["missing_smiles"])
    yield from _check_molecules(answer)


def _check_molecules(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """The question's molecules, which a record may repeat in its gold."""
    if "molecules" in answer:
        yield from _check_smiles_list("answer.molecules", answer["molecules"])


def _check_smiles_list(name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(name, f"must be a list of SMILES, not {kind_of(value)}")
    elif not value:
        yield Problem(name, "must not be empty")
    else:
        for i, smiles in enumerate(value):
            yield from _check_smiles(f"{name}[{i}]", smiles)


def _check_smiles(name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem(name, f"must be a SMILES string, not {kind_of(value)}")
    elif not value.strip():
        yield Problem(name, "is empty")
    elif len(value) > MAX_SMILES_CHARS:
        yield Problem(name, f"has {len(value):,} characters; {MAX_SMILES_CHARS:,} are read")
    else:
        from relfast.chem.molecule import parse

        if parse(value) is None:
            yield Problem(name, f"is no readable SMILES: {shown(value)}")
