"""Gold files in which an id stands more than once."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mutated_corpus import ways_of

import relfast
from relfast.cli.main import main
from relfast.engine.rows import read_gold

A = {"id": "a", "task": "REL-A1", "answer": {"target": 3}}
B = {"id": "b", "task": "REL-A1", "answer": {"target": 1}}
OTHER = {**A, "answer": {"target": 0}}


def gold_files(folder: Path, *files: Sequence[Any]) -> tuple[str, ...]:
    paths = []
    for name, records in zip("xyz", files, strict=False):
        path = folder / f"{name}.jsonl"
        path.write_text("".join("\n" if record is None else json.dumps(record) + "\n" for record in records))
        paths.append(str(path))
    return tuple(paths)


@pytest.mark.parametrize(
    "same",
    [
        A,
        {**A, "question": "?"},
        {**A, "task": "rel-a1"},
        {**A, "task": None},
        {**A, "answer": json.dumps(A["answer"])},
        {"id": "b", "task": "REL-A1", "answer": {"target": 3}},
    ],
)
def test_records_that_say_the_same_are_no_news(same: dict[str, Any], tmp_path: Path) -> None:
    assert read_gold(gold_files(tmp_path, [A], [same, same])).repeated is None


def test_the_first_two_places_are_named(tmp_path: Path) -> None:
    paths = gold_files(tmp_path, [None, B, A, A], [], [B, {**OTHER}, None, {**B, "task": "REL-A2"}, A, B])
    gold = read_gold(paths)
    assert gold.repeated == (2, "a", ((0, 3), (2, 2)))
    assert gold.repeated.describe(paths) == (
        "2 ids have gold records with different tasks or answers, of which the last counts: the first is 'a',"
        f" at {paths[0]}:3 and {paths[2]}:2"
    )
    assert gold["a"].answer == A["answer"]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_notes_it(workers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (gold,) = gold_files(tmp_path, [A, B, OTHER])
    dump = tmp_path / "dump.jsonl"
    dump.write_text('{"id": "a", "response": "Answer 1"}\n')
    summary = relfast.score_file(dump, data=gold, workers=workers)
    (note,) = summary.notes
    assert note.startswith("1 id has gold records with different tasks or answers")
    assert note.endswith(f"'a', at {gold}:1 and {gold}:3")
    assert summary.tasks["REL-A1"].rewards == [1.0, 1.0]
    with pytest.raises(SystemExit, match="0"):
        main(["score", str(dump), "--data", gold, "--overwrite", "--workers", str(workers)])
    assert "".join(capsys.readouterr().err.split()).count("".join(f"note: {note}".split())) == 1


def test_a_scorer_warns(tmp_path: Path) -> None:
    with pytest.warns(
        UserWarning, match=r"^relfast: 1 id has gold records .* 'a', at .*:1 and .*:2$"
    ) as seen:
        relfast.Scorer(data=gold_files(tmp_path, [A, OTHER])).close()
    assert [each.filename for each in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relfast.Scorer(data=gold_files(tmp_path, [A, A])).close()


@pytest.mark.parametrize(
    ("answer", "correct"),
    [
        ("Answer 1", True),
        ("", True),
        ("[3]", True),
        ('{"target": 3', True),
        (json.dumps({"target": 0}), False),
        ({"target": 0}, False),
        ([3], None),
    ],
)
def test_an_answer_that_is_no_gold_is_none(answer: Any, correct: bool | None, tmp_path: Path) -> None:
    """Tools write there what they took out of the response."""
    (gold,) = gold_files(tmp_path, [A])
    row = {"id": "a", "answer": answer, "response": "Answer 4"}
    (score,) = relfast.score([row], data=gold, workers=0)
    assert score.correct is correct
    if isinstance(answer, str) and correct:
        (score,) = relfast.score([{**row, "id": "b"}], data=gold, workers=0)
        assert score.error == {"type": "MissingGold", "message": "no gold record with id 'b' in --data"}
        (score,) = relfast.score([row], workers=0)
        assert score.error is not None
        assert score.error["message"].startswith("field 'answer' must be an object, got ")


def test_both_ways_take_gold_from_the_same_place(tmp_path: Path) -> None:
    without = {"id": "n", "answer": {"target": 3}}
    (gold,) = gold_files(
        tmp_path, [A, without, {"id": "t", "task": "REL-A1", "answer": "Answer 4"}, {"id": "q"}]
    )
    lines = [
        json.dumps({"id": id, "answer": answer, "response": response, **more}).encode()
        for id in ("a", "n", "t", "q", "?", 7)
        for answer in ("Answer 4", "", "4", "null", '{"target": 2}', ' {"target": 2}', "{", "\u00e9", 4, [1])
        for response in ("Answer 4", ["Answer 4", "Answer 1"], None)
        for more in ({}, {"task": "REL-A1"}, {"task": "REL-C1"}, {"error": "x"}, {"custom_id": "a"})
    ]
    for kind in ("joined", "strict, joined", "joined with details", "failed, of one task", "mapped samples"):
        ways_of(kind, gold).same(lines)
