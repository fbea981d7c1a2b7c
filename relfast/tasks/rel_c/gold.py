"""Checks that the gold of REL-C records has the documented form (`Gold.check`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relfast_kernels.smiles.layouts import MAX_SMILES

from relfast.tasks.base import Problem, check_label, kind_of, shown


def check_isomer_set(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """C1: gold is a label."""
    yield from check_label(answer, ("Yes", "No"))
    yield from _check_molecules(answer)


def check_motif(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """C2: gold is a molecule."""
    if "smiles" not in answer:
        yield Problem("answer.smiles", "missing")
    else:
        yield from _check_each({"answer.smiles": answer["smiles"]})
    yield from _check_molecules(answer)


def check_missing_isomers(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """C3: gold is a list of molecules."""
    if "missing_smiles" not in answer:
        yield Problem("answer.missing_smiles", "missing")
    else:
        yield from _check_smiles_list("answer.missing_smiles", answer["missing_smiles"])
    yield from _check_molecules(answer)


def _check_molecules(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the question's molecules, which gold may repeat."""
    if "molecules" in answer:
        yield from _check_smiles_list("answer.molecules", answer["molecules"])


def _check_smiles_list(name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(name, f"must be a list of SMILES, not {kind_of(value)}")
    elif not value:
        yield Problem(name, "must not be empty")
    else:
        yield from _check_each({f"{name}[{i}]": smiles for i, smiles in enumerate(value)})


def _check_each(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Check SMILES; keys are their field names, for the messages."""
    flaws = {name: _flaw_of_text(value) for name, value in values.items()}
    texts = [value for name, value in values.items() if flaws[name] is None]
    is_read = iter(readable(texts))
    for name, value in values.items():
        flaw = flaws[name]
        if flaw is None and not next(is_read):
            flaw = f"is no readable SMILES: {shown(value)}"
        if flaw is not None:
            yield Problem(name, flaw)


def _flaw_of_text(value: Any) -> str | None:
    """Why a value is rejected without being parsed, or None."""
    if not isinstance(value, str):
        return f"must be a SMILES string, not {kind_of(value)}"
    if not value.strip():
        return "is empty"
    if len(value) > MAX_SMILES:
        return f"has {len(value):,} characters; {MAX_SMILES:,} are read"
    return None


def readable(texts: Sequence[str]) -> list[bool]:
    """For each text, whether the published scorer can parse it as a molecule."""
    from relfast.chem.smiles_table import simple_table

    table = simple_table()
    is_molecule = [False] * len(texts) if table is None else table.read(texts)
    if all(is_molecule):
        return is_molecule
    from relfast.chem.molecule import parse

    return [known or parse(text) is not None for known, text in zip(is_molecule, texts, strict=True)]
