"""What a report shows for REL-B1: rates by number of taxa, and which taxa a response found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Record
from relfast.tasks.display import (
    Axis,
    Display,
    Exhibit,
    Layout,
    Listing,
    Mark,
    Measures,
    Shown,
    verdict_columns,
)
from relfast.tasks.rel_b.score import alignment_in

DISPLAY: Final = Display(
    shown=("f1",),
    axes=(
        Axis("taxa", "number of taxa"),
        Axis("columns", "columns of the alignment"),
        Axis("involved", "taxa of the homoplasy"),
    ),
    measure="relfast.tasks.rel_b.display:measure",
    mistake="relfast.tasks.rel_b.display:mistake",
    exhibit="relfast.tasks.rel_b.display:exhibit",
    layouts=(Layout("By number of taxa", "taxa", "N_taxa", verdict_columns("yes", "no")),),
)


def measure(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """Number and length of the alignment's sequences, and number of gold taxa; the class is gold's label."""
    answer = record.answer if isinstance(record.answer, Mapping) else {}
    sizes: dict[str, float | str] = {}
    if isinstance(record.question, str):
        rows = alignment_in(record.question)
        if rows:
            sizes = {"taxa": record.question.count(">"), "columns": len(rows[0][1])}
    taxa, label = answer.get("taxa"), answer.get("label")
    if isinstance(taxa, list):
        sizes["involved"] = len(taxa)
    return Measures(sizes, label if label in ("yes", "no") else None)


def mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """Say whether a wrong row has the wrong verdict or the wrong taxa."""
    if gold == "no":
        return "sees homoplasy where there is none"
    if gold == "yes" and metrics["recall"] == 0:
        return "misses the homoplasy, or names none of its taxa"
    return "wrong verdict or taxa"


def exhibit(shown: Shown) -> Exhibit:
    """Show the verdict and which taxa were found, missed, or named wrongly."""
    from relfast.tasks.rel_b.score import extract, gold_names

    answer, label = shown.answer, shown.answer.get("label")
    taxa = answer.get("taxa") or ()
    gold = {str(taxon) for taxon in taxa}
    if shown.strict:
        gold = set(gold_names(taxa, shown.record.question, answer.get("taxa_as")))
    response = shown.record.response
    claim = extract(response, shown.options).value
    named = {str(taxon) for taxon in claim.taxa}
    why = ""
    if not shown.correct:
        why = f"It says {claim.label or 'neither yes nor no'}; the label is {label}."
        if claim.label == label:
            why = f"{len(gold & named)} of {len(gold)} taxa are named, and {len(named - gold)} others."
    rows = (
        ("found", _listed(gold & named)),
        ("missed", _listed(gold - named)),
        ("false positives", _listed(named - gold)),
    )
    listings = (Listing("Taxa", ("", "taxa"), rows),) if gold or named else ()
    return Exhibit(_marks(response, claim.label, named, shown.strict), why, (), listings)


def _listed(taxa: set[str]) -> str:
    return ", ".join(sorted(taxa, key=lambda taxon: (len(taxon), taxon))[:500]) or "none"


def _marks(response: object, label: str | None, taxa: set[str], strict: bool) -> tuple[Mark, ...]:
    if label is None or not isinstance(response, str):
        return ()
    verdicts = list(re.finditer(rf"\b{label}\b" if strict else label, response, re.IGNORECASE))
    marks = [Mark(*verdicts[-1 if strict else 0].span())] if verdicts else []
    numbers = [
        one
        for one in re.finditer(r"(?:taxon[_\s]?)?\b\d+\b|taxon_(\d+)", response)
        if one[0].rpartition("_")[2].split()[-1] in taxa
    ]
    marks += [Mark(*one.span(), "taxon") for one in numbers[:500]]
    return tuple(sorted(marks))
