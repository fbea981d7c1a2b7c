"""``samples_*.jsonl`` of lm-evaluation-harness: ``doc`` (the record), ``resps``, ``filtered_resps``.

``resps`` holds one list per request, one text per repeat; the raw response counts, not the harness's own
filter, since scoring does its own extraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry


def matches(row: Mapping[str, Any]) -> bool:
    return "doc" in row and ("resps" in row or "filtered_resps" in row)


def read(row: Mapping[str, Any]) -> Entry:
    doc = row["doc"] if isinstance(row["doc"], Mapping) else {}
    entry = Entry(
        id=doc.get("id", row.get("doc_id", MISSING)),
        task=doc.get("task", MISSING),
        question=doc.get("question", MISSING),
        answer=doc.get("answer", MISSING),
        row=doc,
    )
    texts = _flat(row.get("resps") or row.get("filtered_resps"))
    if texts:
        entry.response = texts[0] if len(texts) == 1 else texts
    return entry


def _flat(resps: Any) -> list[Any]:
    if not isinstance(resps, list):
        return [] if resps is None else [resps]
    return [text for item in resps for text in (item if isinstance(item, list) else [item])]
