"""Real lines of all dialects, as they are and mutated: the fast path writes the bytes that the ordinary way writes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tool_rows
from both_ways import Scored, Ways
from corpora import b1_names, rel_records
from engine_runs import write_dump
from mutated_corpus import JOBS, main, run_chunk, ways_of
from seeds import SEED, fresh, rounds
from strict.cases import CASES
from strict.corpus import samples

from benchmarks.workloads_dumps import DUMPS, typographic
from relfast.engine.columns.gold_records import GoldRecords
from relfast.engine.job import Job
from relfast.formats import Entry
from relfast.formats.paths import MISSING
from relfast.tasks import AllOptions

# mutated lines


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few real lines to begin with."""
    monkeypatch.setattr("mutated_corpus.EACH", 8)


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("number", range(len(JOBS)), ids=JOBS)
def test_mutated_lines_give_the_same_rows(number: int, gold: str, small: None) -> None:
    for more in range(rounds(4)):
        assert run_chunk(number + more * len(JOBS), seed=f"{SEED} mutated", gold=gold).differences == []


def test_a_line_that_differs_is_named(
    small: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    score = Ways.score

    def broken(ways: Ways, lines: list[bytes], *, fast: bool) -> Scored:
        found = score(ways, lines, fast=fast)
        return found._replace(written=found.written.replace(b'"ok"', b'"OK"')) if fast else found

    monkeypatch.setattr("mutated_corpus.CHUNK", 20)
    said = []
    for each in (score, broken, broken):
        monkeypatch.setattr(Ways, "score", each)
        assert main(["20", "--seed", "a"]) == (each is broken)
        said.append(capsys.readouterr().out)
    assert f"20 lines of {len(JOBS)} kinds of runs" in said[0]
    assert "0 differences" in said[0]
    assert "chunk 0 (plain): b'" in said[1]
    assert '"status":"OK"' in said[1]
    assert said[1].rpartition("\nseed")[0] == said[2].rpartition("\nseed")[0], "a seed is a corpus"


def test_failures_beyond_all_room(gold: str) -> None:
    record = {"id": "a", "task": "REL-A1", "answer": {"target": 3}}
    error = {"type": "T" * 900, "message": "\x01" * 700}
    said: list[list[Any]] = [[None, [{"role": "user"}]] * 6_000, [None] * 9_000]
    rows = [{**record, "response": responses, "error": error} for responses in said]
    ways_of("plain", gold).same([json.dumps(row).encode() for row in rows])


# rows as tools write them: the kernel reads them all


TASKS = DUMPS[r"native, 15 % with \uXXXX, 20 % REL-B1"]
BY_PROMPT = {tool_rows.vllm, tool_rows.trl, tool_rows.vertex}
OURS = [DUMPS[name].row for name in ("native", "answer as JSON text", "chat messages", "--data join")]
ROWS = (*tool_rows.ALL, tool_rows.openai, tool_rows.lm_eval, tool_rows.verl, *OURS)
JOINED = {*tool_rows.BATCHES, tool_rows.openai, OURS[-1], *BY_PROMPT}
"""Rows that have no gold of their own."""
LEFT = {tool_rows.listed_id, tool_rows.lm_eval, tool_rows.lmms_eval, tool_rows.matharena}
"""Rows that are decoded as JSON: whose id is no text or number, whose gold has not been met, or that hold chats."""


def lines_of(row: Any, n: int = 40) -> list[bytes]:
    """Lines of some kind, of all text tasks."""
    return [
        json.dumps(
            row(record, [texts[0], typographic(texts[0])[:900]], number), ensure_ascii=number % 2 == 0
        ).encode()
        for number, (record, texts) in enumerate(TASKS._responses(n, 5))
    ]


@pytest.mark.parametrize("kind", ["plain", "details", "joined", "tools, strict, joined, details"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_both_ways_write_the_same(row: Any, kind: str, gold: str) -> None:
    lines = lines_of(row)
    found = ways_of(kind, gold).same(lines)
    if row not in LEFT and (row in JOINED) == ("data" in JOBS[kind]) and "strict" not in kind:
        # which record is meant where several ask the same is unknown
        asked = Counter(record["question"].strip() for record in rel_records("REL-B1"))
        several = [asked[record["question"].strip()] > 1 for record, _ in TASKS._responses(len(lines), 5)]
        assert found.n_fast == len(lines) - (row in BY_PROMPT) * sum(several), "the ordinary way took some"
        assert found.written.count(b'"status":"ok"') > len(lines) // 2


def test_gold_in_a_text_is_read(gold: str) -> None:
    for row, kinds in {
        tool_rows.in_text: ("in text", "deep in text"),
        tool_rows.rollout_in_text: ("plain", "in text, asked"),
    }.items():
        lines = [line for line in lines_of(row) if b"REL-B1" not in line]
        for kind in kinds:
            ways = ways_of(kind, gold)
            found = ways.same(lines)
            assert (found.n_fast, found.n_exact) == (len(lines), 0)
            assert found.written.count(b'"status":"ok"') == len(lines)
            met = len(ways.fast_path._known.golds)
            ways.same(
                [line.replace(b"Problem ", b"No. ").replace(b'"split": ', b'"split": 1') for line in lines]
            )
            assert len(ways.fast_path._known.golds) == met, "a line of a known shape was decoded"


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


@pytest.mark.parametrize("n_others", [0, 40])
@pytest.mark.parametrize(("prompt", "id"), ASKED)
def test_the_longest_question_in_a_prompt_is_meant(
    prompt: str, id: str | None, n_others: int, tmp_path: Path
) -> None:
    known = GoldRecords()
    others = {f"x{n}": f"{chr(65 + n)}: so many questions begin otherwise" for n in range(n_others)}
    for line, (key, question) in enumerate({**others, **QUESTIONS}.items(), 1):
        known.add(Entry(key, question=question), line)
    assert known.id_asking(prompt) == (MISSING if id is None else id)
    rows = [{"id": key, "question": text, "answer": {"target": 3}} for key, text in QUESTIONS.items()]
    path = write_dump(tmp_path / "gold.jsonl", rows)
    parts = [{"type": "text", "text": prompt}]
    lines = [
        json.dumps({"prompt": asked, "completion": "Answer 4", "step": 1}, ensure_ascii=ascii_only).encode()
        for asked in (prompt, [{"role": "User", "content": prompt}], [{"role": "user", "content": parts}])
        for ascii_only in (True, False)
    ]
    assert {row["id"] for row in ways_of("joined", str(path)).same(lines).rows} == {id}


# what answers under `strict` are tried on, honest and not


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "strict", "strict with details", "reasoning", "marks"])
@pytest.mark.parametrize("table", [table for table in CASES if table != "realign"])
def test_what_strict_is_tried_on_gives_the_same_rows(table: str, kind: str) -> None:
    found = samples(table, CASES[table](), fresh(77), 4)
    lines = [{**sample.case.record, "response": sample.response} for sample in found]
    ways_of(kind, "").same([*lines, *lines[::3]], size=500)


@pytest.mark.slow
@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("field", ["question", "input", "\\u0071uestion", "x"])
def test_gold_is_what_the_question_calls_it(tmp_path: Path, field: str, details: bool) -> None:
    """Published gold has places in the list of names that the question shows; a row's own question counts."""
    records = [record for record in rel_records("REL-B1") if record["answer"]["taxa"]][:40]
    known = write_dump(tmp_path / "gold.jsonl", records)
    job = Job(options=AllOptions(policy="strict"), details=details, data=[str(known)])
    lines = []
    for n, record in enumerate(records):
        for taxa in (b1_names(record), record["answer"]["taxa"]):
            row: dict[str, Any] = {
                "id": record["id"],
                "response": "Yes. " + ", ".join(f"taxon_{taxon}" for taxon in taxa),
            }
            if n % 3:
                row["FIELD"] = (record["question"], "Is there homoplasy?")[n % 2]
            if n % 5 == 0:
                row["answer"] = record["answer"]
            lines.append(json.dumps(row).replace("FIELD", field).encode())
    assert {row["correct"] for row in Ways.of_job(job).same(lines).rows} == {True, False}
