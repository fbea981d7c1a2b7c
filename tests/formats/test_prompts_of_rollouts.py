"""verl's dumps do not say which rollouts share a prompt: they are grouped by input and gold."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

import relfast
from relfast.formats import read_row
from relfast.formats.paths import MISSING

N_PROMPTS = 12
ROLLOUTS = 4


def dump(n_prompts: int = N_PROMPTS, **fields: Any) -> list[dict[str, Any]]:
    """A step of ``trainer.rollout_data_dir``: prompts repeated, rollouts of one side by side."""
    rows = []
    for n in range(n_prompts):
        for k in range(ROLLOUTS):
            rows.append(
                {
                    "input": f"system\nSolve it.\nuser\nWhich panel, {n}?\nassistant\n",
                    "output": f"Answer {n % 8 + 1 if n % 2 else (n + k) % 8 + 1}",
                    "gts": json.dumps({"target": n % 8}),
                    "score": 0.0,
                    "step": 3,
                    "acc": 0.0,
                    **{name: make() for name, make in fields.items()},
                }
            )
    return rows


def score(rows: list[dict[str, Any]], tmp_path: Path, **options: Any) -> relfast.Summary:
    path = tmp_path / "3.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return relfast.score_file(path, workers=0, overwrite=True, **options)


PER_ROLLOUT = [
    {},
    {"uid": lambda: str(uuid.uuid4())},
    {"request_id": lambda: str(uuid.uuid4())},
    {"id": lambda: str(uuid.uuid4())},
]


@pytest.mark.parametrize("fields", PER_ROLLOUT, ids=["none", "uid", "request_id", "id"])
def test_rollouts_of_one_input_are_samples_of_one_prompt(fields: dict[str, Any], tmp_path: Path) -> None:
    summary = score(dump(**fields), tmp_path)
    task = summary.tasks["REL-A1"].to_dict()
    # the same as one record a prompt with a list of responses
    rows = dump()
    prompts = [
        {"id": n, "answer": {"target": n % 8}, "response": [row["output"] for row in rows[4 * n : 4 * n + 4]]}
        for n in range(N_PROMPTS)
    ]
    expected = score(prompts, tmp_path).tasks["REL-A1"].to_dict()
    assert task == expected
    assert (task["prompts"], task["samples_per_prompt"]) == (N_PROMPTS, {"min": 4, "max": 4})
    assert list(task["pass@k"]) == ["1", "2", "4"]
    assert task["maj@k"]["4"] > 0
    # rollouts of a prompt agree with each other here, so that independent ones would say more
    apart = [{**row, "id": n} for n, row in enumerate(rows)]
    independent = score(apart, tmp_path, map={"id": "id"}).tasks["REL-A1"].to_dict()
    assert task["correct_se"] > 1.5 * independent["correct_se"]


def test_one_note_for_all_prompts(tmp_path: Path) -> None:
    assert score(dump(), tmp_path).notes == [
        f"{N_PROMPTS} ids occur on more than one line; such lines are samples of one prompt"
    ]


def test_the_id_is_a_digest_that_lasts(tmp_path: Path) -> None:
    """It stands in outputs that are compared across runs and versions."""
    row = {"input": "Which?", "output": "Answer 4", "gts": '{"target": 3}'}
    assert read_row(row, "auto").id == "prompt-38c73b7c6f40e770"
    others = [
        {**row, "output": "Answer 1", "step": 9, "uid": "u", "id": "i"},
        {**row, "input": "Which one?"},
        {**row, "gts": '{"target": 4}'},
        {**row, "gts": {"target": 3}},
        {**row, "input": "\ud800", "gts": 2**70},
    ]
    ids = [read_row(other, "auto").id for other in others]
    assert ids[0] == "prompt-38c73b7c6f40e770"
    assert len({*ids}) == len(ids)
    assert all(re.fullmatch(r"prompt-[0-9a-f]{16}", each) for each in ids)


def test_an_id_that_is_mapped_counts(tmp_path: Path) -> None:
    rows = [{**row, "id": f"p{n // (2 * ROLLOUTS)}"} for n, row in enumerate(dump())]
    task = score(rows, tmp_path, map={"id": "id"}).tasks["REL-A1"].to_dict()
    assert (task["prompts"], task["samples_per_prompt"]["max"]) == (N_PROMPTS // 2, 2 * ROLLOUTS)


def test_gold_from_elsewhere_is_joined_on_the_rows_own_id(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "q1", "task": "REL-A1", "answer": {"target": 3}}\n', "utf-8")
    row = {"id": "q1", "input": "Which?", "output": "Answer 4", "gts": None}
    (found,) = relfast.score([row], workers=0, data=gold)
    assert (found.id, found.correct) == ("q1", True)
    assert read_row({"output": "Answer 4", "gts": None}, "auto").id is MISSING
