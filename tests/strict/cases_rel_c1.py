"""Cases of the table rel_c1: published REL-C1 records and some of our generator's."""

from __future__ import annotations

from typing import Any

from corpora import rel_records
from generated import generate
from strict.corpus import Case


def cases() -> list[Case]:
    records = [*rel_records("REL-C1")[::70], *generate("REL-C1", 10, seed=3, sizes=(5, 6))]
    return [_case(record) for record in records]


def _case(record: dict[str, Any]) -> Case:
    right = record["answer"]["label"]
    wrong = "No" if right == "Yes" else "Yes"
    words = {
        "right": right,
        "wrong": wrong,
        "lower": right.lower(),
        "upper": right.upper(),
        "wlower": wrong.lower(),
        "true": "true" if right == "Yes" else "false",
        "false": "false" if right == "Yes" else "true",
        "m": record["answer"]["molecules"][0],
    }
    return Case(record, words, tags=frozenset({right.lower()}))
