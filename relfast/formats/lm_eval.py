"""``samples_*.jsonl`` of lm-evaluation-harness: ``doc`` (the record), ``resps``, ``filtered_resps``.

``resps`` holds one list per request, one text per repeat; the raw response counts, not the harness's own
filter, since scoring does its own extraction. A task with several filters has every document once per filter,
with the same ``resps``: `relfast.engine.io.filters` chooses whose rows are scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.formats.failure import MISSING_RESPONSE, NoResponse


def matches(row: Mapping[str, Any]) -> bool:
    return "doc" in row and ("resps" in row or "filtered_resps" in row)


def read(row: Mapping[str, Any]) -> Entry:
    doc = row.get("doc")
    if not isinstance(doc, Mapping):
        doc = {}
    return Entry(
        id=doc.get("id", row.get("doc_id", MISSING)),
        task=doc.get("task", MISSING),
        question=doc.get("question", MISSING),
        answer=doc.get("answer", MISSING),
        # several requests, or repeats, are samples; one is a list of one
        response=_flat(row.get("resps")) or _flat(row.get("filtered_resps")) or _NONE,
        row=doc,
        filter=filter_of(row),
    )


def filter_of(row: Mapping[str, Any]) -> str | None:
    """The filter a row is about; None where it names none, as rows of older versions do."""
    name = row.get("filter")
    return name if isinstance(name, str) else None


_NONE = NoResponse(MISSING_RESPONSE, "resps holds no response")


def _flat(resps: Any) -> list[Any]:
    if not isinstance(resps, list):
        return [] if resps is None else [resps]
    return [text for item in resps for text in (item if isinstance(item, list) else [item])]
