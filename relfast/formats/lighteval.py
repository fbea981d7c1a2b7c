"""lighteval's details (``details_TASK_DATE.parquet``): ``doc``, ``model_response`` and ``metric``.

``model_response.text`` holds a text per sample. Gold is ``doc.specific.answer``, or the gold choice where it
is JSON text, or comes from ``--data``, joined on ``doc.query``, else on ``doc.specific.id`` or ``doc.id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.formats.failure import MISSING_RESPONSE, NoResponse
from relfast.formats.gold import first_there, gold_among, mapping_at, question_of, task_among


def matches(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("doc"), Mapping) and isinstance(row.get("model_response"), Mapping)


def read(row: Mapping[str, Any]) -> Entry:
    doc, said = row["doc"], row["model_response"]
    specific = mapping_at(doc, "specific")
    texts = said.get("text")
    id = first_there(specific, "id")
    return Entry(
        id=first_there(doc, "id") if id is MISSING else id,
        task=task_among(specific.get("task"), _last_name(doc.get("task_name"))),
        question=question_of(doc.get("query")),
        answer=gold_among(_without_nulls(specific.get("answer")), _gold_choice(doc)),
        response=texts if texts else NoResponse(MISSING_RESPONSE, "model_response.text is empty"),
        row=doc,
        numbered=id is MISSING,
    )


def _last_name(name: Any) -> Any:
    """``rel_a1`` of ``community|rel_a1|0``."""
    parts = name.split("|") if isinstance(name, str) else []
    return parts[1] if len(parts) > 1 else name


def _without_nulls(answer: Any) -> Any:
    # a struct column holds the union of all rows' keys
    if isinstance(answer, Mapping):
        return {key: value for key, value in answer.items() if value is not None}
    return answer


def _gold_choice(doc: Mapping[str, Any]) -> Any:
    choices, at = doc.get("choices"), doc.get("gold_index")
    at = at[0] if isinstance(at, list) and at else at
    if isinstance(choices, list) and isinstance(at, int) and 0 <= at < len(choices):
        return choices[at]
    return MISSING
