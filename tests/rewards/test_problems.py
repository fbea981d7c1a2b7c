"""Problems for environments: from files in any dialect, and made one by one without those before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contract_records import gold

import relfast
from relfast.errors import UsageError
from relfast.rewards.problems import BLOCK, SEEDS, from_file, generated, problem_of


def test_any_problem_without_those_before_it() -> None:
    late = generated("rel-c1", 2 * BLOCK + 3, seed=1)
    both = [generated("REL-C1", at, seed=1) for at in range(2 * BLOCK + 4)]
    assert late == both[-1]
    assert len({problem.question for problem in both}) == len(both)
    assert len({problem.id for problem in both}) == len(both)
    assert both[:3] != [generated("REL-C1", at, seed=2)._replace(id=both[at].id) for at in range(3)]


@pytest.mark.parametrize("task", ["REL-B1", "REL-C1"])
def test_yes_and_no_take_turns(task: str) -> None:
    labels = [generated(task, at).answer["label"].lower() for at in range(BLOCK)]
    assert labels.count("yes") == BLOCK // 2


def test_parameters_are_the_generators() -> None:
    small, large = (generated("SeqBench", 0, rows=6, cols=6, L=length, B=0) for length in (8, 16))
    assert small != large
    assert small.question in small.prompt
    with pytest.raises((UsageError, TypeError)):
        generated("REL-C2", 0, no_such_parameter=1)
    with pytest.raises(UsageError, match="no published generator"):
        generated("ReAlign", 0)
    with pytest.raises(UsageError, match="at must be"):
        generated("REL-C1", SEEDS)


def test_records_of_a_file_with_their_gold(tmp_path: Path) -> None:
    pairs = [gold(task)[0] for task in ("REL-A1", "REL-B1", "REL-C2", "REL-C3", "SeqBench", "ReAlign")]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(json.dumps(record) for record, _ in pairs) + "\n\n", encoding="utf-8")
    for problem, (record, response) in zip(from_file(path), pairs, strict=True):
        assert problem.task == record["task"]
        batch = relfast.score_batch(
            problem.task, [problem.answer], [response], questions=[problem.question], workers=0
        )
        assert batch.correct[0] == 1.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": {"label": "Yes"}}, "'question' is missing"),
        ({"question": "q", "answer": {}}, "its task cannot be told"),
        ({"question": "q", "task": "REL-C1"}, "'answer' is missing"),
        ({"question": "q", "task": "GSM8K", "answer": {"x": 1}}, "unknown task 'GSM8K'"),
    ],
)
def test_what_cannot_be_asked(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        problem_of(row)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        list(from_file(path))
