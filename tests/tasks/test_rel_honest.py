"""Honest answers in documented forms score full marks under ``strict``, whatever stands before them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import honest
import pytest
from corpora import REL_FILES, rel_records, solutions

import relfast

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "rel_records.jsonl").read_text("utf-8").splitlines()]


def full_marks(record: dict[str, Any], response: str, **options: Any) -> bool:
    """Whether the response is right and its reward at its best, whatever metric makes the reward."""
    result = relfast.evaluate_response(
        record["question"], record["answer"], response, record["task"], policy="strict", **options
    )
    best = result.get("overlap_metric", result.get("f1", 1.0))
    return bool(result["correct"]) and best in (1.0, -1)


@pytest.mark.parametrize("record", RECORDS, ids=[record["id"] for record in RECORDS])
def test_sample(record: dict[str, Any]) -> None:
    rng = random.Random(record["id"])
    for _ in range(60 if "C3" not in record["task"] else 4):
        response = honest.response(record, rng)
        assert full_marks(record, response), response


@pytest.mark.slow
def test_published_records(capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(2)
    tried, lost = 0, []
    for task in REL_FILES:
        every = 4 if task == "REL-C3" else 1  # up to 92 molecules each
        for record in rel_records(task)[::every]:
            response = honest.response(record, rng)
            tried += 1
            if not full_marks(record, response):
                lost.append(f"{record['id']} {record['answer']!r:.80}: {response[-200:]!r}")
    with capsys.disabled():
        print(f"\nhonest answers under strict: {tried - len(lost)} of {tried} score full marks", end="")
    assert tried >= 2_000
    assert not lost, "\n".join(lost)


def test_after_real_reasoning(capsys: pytest.CaptureFixture[str]) -> None:
    """Before the answer stands a real model's solution of another problem, with an answer of its own."""
    texts = [row["llm_solution"] for row in solutions()]
    rng = random.Random(3)
    tried, lost = 0, []
    for task in ("REL-A1", "REL-A2", "REL-A3", "REL-A4", "REL-B1", "REL-C1", "REL-C2"):
        for record in rel_records(task)[:250]:
            solution = rng.choice(texts)
            response = solution[: rng.choice([300, 1_000, None])] + "\n\n" + honest.answer(record, rng)
            tried += 1
            if not full_marks(record, response):
                lost.append(response[-160:])
    with capsys.disabled():
        print(f"\nafter real reasoning: {tried - len(lost)} of {tried} score full marks", end="")
    assert not lost, "\n".join(map(repr, lost))


def test_tautomers_joined() -> None:
    for record in RECORDS:
        if record["task"] in ("REL-C2", "REL-C3"):
            response = honest.answer(record, random.Random(4))
            assert full_marks(record, response, tautomers="joined")


TRANSCRIPTS: list[tuple[str, dict[str, Any], str]] = [
    (
        "REL-A1",
        {"target": 2},
        "Each panel repeats the same matrix.\n\nAnswer 1: random values.\nAnswer 2: random values.\nAnswer 3: the same matrix.\n\n"
        "So the missing panel is **Answer 3**.",
    ),
    (
        "REL-A2",
        {"target": 2},
        "Panel 0: [25.0, 23.0, 21.0]\nPanel 1: [19.0, 17.0, 15.0]\nPanel 7: [1.0, 0.0, 0.0]\n\nEvery panel is 6 less, so the next one is "
        "[0.0, 0.0, 0.0]. That is Answer 3.",
    ),
    ("REL-A2", {"target": 2}, "Answer 1 has decimals, Answer 2 has decimals, so the answer is 3."),
    ("REL-A3", {"target": 2}, "I first thought the answer was 2. Checking row 2 again: the answer is 3."),
    (
        "REL-A4",
        {"target": 2},
        "Rows: 327 + 57 = 384, 12 + 379 = 391.\n\n**Final Answer**\n\n$$\\boxed{3}$$\n\nAll other options break the rule.",
    ),
    (
        "REL-A4",
        {"target": 2},
        "Answer: 3\n\nExplanation: in every row the third number is the sum of the first 2.",
    ),
    (
        "REL-A1",
        {"target": 2},
        "Comparing options 1 to 8, only option 3 has integers. Therefore, the missing panel is 3.",
    ),
    (
        "REL-B1",
        {"label": "yes", "taxa": [3, 15, 20]},
        "1. Columns 10-14: taxa 3 and 15 share ACGTA.\n2. Columns 55-59: taxa 3, 15 and 20 share TTGCA.\n3. Is this expected from the tree? "
        "No, they are far apart.\n\n**Answer:** Yes\n**Taxa involved:** 3, 15, 20",
    ),
    (
        "REL-B1",
        {"label": "yes", "taxa": [3, 15]},
        "Among the 50 taxa I see two that share motifs in 5 blocks of 5 columns.\n\nYes. The taxa involved are taxon_3 and taxon_15.",
    ),
    (
        "REL-B1",
        {"label": "no", "taxa": []},
        "I compared all 50 taxa over 300 columns; shared motifs follow the tree.\n\nNo",
    ),
    (
        "REL-B1",
        {"label": "no", "taxa": []},
        "Is there structured convergence? Yes or no?\n\nThe alignment of 300 columns shows none.\n\n**No**",
    ),
    ("REL-C1", {"label": "No"}, "1. C5H8Br2\n2. C5H8Br2\n3. C5H10Br2 is different.\n\n<No>"),
    (
        "REL-C2",
        {"smiles": "O=CC1CCC(=O)N1"},
        "All of them contain a pyroglutamic acid: O=C1CCC(C=O)N1 with 8 heavy atoms.\n\n<smiles>O=C1CCC(C=O)N1</smiles>\n\nThis is connected.",
    ),
    (
        "REL-C2",
        {"smiles": "O=CC1CCC(=O)N1"},
        "First idea: <smiles>C1CCNC1</smiles>\nIt is in all molecules, but a larger one is too.\nFinal answer:\n<smiles>O=C1CCC(C=O)N1</smiles>",
    ),
    (
        "REL-C3",
        {"missing_smiles": ["CCO", "COC"]},
        "The formula is C2H6O. Two isomers are left:\n1. <smiles>OCC</smiles>\n2. <smiles>COC</smiles>",
    ),
]


@pytest.mark.parametrize(("task", "answer", "response"), TRANSCRIPTS)
def test_transcript(task: str, answer: dict[str, Any], response: str) -> None:
    assert full_marks({"id": "", "question": "", "task": task, "answer": answer}, response)
