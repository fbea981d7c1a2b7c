"""Sizes of REL-C's problems, and what is wrong with a wrong answer, from what rows say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Record
from relfast.tasks.display import Measures

_LISTED: Final = re.compile(r"^\d+\. \S", re.MULTILINE)
_MOLECULE: Final = re.compile(r"^\d+\. (\S+)$", re.MULTILINE)
_IN_ID: Final = re.compile(r"_(?:n|given)(\d{1,4})_")
"""Published ids tell the number: ``q2_n25_00428``, ``q3_given35_02737``."""


def listed(question: object) -> list[str]:
    """The molecules that a question lists, a numbered line each with nothing else on it."""
    return _MOLECULE.findall(question) if isinstance(question, str) else []


def molecules(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """How many molecules the question lists; the class is C1's label."""
    answer = record.answer if isinstance(record.answer, Mapping) else {}
    given = answer.get("molecules")
    count = len(given) if isinstance(given, list) else 0
    if not count and isinstance(record.question, str):
        count = len(_LISTED.findall(record.question))
    if not count and isinstance(record.id, str) and (found := _IN_ID.search(record.id)):
        count = int(found[1])
    label = answer.get("label")
    return Measures({"n_molecules": count} if count else {}, label if label in ("Yes", "No") else None)


def label_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C1: which of the two mistakes it is, where gold is known."""
    if gold is None:
        return "wrong verdict"
    return "took isomers for none" if gold == "Yes" else "took others for isomers"


def motif_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C2: how the named molecule stands to the motif."""
    if metrics["response_is_substructure_of_correct"]:
        return "only a part of the motif"
    if metrics["correct_is_substructure_of_response"]:
        return "more than the motif"
    overlap = metrics["overlap_metric"]
    if overlap <= 0:
        return "nothing in common, or no molecule"
    return "shares half of the motif or more" if overlap >= 0.5 else "shares less than half of the motif"


def isomers_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C3: whether isomers are missing, or too many are named."""
    if not metrics["tp"]:
        return "none of the missing isomers"
    if not metrics["fp"]:
        return "some missing, none too many"
    return "some missing, some too many" if metrics["fn"] else "all found, some too many"
