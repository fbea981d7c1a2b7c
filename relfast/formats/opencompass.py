"""OpenCompass' predictions (``predictions/MODEL/DATASET.json``): one indented object, ``"0"``, ``"1"``, …
with ``origin_prompt``, ``prediction`` and ``gold``.

The key is the id unless the row has another. Gold is ``gold`` where it is JSON text, or comes from
``--data``, joined on the prompt (its last human part), else on the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from relfast.formats.entry import Entry
from relfast.formats.gold import first_there, gold_among, question_of


def matches(row: Mapping[str, Any]) -> bool:
    return "prediction" in row and "origin_prompt" in row


def read(row: Mapping[str, Any]) -> Entry:
    return Entry(
        id=first_there(row, "id", "idx"),
        question=question_of(row["origin_prompt"]),
        answer=gold_among(row.get("gold")),
        response=row["prediction"],
        row=row,
        numbered=True,
    )


def is_predictions(document: Any) -> bool:
    """Whether a JSON document holds predictions by number."""
    if not isinstance(document, Mapping) or not document:
        return False
    return all(isinstance(row, Mapping) and matches(row) for row in document.values())


def rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The predictions, each with its key as ``idx``."""
    for key, row in document.items():
        yield {"idx": key, **row}
