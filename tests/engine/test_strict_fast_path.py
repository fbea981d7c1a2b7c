"""Rows of REL-B1 and REL-C1 under ``strict``: the kernel's are those of the ordinary way, and nearly all."""

from __future__ import annotations

import json
import random
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from both_ways import Ways
from corpora import DATA, b1_names, rel_records, solutions
from seeds import fresh

from relfast.engine.job import Job
from relfast.tasks.options import AllOptions

_FORMS = {
    "list": "15, 49", "and": "15 and 49", "forms": "taxon_15, taxon_49", "Taxa": "Taxon 15, Taxon 49", "semi": "15; 49",
    "hash": "#15 and #49", "padded": "taxon_015, taxon_049", "scored": "15 (0.93), 49 (0.92)", "colon": "15: 0.93, 49: 0.92",
    "percent": "15 (93%), 49 (92%)", "lines": "15\n49", "bullets": "- 15\n- 49", "fbullets": "- taxon_15\n- taxon_49",
    "sbullets": "- taxon_15 (0.93)\n- taxon_49 (0.9)", "cbullets": "- 15: 5 blocks\n- 49: 5 blocks", "enum": "1. taxon_15\n2. taxon_49",
    "table": "| Taxon | Score |\n|---|---|\n| taxon_15 | 0.93 |\n| taxon_49 | 0.92 |", "numtable": "| # | Taxon |\n|--|--|\n| 1 | 15 |\n| 2 | 49 |",
    "json": "[15, 49]", "jsons": '["15", "49"]', "jnames": '["taxon_15", "taxon_49"]', "n": "2", "a": "15", "b": "49", "from": "14",
    "to": "17", "x": "3", "y": "9", "all": "1, 2, 3, 15, 49", "most": "1-40", "half": "1-25", "other": "26-50", "min": "1", "max": "50",
    "allbullets": "- 1\n- 2", "shown": "50", "label": "Yes", "lower": "no", "upper": "NO", "other_label": "No",
}  # fmt: skip
_SNIPPETS = ["\n", "\n\n", " ", ". ", "?", " not ", " if ", "Wait, ", "yes", "No", "15", " and 3", "**", "<", ">", "|", "- ", "–", "’", "é", "“", "…", "\\boxed{", "}", "(0.9)", "{", "true", "answer: "]  # fmt: skip


@cache
def _texts(name: str, group: str) -> tuple[str, ...]:
    """The texts of a file of ``tests/data/strict`` with some taxa and labels in the places of its forms."""
    found = []
    for block in tomllib.loads((DATA / "strict" / name).read_text("utf-8"))[group]:
        for text in block["texts"]:
            for form, written in _FORMS.items():
                text = text.replace(f"«{form}»", written)
            found.append(text)
    return tuple(found)


def _job(details: bool) -> Job:
    return Job(options=AllOptions(policy="strict"), details=details)


def _answer(task: str, rng: random.Random) -> dict[str, Any]:
    if task == "REL-C1":
        return {"label": rng.choice(("Yes", "No"))}
    if rng.random() < 0.2:
        return {"label": "no", "taxa": []}
    taxa: list[Any] = rng.choice(
        ([15, 49], ["15", "49"], ["taxon_015", 49], [15, 49, 3], [14, 15, 16, 17], ["x", 15], [15, 15])
    )
    return {"label": rng.choice(("yes", "Yes")), "taxa": taxa}


def _mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(_SNIPPETS) + text[at + rng.randrange(3) :]
    return text


def _lines(responses: list[tuple[str, str]], rng: random.Random) -> list[bytes]:
    return [
        json.dumps(
            {"id": n, "task": task, "answer": _answer(task, rng), "response": text}, ensure_ascii=n % 2 == 0
        ).encode()
        for n, (task, text) in enumerate(responses)
    ]


def _corpus(group: str, rng: random.Random) -> list[tuple[str, str]]:
    prose = [row["llm_solution"] for row in solutions()]
    found = []
    for task, name in (("REL-B1", "rel_b1.toml"), ("REL-C1", "rel_c1.toml")):
        for text in _texts(name, group):
            found.append((task, text))
            found.append((task, rng.choice(prose)[:2_000] + "\n\n" + text))
            found.append((task, _mutated(text, rng)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("group", ["honest", "attack"])
def test_rows_are_those_of_the_ordinary_way(group: str, details: bool) -> None:
    rng = fresh(2 * (group == "honest") + details)
    lines = _lines(_corpus(group, rng), rng)
    Ways.of_job(_job(details)).same(lines, segment_lines=500)


@pytest.mark.slow
@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("field", ["question", "input", "\\u0071uestion", "x"])
def test_gold_is_what_the_question_calls_it(tmp_path: Path, field: str, details: bool) -> None:
    """Published gold has places in the list of names that the question shows; a row's own question counts."""
    records = [record for record in rel_records("REL-B1") if record["answer"]["taxa"]][:40]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    job = Job(options=AllOptions(policy="strict"), details=details, data=[str(tmp_path / "gold.jsonl")])
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
