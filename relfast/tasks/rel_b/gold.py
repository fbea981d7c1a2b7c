"""Whether REL-B1's gold has the documented form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from relfast.tasks.checks import check_label, is_int, kind_of, shown
from relfast.tasks.facts import Problem


def check(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """A yes has taxa, a no has none."""
    label, taxa = answer.get("label"), answer.get("taxa")
    yield from check_label(answer, ("yes", "no"))
    if "taxa" not in answer:
        yield Problem("answer.taxa", "missing")
    elif not isinstance(taxa, list):
        yield Problem("answer.taxa", f"must be a list of integers, not {kind_of(taxa)}")
    else:
        for i, taxon in enumerate(taxa):
            if not is_int(taxon):
                yield Problem(f"answer.taxa[{i}]", f"must be an integer, not {shown(taxon)}")
        if label == "yes" and not taxa:
            yield Problem("answer.taxa", "must not be empty where the label is yes")
        if label == "no" and taxa:
            yield Problem("answer.taxa", "must be empty where the label is no")
