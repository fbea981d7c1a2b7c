"""Rows as tools write them: the kernel reads them all, and writes the bytes that the ordinary way writes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tool_rows
from corpora import rel_records
from mutated_corpus import JOBS, ways_of

from benchmarks.workloads_dumps import DUMPS, typographic
from relfast.engine.gold_records import GoldRecords
from relfast.formats import Entry
from relfast.formats.paths import MISSING

TASKS = DUMPS[r"native, 15 % with \uXXXX, 20 % REL-B1"]
BY_PROMPT = {tool_rows.vllm, tool_rows.trl}
JOINED = {*tool_rows.BATCHES, *BY_PROMPT}
"""Rows that have no gold of their own."""
LEFT = {tool_rows.listed_id}
"""Rows whose id is no text or number, which are decoded as JSON."""


def lines_of(row: Any, n: int = 40) -> list[bytes]:
    """Lines of some kind, of all text tasks."""
    return [
        json.dumps(
            row(record, [texts[0], typographic(texts[0])[:900]], number), ensure_ascii=number % 2 == 0
        ).encode()
        for number, (record, texts) in enumerate(TASKS._responses(n, 5))
    ]


@pytest.mark.parametrize(
    "kind", ["plain", "details", "joined", "joined with details", "strict", "strict, joined"]
)
@pytest.mark.parametrize("row", tool_rows.ALL, ids=lambda row: row.__name__)
def test_both_ways_write_the_same(row: Any, kind: str, gold: str) -> None:
    lines = lines_of(row)
    found = ways_of(kind, gold).same(lines)
    if row not in LEFT and (row in JOINED) == ("data" in JOBS[kind]) and "strict" not in kind:
        several = _asked_by_several(len(lines)) if row in BY_PROMPT else 0
        assert found.n_fast == len(lines) - several, "the ordinary way took some"
        assert found.written.count(b'"status":"ok"') > len(lines) // 2


def _asked_by_several(n: int) -> int:
    """How many of the lines are of a question that several gold records ask: which is meant is unknown."""
    asked = Counter(record["question"].strip() for record in rel_records("REL-B1"))
    return sum(asked[record["question"].strip()] > 1 for record, _ in TASKS._responses(n, 5))


def test_gold_in_a_text_is_read(gold: str) -> None:
    lines = lines_of(tool_rows.in_text)
    assert ways_of("in text", gold).same(lines).n_fast == len(lines)


QUESTIONS = {
    "a": "Which panel is missing?",
    "b": "user: Which panel is missing? It has four parts.",
    "c": "  Which panel is missing here, and why?\n",
    "d": "Asked twice, by two records",
    "e": "Asked twice, by two records",
    "f": "Too short",
    "g": "Où est le panneau qui manque ici ?",
    "h": "Is this question so long as it?",
    "i": "Is that question as long as it?",
}
ASKED = [
    ("Which panel is missing?", "a"),
    ("<|im_start|>user\nWhich panel is missing?<|im_end|>", "a"),
    ("system: be brief. user: Which panel is missing? It has four parts. assistant:", "b"),
    ("Which panel is missing? Or: Which panel is missing here, and why? Say.", "c"),
    ("Which panel is missing here, and why? Which panel is missing?", "c"),
    ("user: Asked twice, by two records", None),
    ("Too short", "f"),
    ("  Too short\n", "f"),
    ("user: Too short", None),
    ("≈ Où est le panneau qui manque ici ? ≈", "g"),
    ("Is that question as long as it? Is this question so long as it?", "h"),
    ("Is this question so long as it? Is that question as long as it?", "h"),
    ("Which panel is", None),
    ("", None),
]


@pytest.mark.parametrize(("prompt", "id"), ASKED)
def test_the_longest_question_in_a_prompt_is_meant(prompt: str, id: str | None, tmp_path: Path) -> None:
    known = GoldRecords()
    known.update({key: Entry(key, question=question) for key, question in QUESTIONS.items()})
    assert known.id_asking(prompt) == (MISSING if id is None else id)
    path = tmp_path / "gold.jsonl"
    rows = [{"id": key, "question": text, "answer": {"target": 3}} for key, text in QUESTIONS.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    lines = [
        json.dumps({"prompt": prompt, "completion": "Answer 4", "step": 1}, ensure_ascii=ascii_only).encode()
        for ascii_only in (True, False)
    ]
    lines.append(
        json.dumps({"prompt": [{"role": "User", "content": prompt}], "completion": "4", "step": 1}).encode()
    )
    lines.append(
        json.dumps(
            {
                "prompt": [{"role": "user", "content": [{"type": "text", "text": prompt}]}],
                "completion": "4",
                "step": 1,
            }
        ).encode()
    )
    assert {row["id"] for row in ways_of("joined", str(path)).same(lines).rows} == {id}
